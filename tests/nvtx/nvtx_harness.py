"""nvtx_harness.py - what the tests of NVTX share: the headers there are, compiling with them, and traced runs.

`./dev test nvtx` installs NVIDIA's headers and the package nvtx from PyPI into build/nvtx.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import collections
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "faults"))

from harness import (  # noqa: F401 (tests import them from here)
    COMMAND,
    Skip,
    environment,
    expect,
    expect_equal,
    main,
    read_folder,
    run,
    untraced,
)

SOURCE = os.environ["DFT_TEST_SOURCE"]
CORE = os.environ["DFT_TEST_LIBRARY"]
LIBRARY = os.path.join(os.path.dirname(CORE), "libdftracer_nvtx.so")
PROGRAMS = os.path.join(SOURCE, "tests/nvtx/programs")
INSTALLED = os.path.join(SOURCE, "build/nvtx")
PYTHON = os.path.join(INSTALLED, "bin/python")


def headers() -> list[str]:
    """The include folders, one for each version."""
    found = sorted(glob.glob(f"{INSTALLED}/lib/python*/site-packages/nvidia/*/include"))
    if not found:
        raise Skip(f"{INSTALLED} is not there; ./dev test nvtx installs it")
    return found


def compile_c(folder: str, source: str, include: str = "", options: tuple = ()) -> str:
    path = os.path.join(folder, os.path.basename(source).removesuffix(".c"))
    words = ["cc", "-O1", "-w", "-D_GNU_SOURCE", f"-I{include or headers()[0]}", os.path.join(PROGRAMS, source)]
    done = run([*words, *options, "-o", path, "-pthread", "-ldl"], untraced())
    expect_equal(done.returncode, 0, done.stderr)
    return path


def traced(folder: str, words: list[str], *options: str, **variables: str) -> object:
    """Runs it by `dftracer run --nvtx`, with the traces in folder/out."""
    words = [COMMAND, "run", "-q", "--nvtx", *options, "--out", os.path.join(folder, "out"), "--", *words]
    done = run(words, untraced() | variables)
    expect_equal((done.returncode, done.stderr), (0, ""), f"{words}: {done.stdout}")
    return done


def traces_of(folder: str, **options: object) -> list:
    return read_folder(os.path.join(folder, "out"), small=True, **options)


def only_trace(folder: str) -> object:
    traces = traces_of(folder)
    expect_equal(len(traces), 1, "traces")
    return traces[0]


def tally(trace: object) -> dict[tuple[str, str], int]:
    """How many events of each category and name."""
    return dict(collections.Counter((event["cat"], event["name"]) for event in trace.user_events()))


def own_args(event: dict) -> dict:
    return {key: value for key, value in event["args"].items() if key not in ("hhash", "p_idx", "level")}
