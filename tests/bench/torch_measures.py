"""torch_measures.py - what tracing costs PyTorch: a training, operations of a compiled graph, entries of its profiler.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from python_measures import SOURCE, environment
from report import Row, difference_row

PYTHON = SOURCE / "build" / "torch" / "bin" / "python"
TRAINING_BAR = 1.02
OPERATION_BAR_US = 2.0
ENTRY_BAR_US = 1.0


def costs(build: Path, folder: Path, rounds: int) -> dict[str, list[float]]:
    script = Path(__file__).with_name("torch") / "torch_costs.py"
    done = subprocess.run(
        [PYTHON, script, str(rounds), folder],
        env=environment(build, True),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    got: dict[str, list[float]] = {}
    for line in done.stdout.splitlines():
        name, value = line.split()
        got.setdefault(name, []).append(float(value))
    return got


def training_times(build: Path, folder: Path, rounds: int) -> dict[bool, list[float]]:
    """Seconds of whole runs of the example, with and without tracing in turn; into files, its I/O recorded too."""
    got: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * rounds):
        enable = number % 2 == 0
        variables = environment(build, enable)
        del variables["DFTRACER_SINK"]
        with tempfile.TemporaryDirectory(dir=folder) as place:
            begin = time.perf_counter()
            subprocess.run(
                [PYTHON, SOURCE / "examples" / "05_torch" / "train.py", place],
                env={**variables, "EPOCHS": "10"},
                stdout=subprocess.DEVNULL,
                check=True,
            )
            got[enable].append(time.perf_counter() - begin)
    return got


def torch_rows(build: Path, folder: Path, rounds: int) -> list[Row]:
    """All rows, or one that says why there are none."""
    if not PYTHON.exists():
        return [Row("torch", "", [], [], "not measured: ./dev test torch installs torch into build/torch")]
    times = training_times(build, folder, max(rounds // 2, 5))
    ratio = statistics.median(times[True]) / statistics.median(times[False])
    result = f"{ratio:.3f} x (min {min(times[True]) / min(times[False]):.3f})"
    got = costs(build, folder, 4 * rounds)
    entry = statistics.median(got["entry"])
    return [
        Row("torch: example 05, annotated, of untraced", "s", times[True], times[False], result,
            f"<= {TRAINING_BAR:g} x", ratio <= TRAINING_BAR),
        difference_row("torch: dynamo, an operation", "us", got["recorded"], got["plain"], OPERATION_BAR_US),
        Row("torch: trace_handler, an entry", "us", got["entry"], [], f"{entry:.2f} us (min {min(got['entry']):.2f})",
            f"<= {ENTRY_BAR_US:g} us", entry <= ENTRY_BAR_US),
    ]
