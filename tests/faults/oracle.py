"""oracle.py - the one question that every fault case ends with, and the counts of its answers.

Acknowledged events are those whose recording call had returned. Each must be read back exactly once, by a reader that
shares no code with the library (trace.py), or be counted as dropped by the library itself. An event that was being
recorded when its thread died may be there or not. The program must not show a difference to its untraced run.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import collections
import json
import subprocess
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trace import Trace


@dataclass
class Tally:
    """What one case has seen. The last five are to be 0."""

    trials: int = 0
    kills: int = 0
    acknowledged: int = 0
    reported: int = 0  # lost for lack of space or memory, and the library says so itself
    lost: int = 0
    doubled: int = 0
    torn: int = 0  # files or lines that the reader rejects, and events that nobody made
    host: int = 0  # differences to the untraced run
    failed: int = 0  # any other expectation
    is_random: bool = False  # another seed tries something else

    def write(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(asdict(self), file)


tally = Tally()  # of the case that runs


class Difference(AssertionError):
    """Counted already."""


def judge(found: dict, acknowledged: dict, in_flight: int, what: str, dropped: int = 0) -> None:
    """Compares numbers read back with acknowledged ones, both by thread: each thread's events are numbered from 1 on.

    found: thread: list of numbers; acknowledged: thread: last number. in_flight: so many more may be there for each
    thread. dropped: so many the library has reported itself.
    """
    lost, strange, doubled = [], [], 0
    for thread in found.keys() | acknowledged.keys():
        numbers, last = found.get(thread, []), acknowledged.get(thread, 0)
        once = set(numbers)
        doubled += len(numbers) - len(once)
        lost += [(thread, n) for n in range(1, last + 1) if n not in once]
        strange += [(thread, n) for n in once if not 1 <= n <= last + in_flight]
    reported = min(dropped, len(lost))
    tally.acknowledged += sum(acknowledged.values())
    tally.reported += reported
    tally.lost += len(lost) - reported
    tally.doubled += doubled
    tally.torn += len(strange)
    if len(lost) > reported or doubled or strange:
        raise Difference(
            f"{what}: of {sum(acknowledged.values())} acknowledged {len(lost) - reported} lost, such as {lost[:5]}, "
            f"{doubled} twice, {len(strange)} never made, such as {strange[:5]}, {reported} reported as dropped"
        )


def numbers_by_slot(traces: list[Trace]) -> dict[int, list[int]]:
    """The events of actor, in the order of the files. A region that was open when its thread died does not count."""
    found = collections.defaultdict(list)
    for trace in traces:
        for event in trace.user_events():
            if "open" not in event["args"] and "slot" in event["args"]:
                found[event["args"]["slot"]].append(event["args"]["n"])
    return found


Completed = subprocess.CompletedProcess


def same_host(traced: Completed, plain: Completed, messages: int, what: str) -> None:
    """Status, stdout and stderr are those of the untraced run. In trouble stderr has lines of ours, none twice."""
    ours = [line for line in traced.stderr.splitlines() if line.startswith("dftracer: ")]
    others = "".join(line for line in traced.stderr.splitlines(True) if not line.startswith("dftracer: "))
    actual = (traced.returncode, traced.stdout, others)
    if actual == (plain.returncode, plain.stdout, plain.stderr) and len(set(ours)) == len(ours) <= messages:
        return
    tally.host += 1
    raise Difference(
        f"{what}: the program shows a difference\n  traced    {actual} {ours}\n  untraced  "
        f"{(plain.returncode, plain.stdout, plain.stderr)}"
    )
