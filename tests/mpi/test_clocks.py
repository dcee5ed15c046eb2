"""test_clocks.py - `merge --align auto` on real jobs: half of the ranks are given another node, whose clock is wrong.

Everything that MPI can do is in these jobs: sub-communicators, persistent and partitioned requests, wildcards,
one-sided calls. The bound must hold all the same, from the first exchange to the last.
SPDX-License-Identifier: MIT
"""

import gzip
import json
import os

from mpi_harness import COMMAND, expect, expect_equal, job, main, read_folder, run, untraced, with_each
from test_calls import EVERY

OFFSET_US, PPM = 3_000_000, 150


def move(path, new, origin):
    """Rewrites a trace: it is of another node, whose clock has drifted since the origin."""

    def shown(ts):
        return ts + OFFSET_US + (ts - origin) * PPM // 10**6

    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    host = json.loads(lines[1])["args"]["value"]
    for number, line in enumerate(lines[1:], 1):
        event = json.loads(line.replace(host, new))
        if event["name"] == "HH":
            event["args"]["name"] = "elsewhere"
        if "ts" in event:
            first = event["ts"]
            event["ts"] = shown(first)
            if "dur" in event:
                event["dur"] = shown(first + event["dur"]) - event["ts"]
        lines[number] = json.dumps(event, separators=(",", ":"))
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def is_inside(event):
    """Between the first and the last exchange."""
    return event.get("cat") == "MPI" and event["name"] not in ("MPI_Init", "MPI_Finalize")


@with_each(globals())
def the_bound_holds_for_every_kind_of_call(folder, mpi):
    program = mpi.compile(os.path.join(folder, "every"), *EVERY)
    traces, counted = os.path.join(folder, "traces"), os.path.join(folder, "counted")
    os.mkdir(counted)
    job(mpi, traces, 4, [program, counted, "plain"], DATA_DIR=counted)
    moved, true = set(), {}
    recorded = read_folder(traces, small=True)
    origin = min(event["ts"] for trace in recorded for event in trace.events if "ts" in event)
    for trace in recorded:
        (rank,) = trace.values("MPI_Init", "rank")
        true |= {(trace.pid, event["id"]): event["ts"] for event in trace.events if is_inside(event)}
        if rank >= 2:
            moved.add(trace.pid)
            move(trace.path, "0123456789abcdef", origin)
    out = os.path.join(folder, "out.json")
    done = run([COMMAND, "merge", traces, "-o", out], untraced())
    with open(out, encoding="utf-8") as file:
        whole = json.load(file)
    facts = whole["otherData"]
    expect_equal((facts["clocks"], "bound_ns elsewhere" in facts), ("auto", True), f"{facts} {done.stderr}")
    expect("the clock of elsewhere was 3.00 s ahead" in done.stderr, done.stderr)
    bound = facts["bound_ns elsewhere"] / 1000
    expect(bound < 20_000, f"bound {bound} us")
    starts = {}
    for event in whole["traceEvents"]:
        if is_inside(event):
            starts.setdefault(event["pid"], []).append(event["ts"])
    for pid, merged in starts.items():
        own = sorted(ts for (owner, _), ts in true.items() if owner == pid)
        expect_equal(len(merged), len(own), f"events of {pid}")
        worst = max(abs(one - two) for one, two in zip(sorted(merged), own))
        expect(worst <= (bound + 2 if pid in moved else 0), f"{pid} is wrong by {worst} us: {facts}")


main(globals())
