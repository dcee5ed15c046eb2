"""command.py - the dftracer command: how soon it answers, and how fast it makes and merges traces.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import time
from typing import TYPE_CHECKING

from report import Row, number

if TYPE_CHECKING:
    from measures import Bench

HELP_BAR_MS = 5.0
GENERATE_BAR = 2.0  # million events a second


def run(words: list[str]) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds, MiB at most."""
    before = time.perf_counter()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"{' '.join(words)} ended with status {child.returncode}")
    return time.perf_counter() - before, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def command(bench: Bench) -> list[Row]:
    program = str(bench.build / "bin" / "dftracer")
    rows = []
    starts: dict[str, list[float]] = {"help": [], "true": []}
    for _ in range(20 if bench.quick else 100):
        starts["help"].append(run([program, "--help"])[0] * 1e3)
        starts["true"].append(run([shutil.which("true") or "true"])[0] * 1e3)
    median = statistics.median(starts["help"])
    result = f"{number(median)} ms (min {number(min(starts['help']))})"
    rows.append(Row("dftracer --help, against true", "ms", starts["help"], starts["true"], result,
                    f"<= {HELP_BAR_MS:g} ms", median <= HELP_BAR_MS))
    events = 2 if bench.quick else 20  # million
    folder = bench.folder / "generated"
    made, merged, most = [], [], 0.0
    for _ in range(2 if bench.quick else 3):
        made.append(events / run([program, "generate", "-n", f"{events}M", "-p", "4", str(folder)])[0])
        wall, _, memory = run([program, "merge", str(folder), "-o", str(bench.folder / "merged.json.gz")])
        merged.append(events / wall)
        most = max(most, memory)
    shutil.rmtree(folder)
    (bench.folder / "merged.json.gz").unlink()
    best = statistics.median(made)
    rows.append(Row(f"generate {events} million events", "M/s", made, [], f"{best:.2f} M events/s",
                    f">= {GENERATE_BAR:g} M/s", best >= GENERATE_BAR))
    rows.append(Row("merge them into .json.gz", "M/s", merged, [],
                    f"{statistics.median(merged):.2f} M events/s, {most:.0f} MiB"))
    return rows
