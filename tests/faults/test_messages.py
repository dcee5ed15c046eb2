"""test_messages.py - what the library and dftracer recover say about a trace is true.
SPDX-License-Identifier: MIT
"""

import errno
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
    table,
    untraced,
)
from inject import ALWAYS, check_ptrace, injector
from page import Page

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


def said_when_failing(folder, number, calls, words):
    """What a process says when these system calls fail, from its mark on."""
    injected = injector(f"{folder}/report", calls, 1, ALWAYS, str(number))
    out = f"{folder}/out{number}"
    done = run([*injected, program("actor"), Page(folder).path, *words.split()], environment(out, ON_FULL="drop"))
    expect_equal(done.returncode, 7, done.stderr)
    return done.stderr


OPENING = {  # why no trace can be opened: the system's error, the calls that fail, the words
    "no memory is there": (errno.ENOMEM, ("mmap", "openat", "mkdir,mkdirat", "fallocate,madvise"), "no memory left"),
    "the system has too many files": (errno.ENFILE, ("openat",), "Too many open files in system"),
    "the process has too many files": (errno.EMFILE, ("openat",), "Too many open files"),
    "nobody may write there": (errno.EACCES, ("openat", "mkdir,mkdirat"), "Permission denied"),
    "the disk is full": (errno.ENOSPC, ("openat", "mkdir,mkdirat", "fallocate,madvise"), "no space left"),
    "the quota is used up": (errno.EDQUOT, ("openat", "mkdir,mkdirat"), "no space left"),
}
GROWING = {  # why the spool cannot grow
    "no memory is there for more": (errno.ENOMEM, "there is no memory"),
    "the system has too many files for more": (errno.ENFILE, "the system has too many open files"),
    "the process has too many files for more": (errno.EMFILE, "no file descriptor is free"),
    "nobody may write more": (errno.EACCES, "permission is denied"),
    "the disk becomes full": (errno.ENOSPC, "the disk is full"),
}


def check_opening(folder, number, calls, words):
    check_ptrace()
    for some in calls:
        said = said_when_failing(folder, number, some, "mark events 100 return 7")
        expect("nothing is recorded" in said and words in said, f"{some}: {said}")
        expect("file operation" not in said or "Cannot allocate" not in said, f"{some}: {said}")


def check_growing(folder, number, words):
    check_ptrace()
    calls = "openat" if number in (errno.ENFILE, errno.EMFILE, errno.EACCES) else "openat,fallocate,madvise"
    said = said_when_failing(folder, number, calls, "events 10 mark events 20000 return 7")
    expect("cannot grow" in said and words in said, said)


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


table(globals(), OPENING, check_opening)
table(globals(), GROWING, check_growing)
main(globals())
