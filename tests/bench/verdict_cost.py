"""verdict_cost.py - what the verdict and its findings add to the CPU of dftracer summary: the instructions of the
functions that only they need, with all that these call, against those of everything else in the same run.

What counts as added: all that the split of the time, the table of epochs and steps, regions over ranks, the verdict
and the findings need, also where others use it as well. When ranks came to collectives, who waited for whom, what was
sent, and what the last one did before is the communication section, with or without a verdict: it has a row of its
own, and is on neither side of the others.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from command import run
from report import Row

if TYPE_CHECKING:
    from measures import Bench

ADDED_BAR = 0.10
MADE_UP = Path(__file__).resolve().parents[1] / "reader"  # where made_up_job.py is

# None of them calls another one.
FUNCTIONS = (
    "account_work",  # what each thread is in, the time of each region, where the loop is: event by event
    "process_frame_add_step",
    "loop_limits_add",  # where a training pauses
    "split_process",  # the time of a process by class, phase, epoch and step
    "rank_region_list_init",
    "judgement_make",  # the verdict and the findings
    "judgement_print_verdict",
    "judgement_print_findings",
    "summary_training",  # the table of epochs and steps
    "region_table",
)
# Within these: when bytes moved, for the table of I/O alone.
NOT_ADDED = ("add_moving", "move_spans")
# Counting and keeping calls; who waited for whom; what the last one did before.
COMMUNICATION = ("comm_rows_add", "collective_list_init", "pursuit_line_add", "pursuits_take")


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
    folder = bench.folder / "judged"
    rows = []
    missing = set(FUNCTIONS + NOT_ADDED)
    for threads, title in (
        (4, "what verdict and findings add to a summary, against the rest of it: instructions"),
        (1, "the same, of processes with one thread"),
    ):
        run([program, "generate", "-n", "200K", "-p", "4", "-t", str(threads), str(folder)])
        costs = costs_of(bench, program, folder)
        missing -= costs.keys()
        rows.append(verdict_row(title, costs))
    make_mpi(folder)
    costs = costs_of(bench, program, folder)
    rows.append(verdict_row("the same, of ranks that compute, send, receive and reduce", costs))
    missing |= set(COMMUNICATION) - costs.keys()
    if missing:
        raise RuntimeError(f"not in the profiles, so their cost is unknown: {', '.join(sorted(missing))}")
    for row in rows:
        row.bar, row.is_reached = f"<= {ADDED_BAR:.0%}", row.candidate[0] / row.baseline[0] <= ADDED_BAR
    communication = sum_of(costs, COMMUNICATION)
    rest = costs["PROGRAM TOTALS"] - communication
    return [*rows, added_row("what the communication section adds to these ranks", communication, rest)]


def costs_of(bench: Bench, program: str, folder: Path) -> dict[str, int]:
    costs = inclusive(bench.folder, [program, "summary", "--jobs", "1", str(folder)])
    shutil.rmtree(folder)
    return costs


def make_mpi(folder: Path) -> None:
    """A job of 4 ranks with 200,000 events: in each turn, every rank computes, and makes 3 calls of MPI."""
    sys.path.insert(0, str(MADE_UP))
    job = importlib.import_module("made_up_job").Job(4)
    for turn in range(12500):
        job.compute_all(lambda rank, turn=turn: 200_000 + (turn * 7919 + rank * 104_729) % 100_000)
        for rank in range(4):
            job.send(rank, (rank + 1) % 4, data=8192)
        for rank in range(4):
            job.receive((rank + 1) % 4, rank, data=8192)
        job.collective("MPI_Allreduce")
    job.save(folder)


def sum_of(costs: dict[str, int], functions: tuple[str, ...]) -> int:
    """A function that a trace does not need has no cost."""
    return sum(costs.get(function, 0) for function in functions)


def verdict_row(title: str, costs: dict[str, int]) -> Row:
    added = sum_of(costs, FUNCTIONS) - sum_of(costs, NOT_ADDED)
    return added_row(title, added, costs["PROGRAM TOTALS"] - added - sum_of(costs, COMMUNICATION))


def added_row(title: str, added: int, rest: int) -> Row:
    return Row(title, "M", [added / 1e6], [rest / 1e6], f"{added / rest:.1%}")
