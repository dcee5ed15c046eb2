"""test_openmp.py - under OpenMP each region is on the thread that ran it, inside the region it was begun in.

SPDX-License-Identifier: MIT
"""

import os
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))

from harness import environment, expect, expect_equal, main, program, read_folder, run

THREADS, ITERATIONS, TASKS = 4, 2000, 200


def record(folder):
    done = run([program("threads")], environment(folder))
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "threads")
    (trace,) = read_folder(folder)
    return trace


def expect_inside(trace, name, around):
    by_id = {event["id"]: event for event in trace.events}
    for event in trace.named(name):
        parent = by_id[event["args"]["p_idx"]]
        expect_equal((parent["name"], parent["tid"]), (around, event["tid"]), f"around {event}")
        expect_equal(event["args"]["level"], parent["args"]["level"] + 1, f"level of {event}")


def case_each_thread_has_one_track(folder):
    trace = record(folder)
    track = {event["args"]["thread"]: event["tid"] for event in trace.named("parallel")}
    expect_equal((sorted(track), len(set(track.values()))), ([0, 1, 2, 3], THREADS), "threads")
    expect_equal(track[0], trace.pid, "the first thread's track")
    for name in ("do", "section", "task"):
        for event in trace.named(name):
            expect_equal(event["tid"], track[event["args"]["thread"]], f"track of {event}")
    names = {event["tid"]: event["args"]["name"] for event in trace.named("thread_name")}
    expect_equal([names[track[n]] for n in (1, 2, 3)], ["OpenMP 1", "named", "OpenMP 3"], "names of threads")


def case_nothing_is_lost_and_everything_nests(folder):
    trace = record(folder)
    for name, count in (("do", ITERATIONS), ("by handle", ITERATIONS), ("section", 2), ("task", TASKS)):
        expect_equal(sorted(trace.values(name, "i")), list(range(1, count + 1)), name)
    expect_inside(trace, "do", "parallel")
    expect_inside(trace, "by handle", "do")
    expect_inside(trace, "section", "parallel")
    expect_inside(trace, "task", "parallel")
    by_id = {event["id"]: event for event in trace.events}
    inside = trace.named("inside")
    expect_equal(Counter(event["args"]["in"] for event in inside), {"section": 2, "task": TASKS}, "inside")
    for event in inside:
        parent = by_id[event["args"]["p_idx"]]
        expect_equal((parent["name"], parent["args"]["i"]), (event["args"]["in"], event["args"]["i"]), "inside")
    expect("num_dropped" not in trace.end["args"], trace.end)


if __name__ == "__main__":
    main(globals())
