"""torch_measures.py - what tracing costs PyTorch: a training, operations of a compiled graph, entries of its profiler.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from pathlib import Path

from python_measures import SOURCE, environment
from report import Row, difference_row, paired_row
from turns import Turn, run_in_turns

PYTHON = SOURCE / "build" / "torch" / "bin" / "python"
FRAMEWORKS = SOURCE / "build" / "frameworks" / "bin" / "python"
KINDS = ("plain", "untouched", "accelerate", "lightning", "transformers")
LONG, SHORT = (64, 600), (256, 8)  # steps of some 5 ms, and hardly any; the numbers of steps and the width of layers
TRAINING_BAR = 1.02
OPERATION_BAR_US = 2.0
ENTRY_BAR_US = 1.0
STEP_BAR_US = 100.0  # 2 % of a step that takes 5 ms
EPOCHS = 10
TRAININGS = 9  # pairs of them: one pair scatters by 2 %


def costs(build: Path, python: Path, script: str, *arguments: object, **changes: str) -> dict[str, list[float]]:
    done = subprocess.run(
        [python, Path(__file__).with_name("torch") / script, *map(str, arguments)],
        env={**environment(build, True), **changes},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    got: dict[str, list[float]] = {}
    for line in done.stdout.splitlines():
        name, value = line.split()
        got.setdefault(name, []).append(float(value))
    return got


def start_training(build: Path, place: str, enable: bool) -> Turn:
    """A whole run of the example; into files, its I/O recorded too."""
    variables = {**environment(build, enable), "EPOCHS": str(EPOCHS)}
    del variables["DFTRACER_SINK"]
    return Turn([str(PYTHON), str(SOURCE / "examples" / "05_torch" / "train.py"), place], variables)


def training_rows(build: Path, folder: Path, rounds: int) -> list[Row]:
    """With and without tracing, taking turns; who begins takes turns, too."""
    wall: dict[bool, list[float]] = {True: [], False: []}
    cpu: dict[bool, list[float]] = {True: [], False: []}
    for number in range(rounds):
        order = (True, False) if number % 2 else (False, True)
        with tempfile.TemporaryDirectory(dir=folder) as one, tempfile.TemporaryDirectory(dir=folder) as two:
            turns = {enable: start_training(build, place, enable) for enable, place in zip(order, (one, two))}
            run_in_turns(list(turns.values()))
        for enable, turn in turns.items():
            wall[enable].append(turn.wall)
            cpu[enable].append(turn.cpu)
    name = "torch: example 05, annotated, of untraced"
    return [
        paired_row(name, "s", wall[True], wall[False], TRAINING_BAR),
        paired_row(f"{name}, CPU time", "s", cpu[True], cpu[False]),
    ]


def step_rows(build: Path, folder: Path, kind: str, rounds: int) -> list[Row]:
    """The CPU time of trainings of one kind: of untraced, and what a step costs, which scatters less."""
    got = []
    for number, size in enumerate((LONG, SHORT)):
        place = folder / f"{kind}-{number}"
        place.mkdir()
        got.append(costs(build, FRAMEWORKS, "training_costs.py", kind, *size, rounds, place, DFTRACER_SINK="jsonl"))
    long, short = got
    return [
        paired_row(f"torch: {kind}, CPU time of untraced", "us", long["traced"], long["untraced"], TRAINING_BAR),
        difference_row(f"torch: {kind}, CPU of a step", "us", short["traced"], short["untraced"], STEP_BAR_US),
    ]


def framework_rows(build: Path, folder: Path, rounds: int) -> list[Row]:
    if not FRAMEWORKS.exists():
        return [Row("frameworks", "", [], [], "not measured: ./dev test frameworks installs them")]
    return [row for kind in KINDS for row in step_rows(build, folder, kind, rounds)]


def torch_rows(build: Path, folder: Path, rounds: int) -> list[Row]:
    """All rows, or one that says why there are none."""
    if not PYTHON.exists():
        return [Row("torch", "", [], [], "not measured: ./dev test torch installs torch into build/torch")]
    got = costs(build, PYTHON, "torch_costs.py", 4 * rounds, folder)
    entry = statistics.median(got["entry"])
    return [
        *training_rows(build, folder, max(rounds // 2, TRAININGS)),
        *framework_rows(build, folder, 2 * rounds),
        difference_row("torch: dynamo, an operation", "us", got["recorded"], got["plain"], OPERATION_BAR_US),
        Row("torch: trace_handler, an entry", "us", got["entry"], [], f"{entry:.2f} us (min {min(got['entry']):.2f})",
            f"<= {ENTRY_BAR_US:g} us", entry <= ENTRY_BAR_US),
    ]
