"""mpi_harness.py - what the tests of MPI share: the implementations there are, compiling with them, and running jobs.

`./dev test mpi` installs MPICH 5 and Open MPI 5 from PyPI into build/mpi; Open MPI 4 and MPICH 4 are Debian's. A case
of an implementation that is not there is skipped.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import collections
import functools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "faults"))

from harness import (  # noqa: F401 (tests import them from here)
    COMMAND,
    Skip,
    environment,
    expect,
    expect_equal,
    main,
    no_core_file,
    read_folder,
    recover,
    untraced,
    waiting,
)

PRELOAD = os.environ["DFT_TEST_PRELOAD"]
SOURCE = os.environ["DFT_TEST_SOURCE"]
PROGRAMS = os.path.join(SOURCE, "tests/mpi/programs")
INSTALLED = os.path.join(SOURCE, "build/mpi")
SECONDS_MOST = 150


@dataclass
class Implementation:
    compiler: str
    launcher: list[str]
    python: str = ""  # with mpi4py
    fortran: str = ""

    def compile(self, path: str, *sources: str, options: tuple = ()) -> str:
        sources = [source if "/" in source else os.path.join(PROGRAMS, source) for source in sources]
        run([self.compiler, "-O1", "-w", *options, "-o", path, *sources], untraced())
        return path

    def command(self, ranks: int, words: list[str], env: dict[str, str]) -> list[str]:
        """What is set for the ranks is not set for the launcher."""
        own = [f"{key}={value}" for key, value in env.items() if os.environ.get(key) != value]
        return [*self.launcher, "-n", str(ranks), "env", *own, *words]


def open_mpi(folder: str, **also: str) -> Implementation:
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return Implementation(f"{folder}mpicc", [f"{folder}mpirun", *root, "--oversubscribe"], **also)


IMPLEMENTATIONS = {
    "Open MPI 4": open_mpi("", fortran="mpifort"),
    "Open MPI 5": open_mpi(f"{INSTALLED}/openmpi/bin/", python=f"{INSTALLED}/openmpi/bin/python"),
    "MPICH 4": Implementation("mpicc.mpich", ["mpiexec.mpich"], fortran="mpifort.mpich"),
    "MPICH": Implementation(f"{INSTALLED}/mpich/bin/mpicc", [f"{INSTALLED}/mpich/bin/mpiexec"],
                            f"{INSTALLED}/mpich/bin/python"),
    "the MPI ABI": Implementation(f"{INSTALLED}/mpich/bin/mpicc_abi", [f"{INSTALLED}/mpich/bin/mpiexec"]),
}


def implementation(name: str) -> Implementation:
    found = IMPLEMENTATIONS[name]
    if not shutil.which(found.compiler) or not shutil.which(found.launcher[0]):
        raise Skip(f"{found.compiler} is not there; ./dev test mpi installs it")
    return found


def with_each(names: dict[str, object], chosen: object = tuple(IMPLEMENTATIONS)) -> object:
    """Makes a case of each implementation from body(folder, implementation)."""

    def make(body: object) -> object:
        for name in chosen:
            case = functools.partial(lambda folder, name: body(folder, implementation(name)), name=name)
            names[f"case_{body.__name__}_with_{name.replace(' ', '_')}"] = case
        return body

    return make


def run(words: list[str], env: dict[str, str], expected: int | None = 0) -> subprocess.CompletedProcess:
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=SECONDS_MOST, check=False,
                          preexec_fn=no_core_file)
    if expected is not None and done.returncode != expected:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}")
    return done


def job(mpi: Implementation, folder: str, ranks: int, words: list[str], expected: int | None = 0,
        **settings: object) -> subprocess.CompletedProcess:
    """Runs a traced job. Its traces go to folder; of files only those in it are recorded."""
    os.makedirs(folder, exist_ok=True)
    settings.setdefault("DATA_DIR", folder)
    env = environment(folder, **settings) | {"LD_PRELOAD": PRELOAD}
    return run(mpi.command(ranks, words, env), untraced(), expected)


def calls(trace: object, *categories: str) -> list[dict]:
    return [event for event in trace.events if event["cat"] in (categories or ("MPI", "MPIIO"))]


def by_rank(folder: str, **options: object) -> dict[int, list[dict]]:
    """The MPI calls of each rank, in the order of their ends. The rank is the one that MPI_Init noted."""
    found = {}
    for trace in read_folder(folder, small=True, **options):
        events = calls(trace)
        ranks = [event["args"]["rank"] for event in events if event["name"] in ("MPI_Init", "MPI_Init_thread")]
        if events:
            expect_equal(len(ranks), 1, "events of MPI_Init in one process")
            expect(ranks[0] not in found, f"rank {ranks[0]} twice")
            found[ranks[0]] = events
    expect_equal(sorted(found), list(range(max(found, default=0) + 1)), "ranks with calls")
    return found


def sums(events: list[dict]) -> dict[str, tuple[int, int]]:
    """How often each function was called, and its bytes."""
    found = collections.defaultdict(lambda: [0, 0])
    for event in events:
        found[event["name"]][0] += 1
        found[event["name"]][1] += event["args"].get("bytes", 0)
    return {name: tuple(row) for name, row in found.items()}
