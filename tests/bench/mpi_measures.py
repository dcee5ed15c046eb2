"""mpi_measures.py - what recording MPI costs: calls of one process with itself, and programs that have no MPI.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from interception import Ways
from report import Row, difference_row, number

ALLREDUCE_BAR_NS = 150.0
REQUESTS_BAR_NS = 400.0
START_BAR_INSTRUCTIONS = 20_000  # 20 us of a core that does one in a nanosecond
SOURCES = Path(__file__).resolve().parent / "mpi"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mpi_rows(bench) -> list[Row]:
    ways = Ways(bench.build, bench.folder)
    rows = [start_row(ways, bench.folder)] if shutil.which("valgrind") else []
    if not shutil.which("mpicc"):
        print("mpi: no mpicc, so no calls are measured", flush=True)
        return rows
    program, wrapper = str(bench.folder / "calls"), str(bench.folder / "wrapper.so")
    options = ["mpicc", "-O2", "-D_GNU_SOURCE", f"-I{SOURCES.parent}"]
    subprocess.run([*options, str(SOURCES / "calls.c"), "-o", program], check=True)
    subprocess.run([*options, "-shared", "-fPIC", str(SOURCES / "wrapper.c"), "-o", wrapper], check=True)
    ways.all = {
        "wrapped": ways.all["untraced"] | AS_ROOT | {"LD_PRELOAD": wrapper},
        "recorded": ways.all["filtered"] | AS_ROOT | {"DFTRACER_SINK": "null"},
    }
    generations = 2 if bench.quick else 6
    for mode, title, bar in (
        ("allreduce", "MPI_Allreduce of 8 bytes with itself", ALLREDUCE_BAR_NS),
        ("requests", "Isend, Irecv and Waitall with itself", REQUESTS_BAR_NS),
    ):
        got = ways.turns(["wrapped", "recorded"], generations, program, mode)
        rows.append(difference_row(title, "ns", got["recorded", "call"], got["wrapped", "call"], bar))
        if shutil.which("valgrind"):
            rows.append(instructions_row(ways, bench.folder, program, mode, title))
    return rows


def callgrind(folder: Path, environment: dict[str, str], *command: str, within: str = "", lines: int = 0) -> int:
    """The instructions of a program, or of one function and what that calls."""
    out = folder / "callgrind.out"
    options = [f"--callgrind-out-file={out}"] + ([f"--toggle-collect={within}"] if within else [])
    # The preload library is for the program, not for valgrind: the program starts by way of env.
    own = [f"{key}={value}" for key, value in environment.items() if os.environ.get(key) != value]
    words = ["valgrind", "--tool=callgrind", "--trace-children=yes", *options, "env", *own, *command]
    done = subprocess.run(words, input="\n" * lines, capture_output=True, text=True, check=True)
    return max(int(found) for found in re.findall(r"Collected : (\d+)", done.stderr))


def instructions_row(ways: Ways, folder: Path, program: str, mode: str, title: str) -> Row:
    """Of the calling thread: what six bursts have more than two, for each call of the 2000 in a burst."""
    each = []
    for way in ("recorded", "wrapped"):
        many, few = (callgrind(folder, ways.all[way], program, mode, within=mode, lines=lines) for lines in (6, 2))
        each.append((many - few) / (4 * 2000))
    return Row(f"{title}: instructions", "", [each[0]], [each[1]], f"{number(each[0] - each[1])} more")


def start_row(ways: Ways, folder: Path) -> Row:
    count = callgrind(folder, ways.all["everything"], "/bin/true", within="bind_before_main")
    bar = START_BAR_INSTRUCTIONS
    return Row("start of /bin/true: instructions of the search for MPI", "", [count], [], f"{count}", f"<= {bar}",
               count <= bar)
