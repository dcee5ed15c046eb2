"""verdict_cost.py - what the verdict and its findings add to the CPU of dftracer summary: the instructions of the
functions that only they need, with all that these call, against those of everything else in the same run.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from command import run
from report import Row

if TYPE_CHECKING:
    from pathlib import Path

    from measures import Bench

ADDED_BAR = 0.10

# None of them calls another one.
FUNCTIONS = (
    "work_line_add",  # what each thread is in, event by event
    "region_stats_add",  # the time of each region, by process
    "process_frame_add_region",  # where the loop and the evaluation are
    "process_frame_add_step",
    "arrival_list_add",  # who comes last to a collective
    "split_process",  # the time of a process by class, phase, epoch and step
    "rank_region_list_init",
    "judgement_make",  # the verdict and the findings
    "judgement_print_verdict",
    "judgement_print_findings",
    "summary_training",  # the table of epochs and steps
    "region_table",
)


def inclusive(folder: Path, words: list[str]) -> dict[str, int]:
    """The instructions of a run by function, with what it calls; of all, as `PROGRAM TOTALS`."""
    profile = folder / "callgrind.out"
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *words], check=True,
                   capture_output=True)
    listed = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", str(profile)],
                            check=True, capture_output=True, text=True).stdout
    costs: dict[str, int] = {}
    for cost, function in re.findall(r"^ *([\d,]+) \([\d. ]+%\) +(?:\S*:)?(PROGRAM TOTALS|\w+)", listed, re.M):
        # A function has a line for each file that parts of it come from, and one for all of it, which is the largest.
        costs[function] = max(costs.get(function, 0), int(cost.replace(",", "")))
    return costs


def verdict_cost(bench: Bench, program: str) -> list[Row]:
    if not shutil.which("valgrind"):
        print("summary: no valgrind, so the cost of the verdict is not measured", flush=True)
        return []
    title = "what verdict and findings add to a summary, against the rest of it: instructions"
    row = added_row(bench, program, title, 4)
    row.bar, row.is_reached = f"<= {ADDED_BAR:.0%}", row.candidate[0] / row.baseline[0] <= ADDED_BAR
    # Without threads that load, most events are regions of short steps, and all of them count in the split: no bar yet.
    return [row, added_row(bench, program, "the same, of processes with one thread", 1)]


def added_row(bench: Bench, program: str, title: str, threads: int) -> Row:
    folder = bench.folder / "judged"
    run([program, "generate", "-n", "200K", "-p", "4", "-t", str(threads), str(folder)])
    costs = inclusive(bench.folder, [program, "summary", "--jobs", "1", str(folder)])
    shutil.rmtree(folder)
    added = sum(costs[function] for function in FUNCTIONS) / 1e6
    rest = costs["PROGRAM TOTALS"] / 1e6 - added
    return Row(title, "M", [added], [rest], f"{added / rest:.1%}")
