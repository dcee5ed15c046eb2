"""test_oracle.py - the oracle itself: it sees what is lost, doubled, torn or different, and counts it.
SPDX-License-Identifier: MIT
"""

import gzip
import os
import subprocess

import oracle
from harness import Page, ask, environment, expect, expect_equal, main, program, run


def counts(question):
    """What the question adds to the table: lost, doubled, torn, host."""
    own, oracle.tally = oracle.tally, oracle.Tally()
    try:
        question()
    except oracle.Difference:
        expect(oracle.tally != oracle.Tally(), "counted")
    finally:
        seen, oracle.tally = oracle.tally, own
    return seen.lost, seen.doubled, seen.torn, seen.host


def case_numbers(folder):
    def judge(found, done, in_flight=1, dropped=0):
        return counts(lambda: oracle.judge({1: found}, {1: done}, in_flight, "", dropped))

    expect_equal(judge([1, 2, 3], 3), (0, 0, 0, 0), "all")
    expect_equal(judge([3, 1, 2, 4], 3), (0, 0, 0, 0), "one in flight")
    expect_equal(judge([1, 3], 3), (1, 0, 0, 0), "lost")
    expect_equal(judge([1, 3], 3, dropped=1), (0, 0, 0, 0), "reported")
    expect_equal(judge([], 3, dropped=1), (2, 0, 0, 0), "lost, one reported")
    expect_equal(judge([1, 2, 2, 3], 3), (0, 1, 0, 0), "doubled")
    expect_equal(judge([1, 2, 3, 5], 3), (0, 0, 1, 0), "never made")
    expect_equal(judge([1, 2, 3, 4], 3, in_flight=0), (0, 0, 1, 0), "none was in flight")
    expect_equal(counts(lambda: oracle.judge({2: [1]}, {1: 0}, 0, "")), (0, 0, 1, 0), "of another thread")


def case_programs(folder):
    def same(traced, messages=0):
        done = [subprocess.CompletedProcess([], *row) for row in (traced, (7, "out", "err\n"))]
        return counts(lambda: oracle.same_host(*done, messages, ""))[3]

    expect_equal(same((7, "out", "err\n")), 0, "the same")
    expect_equal(same((8, "out", "err\n")), 1, "status")
    expect_equal(same((7, "outs", "err\n")), 1, "stdout")
    expect_equal(same((7, "out", "err\nmore\n")), 1, "stderr")
    expect_equal(same((7, "out", "err\ndftracer: full\n")), 1, "a message")
    expect_equal(same((7, "out", "err\ndftracer: full\n"), 1), 0, "a message in trouble")
    expect_equal(same((7, "out", "err\ndftracer: full\ndftracer: full\n"), 2), 1, "the same message twice")


def change(folder, edit):
    """A real trace, with its lines edited, before the oracle."""
    page, out = Page(folder), os.path.join(folder, "out")
    run([program("actor"), page.path, "events", "100", "return", "0"], environment(out))
    (name,) = (name for name in os.listdir(out) if name.endswith(".gz"))
    with gzip.open(f"{out}/{name}") as file:
        lines = file.read().decode().splitlines(True)
    edit(lines)
    with gzip.open(f"{out}/{name}", "wt") as file:
        file.write("".join(lines))
    try:
        return counts(lambda: ask(out, page, "changed"))
    except Exception as error:
        return type(error).__name__


def remove_one(lines):
    at = next(i for i, line in enumerate(lines) if '"instant"' in line)
    del lines[at]
    count = next(i for i, line in enumerate(lines) if '"num_events"' in line)
    lines[count] = lines[count].replace('"num_events":100', '"num_events":99')


def case_a_line_is_missing(folder):
    expect(change(folder, remove_one) in ((1, 0, 0, 0), "Broken"), "lost")


def case_a_line_is_cut(folder):
    expect_equal(change(folder, lambda lines: lines.__setitem__(20, lines[20][:30] + "\n")), "Broken", "torn")


main(globals())
