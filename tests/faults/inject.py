"""inject.py - the N-th system call fails, or kills, for N = 1, 2, 3 ... until a run meets none. By injector.c.

The full suite takes every N. The quick one counts the calls of one run, and takes a few of them at random.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import random
from typing import Callable

from harness import COMMAND, IS_FULL, Skip, new_folder, program, run, seeded

ALWAYS = 10**9  # as the last call: from the first one on
BEYOND = 3  # so many runs that meet nothing end the search: threads make calls in another order each time


def injector(report: str, calls: str, first: int, last: int, action: str, start: str = "mark") -> tuple[str, ...]:
    return (program("injector"), report, start, calls, str(first), str(last), action)


def read_report(path: str) -> tuple[int, int, str]:
    """How many calls were counted, how many were hit, the name of the first."""
    with open(path) as file:
        counted, hit, *name = file.read().split()
    return int(counted), int(hit), " ".join(name)


def check_ptrace() -> None:
    report = os.path.join(new_folder(), "report")
    done = run([*injector(report, "all", 0, 0, "kill", "start"), "true"], None)
    if done.returncode or read_report(report)[0] == 0:
        raise Skip("processes may not be traced here (ptrace)")
    os.unlink(report)
    os.rmdir(os.path.dirname(report))


def calls_of_loader(folder: str, calls: str) -> int:
    """How many of these calls the command makes before it does anything: when they fail there is no program."""
    report = os.path.join(folder, "loader")
    run([*injector(report, calls, 0, 0, "kill", "start"), COMMAND, "--version"], None)
    return read_report(report)[0]


def each_call(folder: str, attempt: Callable[[str, int], str], sample: int, skip: int = 0) -> int:
    """attempt(folder, n) makes a trial whose n-th call is hit, with an empty folder, and returns its report's path.
    n = 0 hits none. The calls up to skip are left out. Returns how many were hit."""
    check_ptrace()
    rng = seeded()

    def once(n: int) -> tuple[int, int, str]:
        inner = os.path.join(folder, str(n))
        os.mkdir(inner)
        return read_report(attempt(inner, n))

    counted, _, _ = once(0)
    numbers = list(range(skip + 1, (10 * counted + 100 if IS_FULL else counted) + 1))
    if not IS_FULL:
        numbers = sorted(rng.sample(numbers, min(sample, len(numbers))))
    hits, misses = 0, 0
    for n in numbers:
        _, hit, _ = once(n)
        hits += hit > 0
        misses = 0 if hit else misses + 1
        if misses == BEYOND and IS_FULL:
            break
    print(f"{counted} calls, {hits} hit")
    return hits


def random_steps(rng: random.Random) -> int:
    """Machine instructions: most often few, sometimes many."""
    return rng.randrange(rng.choice((10, 100, 1000, 10000)))
