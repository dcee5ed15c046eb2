"""test_parity.py - one scenario in C, Fortran and Python gives one trace, but for times, ids and the process.

SPDX-License-Identifier: MIT
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))

from harness import Skip, environment, expect, expect_equal, main, program, read_folder, run

HIDDEN = ("hhash", "p_idx")
SOURCE = os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "parity")
PYTHONPATH = os.environ.get("DFT_TEST_PYTHONPATH", "")


def record(folder, name, command):
    out = os.path.join(folder, name)
    env = environment(out)
    if PYTHONPATH:
        env["PYTHONPATH"] = PYTHONPATH
    done = run(command, env)
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), f"{command}")
    (trace,) = read_folder(out, overlap=True)
    return trace


def normal(trace):
    """Each event without what is other in every run; in the order of ids on each thread, the main one first."""
    paths = {-1: ""}
    by_id = {event["id"]: event for event in trace.events}

    def path_of(event_id):
        if event_id not in paths:
            event = by_id[event_id]
            paths[event_id] = path_of(event["args"]["p_idx"]) + "/" + event["name"]
        return paths[event_id]

    events = []
    for event in sorted(trace.user_events(), key=lambda one: (one["tid"] != trace.pid, one["id"])):
        args = {key: value for key, value in event["args"].items() if key not in HIDDEN}
        where = path_of(event["args"]["p_idx"]) if "p_idx" in event["args"] else None
        times = (event["ts"], event["dur"]) if event["name"] == "kernel" else None
        thread = "main" if event["tid"] == trace.pid else "another"
        events.append((thread, where, event["name"], event["cat"], event["ph"], args, times))
    facts = {event["args"]["name"]: event["args"]["value"] for event in trace.named("CM")}
    return [*events, ("facts", facts), ("count", trace.end["args"]["num_events"])]


def expect_same(left, right, what):
    left, right = normal(left), normal(right)
    for one, other in zip(left, right):
        expect_equal(other, one, what)
    expect_equal(len(right), len(left), f"{what}: number of events")


def in_c(folder, *arguments):
    return record(folder, "c", [program("in_c"), *arguments])


def in_fortran(folder, *arguments):
    if not os.path.exists(program("in_fortran")):
        raise Skip("built without a Fortran compiler")
    return record(folder, "fortran", [program("in_fortran"), *arguments])


def case_the_scenario_is_all_there(folder):
    trace = in_c(folder, "more")
    names = ("main", "step", "odd", "worker", "kernel", "converged", "paused")
    counts = {name: len(trace.named(name)) for name in names}
    expect_equal(counts, {"main": 1, "step": 1003, "odd": 502, "worker": 1, "kernel": 1, "converged": 1, "paused": 0},
                 "events")
    expect(normal(trace) != normal(in_c(os.path.join(folder, "again"))), "normalised to nothing")


def case_fortran_as_c(folder):
    expect_same(in_c(folder, "more"), in_fortran(folder, "more"), "Fortran, C")


def case_python_as_c(folder):
    if not PYTHONPATH:
        raise Skip("built without Python's headers")
    python = record(folder, "python", [os.environ["DFT_TEST_PYTHON"], os.path.join(SOURCE, "in_python.py")])
    expect_same(in_c(folder), python, "Python, C")


if __name__ == "__main__":
    main(globals())
