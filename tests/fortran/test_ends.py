"""test_ends.py - Fortran programs that end inside regions: every event is kept, and the end is the untraced one.

SPDX-License-Identifier: MIT
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))

from harness import environment, expect_equal, main, program, read_folder, recover, run, untraced

EVENTS = 5000


def end_of(manner, env):
    """Status and output; the addresses in a backtrace are other ones each time."""
    done = run([program("ender"), manner], env)
    return done.returncode, done.stdout, re.sub("0x[0-9a-f]+", "ADDRESS", done.stderr)


def run_same(folder, manner):
    plain = end_of(manner, untraced())
    expect_equal(end_of(manner, environment(folder)), plain, manner)
    return plain[0]


def check(folder, manner, status):
    expect_equal(run_same(folder, manner), status, f"the status of {manner}")
    if status < 0:
        recover(folder)
    (trace,) = read_folder(folder)
    expect_equal(sorted(trace.values("step", "step")), list(range(1, EVENTS + 1)), "steps")
    (around,) = trace.named("around")
    expect_equal((around["args"]["open"], around["args"]["state"]), (1, "not ended"), "the region that was open")
    return trace


def case_end_of_the_program(folder):
    check(folder, "return", 0)


def case_stop(folder):
    check(folder, "stop", 0)


def case_stop_with_a_code(folder):
    check(folder, "stop code", 3)


def case_error_stop(folder):
    check(folder, "error stop", 1)


def case_error_stop_with_a_text(folder):
    check(folder, "error stop text", 1)


def case_runtime_error(folder):
    check(folder, "runtime error", 2)


def case_killed(folder):
    check(folder, "killed", -9)


def case_early_return_ends_what_the_procedure_began(folder):
    trace = check(folder, "early return", 0)
    heres = trace.named("here")
    expect_equal([event["args"]["when"] for event in heres], [1, 2], "here")
    expect_equal(trace.values("loop", "count"), [1, 2], "the loops that were left")
    expect_equal(trace.values("loop.iter", "step"), [1, 1, 2], "their steps")
    ended = [event for name in ("here", "loop", "loop.iter") for event in trace.named(name)]
    expect_equal([event for event in ended if "open" in event["args"]], [], "not ended")


def case_ends_without_a_begin_are_ignored_and_reported_at_level_warn(folder):
    expect_equal(run_same(folder, "unmatched"), 0, "the status, and nothing on stderr")
    (trace,) = read_folder(folder)
    expect_equal(len(trace.named("around")), 1, "the region that had begun")
    done = run([program("ender"), "unmatched"], {**environment(folder), "DFTRACER_LOG_LEVEL": "WARN"})
    (line,) = done.stderr.splitlines()
    expect_equal(line.startswith("dftracer: ignored 2 "), True, line)


def case_the_end_names_what_does_not_fit(folder):
    """The fourth end ends the region around; three have no begin, and two regions no end."""
    expect_equal(run_same(folder, "unbalanced"), 0, "the status")
    (trace,) = read_folder(folder)
    end = trace.end["args"]
    expect_equal((end["unmatched_ends"], end["unmatched_sites"]), (3, "around (end)"), "ends")
    expect_equal((end["open_regions"], end["open_sites"]), (2, "first (open); second (open)"), "begins")


if __name__ == "__main__":
    main(globals())
