"""summary.py - from .pfw.gz to the answer: events a CPU second of dftracer summary, what a second core gains, memory
with many events and with many files, and the time to merge saved states.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import shutil
import statistics
from typing import TYPE_CHECKING

from command import run
from report import Row
from verdict_cost import verdict_cost

if TYPE_CHECKING:
    from measures import Bench

SPEED_BAR = 2.5  # million events a CPU second
CORES_BAR = 1.7
MEMORY_BAR_MIB = 256.0
MERGE_BAR_S = 2.0  # for 1,000 states


def speed(events: float, seconds: list[float]) -> list[float]:
    return [events / second for second in seconds]


def summary(bench: Bench) -> list[Row]:
    program = str(bench.build / "bin" / "dftracer")
    inflate = str(bench.build / "bench" / "inflate")
    folder = bench.folder / "summarised"
    events = 2 if bench.quick else 20  # million
    run([program, "generate", "-n", f"{events}M", "-p", "4", str(folder)])
    files = [str(path) for path in sorted(folder.iterdir())]
    seconds: dict[str, list[float]] = {"inflate": [], "cpu": [], "one": [], "two": []}
    for _ in range(3 if bench.quick else 7):  # in turn
        seconds["inflate"].append(run([inflate, *files])[1])
        wall, cpu, _ = run([program, "summary", "--jobs", "1", str(folder)])
        seconds["one"].append(wall)
        seconds["cpu"].append(cpu)
        if (os.cpu_count() or 1) > 1:
            seconds["two"].append(run([program, "summary", "--jobs", "2", str(folder)])[0])
    shutil.rmtree(folder)
    each, bare = speed(events, seconds["cpu"]), speed(events, seconds["inflate"])
    median = statistics.median(each)
    rows = [Row(f"summary of {events} million events, CPU time; inflating alone", "M/s", each, bare,
                f"{median:.2f} M events a CPU second (best {max(each):.2f})", f">= {SPEED_BAR:g} M/s",
                median >= SPEED_BAR)]
    if seconds["two"]:
        gain = statistics.median(seconds["one"]) / statistics.median(seconds["two"])
        rows.append(Row("two cores against one", "M/s", speed(events, seconds["two"]),
                        speed(events, seconds["one"]),
                        f"{gain:.2f} x (min {min(seconds['one']) / min(seconds['two']):.2f})", f">= {CORES_BAR:g} x",
                        gain >= CORES_BAR))
    million = 5 if bench.quick else 100
    files = 1000 if bench.quick else 10000
    rows.append(memory(bench, program, f"{million} million events", million, 8))
    rows.append(memory(bench, program, f"{files} files", files / 1000, files))
    return [*rows, merging(bench, program), *verdict_cost(bench, program)]


def memory(bench: Bench, program: str, what: str, events: float, processes: int) -> Row:
    """`events`: millions."""
    folder = bench.folder / "large"
    run([program, "generate", "-n", f"{round(events * 1000)}K", "-p", str(processes), str(folder)])
    wall, _, most = run([program, "summary", str(folder)])
    shutil.rmtree(folder)
    return Row(f"memory of a summary of {what}", "MiB", [most], [],
               f"{most:.0f} MiB, {events / wall:.2f} M events/s", f"<= {MEMORY_BAR_MIB:g} MiB", most <= MEMORY_BAR_MIB)


def merging(bench: Bench, program: str) -> Row:
    """States of one trace each. Quick: fewer, and the bar is that of as many."""
    count = 100 if bench.quick else 1000
    folder = bench.folder / "states"
    run([program, "generate", "-n", f"{2 * count}K", "-p", str(count), str(folder)])
    states = [str(path.with_suffix(".dfs")) for path in sorted(folder.iterdir())]
    for trace, state in zip(sorted(folder.iterdir()), states):
        run([program, "summary", "--partial", "-o", state, str(trace)])
    seconds = [run([program, "summary", *states])[0] for _ in range(3)]
    size = sum(os.path.getsize(state) for state in states) / count / 1000
    shutil.rmtree(folder)
    bar = MERGE_BAR_S * count / 1000
    return Row(f"merging {count} states of {size:.1f} KB", "s", seconds, [], f"{statistics.median(seconds):.2f} s",
               f"<= {bar:g} s", statistics.median(seconds) <= bar)
