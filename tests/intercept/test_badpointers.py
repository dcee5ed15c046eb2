"""test_badpointers.py - a call that gets a bad pointer does what it does in a program that is not traced.
SPDX-License-Identifier: MIT
"""

import os
import sys

from io_harness import SOURCE, events_by_path, expect, expect_equal, main, read_folder, run, traced, untraced

PROGRAM = f"{SOURCE}/tests/intercept/programs/badpointers.py"


def outcomes(folder, env):
    os.mkdir(folder)
    done = run([sys.executable, PROGRAM, folder, f"{SOURCE}/c/intercept/calls.inc"], env)
    expect_equal(done.returncode, 0, done.stderr)
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def case_a_bad_pointer_changes_nothing(folder):
    plain = outcomes(os.path.join(folder, "plain"), untraced())
    expect(len(plain) > 600, f"{len(plain)} calls")
    env = traced(os.path.join(folder, "traces"), DATA_DIR="all", INC_METADATA=1)
    there = outcomes(os.path.join(folder, "traced"), env)
    wrong = {name: (outcome, there.get(name)) for name, outcome in plain.items() if there.get(name) != outcome}
    expect_equal(wrong, {}, f"calls whose outcome changed ({len(wrong)}): untraced, traced")


WITHOUT_A_PATH = """if True:
    import ctypes, os, sys
    fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
    ctypes.CDLL(None).utimensat(fd, None, None, 0)
"""


def case_without_a_path_the_descriptor_counts(folder):
    """Of utimensat(fd, NULL), which some C libraries refuse, the event names the file behind the descriptor."""
    path = os.path.join(folder, "file")
    done = run([sys.executable, "-c", WITHOUT_A_PATH, path], traced(folder, DATA_DIR=folder))
    expect_equal((done.returncode, done.stderr), (0, ""), "status and stderr")
    (trace,) = read_folder(folder)
    found = [event["name"] for event in events_by_path(trace)[path]]
    expect_equal(found[1:], ["utimensat"], f"events of the file: {found}")


if __name__ == "__main__":
    main(globals())
