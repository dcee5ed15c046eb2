"""test_messages.py - what the library and dftracer recover say about a trace is true.
SPDX-License-Identifier: MIT
"""

import os
import shutil
import subprocess

from harness import (
    COMMAND,
    SECONDS_MOST,
    environment,
    expect,
    expect_equal,
    expect_once_each,
    main,
    program,
    read_folder,
    recover,
    run,
    untraced,
)

COUNT = 2000
STATUS = 42  # of steady


def trouble_half_way(out, trouble):
    """What the process says when something happens to its folder."""
    with subprocess.Popen([program("steady"), str(COUNT), "half"], env=environment(out), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        expect_equal(process.stdout.readline(), "half\n", "the process has recorded half of its events")
        trouble()
        _, said = process.communicate("\n", timeout=SECONDS_MOST)
    expect_equal(process.returncode, STATUS, said)
    return said


def case_the_folder_was_deleted(folder):
    out = f"{folder}/out"
    said = trouble_half_way(out, lambda: shutil.rmtree(out))
    expect("was removed" in said and "are kept" not in said, said)


def case_the_folder_was_renamed(folder):
    out, moved = f"{folder}/out", f"{folder}/moved"
    said = trouble_half_way(out, lambda: os.rename(out, moved))
    expect("renamed" in said and f"dftracer recover {out}" not in said, said)
    recover(moved)
    (trace,) = read_folder(moved)
    numbers = trace.values("step", "n")
    expect_once_each(numbers, len(numbers), trace.path)
    expect_equal(len(numbers) + trace.end["args"].get("num_dropped", 0), COUNT, "recorded, or counted as dropped")


def case_recover_is_asked_for_something_else(folder):
    path = f"{folder}/notes.txt"
    with open(path, "w") as file:
        file.write("this is no trace\n")
    done = run([COMMAND, "recover", path], untraced())
    expect_equal((done.returncode, done.stdout), (1, ""), done.stderr)
    expect(path in done.stderr and "not a trace" in done.stderr, done.stderr)


def case_an_ordinary_pipeline_is_no_alarm(folder):
    done = run([COMMAND, "run", "--io", "-o", f"{folder}/out", "sh", "-c", "echo | cat"], untraced())
    expect_equal(done.returncode, 0, done.stderr)
    expect("recorded" in done.stderr and "recovered" not in done.stderr, done.stderr)


main(globals())
