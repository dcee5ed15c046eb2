"""summary.py - from .pfw.gz to the answer: events a second of dftracer summary on one core and on two, and its memory.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import shutil
import statistics
from typing import TYPE_CHECKING

from command import run
from report import Row

if TYPE_CHECKING:
    from measures import Bench

SPEED_BAR = 2.0  # million events a second and core
CORES_BAR = 1.7
MEMORY_BAR_MIB = 256.0


def speed(events: float, seconds: list[float]) -> list[float]:
    return [events / second for second in seconds]


def summary(bench: Bench) -> list[Row]:
    program = str(bench.build / "bin" / "dftracer")
    inflate = str(bench.build / "bench" / "inflate")
    folder = bench.folder / "summarised"
    events = 2 if bench.quick else 20  # million
    run([program, "generate", "-n", f"{events}M", "-p", "4", str(folder)])
    files = [str(path) for path in sorted(folder.iterdir())]
    seconds: dict[str, list[float]] = {"inflate": [], "one": [], "two": []}
    for _ in range(3 if bench.quick else 7):  # in turn
        seconds["inflate"].append(run([inflate, *files])[0])
        seconds["one"].append(run([program, "summary", "--jobs", "1", str(folder)])[0])
        if (os.cpu_count() or 1) > 1:
            seconds["two"].append(run([program, "summary", "--jobs", "2", str(folder)])[0])
    shutil.rmtree(folder)
    one, bare = speed(events, seconds["one"]), speed(events, seconds["inflate"])
    best = statistics.median(one)
    rows = [Row(f"summary of {events} million events, one core; inflating alone", "M/s", one, bare,
                f"{best:.2f} M events/s (best {max(one):.2f})", f">= {SPEED_BAR:g} M/s", best >= SPEED_BAR)]
    if seconds["two"]:
        gain = statistics.median(seconds["one"]) / statistics.median(seconds["two"])
        rows.append(Row("two cores against one", "M/s", speed(events, seconds["two"]), one,
                        f"{gain:.2f} x (min {min(seconds['one']) / min(seconds['two']):.2f})", f">= {CORES_BAR:g} x",
                        gain >= CORES_BAR))
    return [*rows, memory(bench, program)]


def memory(bench: Bench, program: str) -> Row:
    events = 5 if bench.quick else 100
    folder = bench.folder / "large"
    run([program, "generate", "-n", f"{events}M", "-p", "8", str(folder)])
    wall, _, most = run([program, "summary", str(folder)])
    shutil.rmtree(folder)
    return Row(f"memory of a summary of {events} million events", "MiB", [most], [],
               f"{most:.0f} MiB, {events / wall:.2f} M events/s", f"<= {MEMORY_BAR_MIB:g} MiB", most <= MEMORY_BAR_MIB)
