"""test_limits.py - a program at its file size limit gets SIGXFSZ for its own writes only.
SPDX-License-Identifier: MIT
"""

import os
import subprocess

from harness import (
    environment,
    expect,
    expect_equal,
    main,
    no_core_file,
    program,
    read_folder,
    recover,
    run,
    untraced,
    waiting,
)

WAYS = ("default", "ignore", "handle", "hold")


def check_limiter(folder, moment, **settings):
    for way in WAYS:
        plain = run([program("limiter"), way, moment], untraced())
        traced = run([program("limiter"), way, moment], environment(os.path.join(folder, way), **settings))
        expect_equal(plain.returncode, 17, f"the untraced run, {way}")
        expect_equal(traced.returncode, 17, f"{way}: {traced.stderr}")
        expect(traced.stderr.count("\n") >= 1, f"{way}: a message says so: {traced.stderr}")


def case_the_limit_is_there_before_the_first_event(folder):
    check_limiter(folder, "before")


def case_the_limit_is_there_before_the_first_event_and_the_spool_elsewhere(folder):
    check_limiter(folder, "before", SPOOL_DIR="/dev/shm")


def case_the_limit_comes_after_the_first_event(folder):
    check_limiter(folder, "after")
    for way in WAYS:
        recover(os.path.join(folder, way))


def case_what_a_dead_child_left_does_not_fit(folder):
    """Neither the call that recovers it nor the end of the program, which tries again, sends a signal."""
    for way in WAYS:
        inner = os.path.join(folder, way)
        os.mkdir(inner)
        for env in (untraced(), environment(inner)):
            done = run([program("limiter"), way, "end", inner], env)
            expect_equal(done.returncode, 17, f"{way}: {done.stderr}")
        expect(done.stderr.count("\n") >= 1, f"{way}: a message says so: {done.stderr}")
        expect_equal(len(waiting(inner)), 1, "the spool is kept")
        recover(inner)
        expect_equal(len(read_folder(inner)), 2, "traces")


def case_stderr_is_a_file_at_its_limit(folder):
    for way in WAYS:
        errors = os.path.join(folder, "stderr")
        with open(errors, "wb") as file:
            done = subprocess.run(
                [program("limiter"), way, "before"],
                env=environment(folder),
                stderr=file,
                stdout=subprocess.DEVNULL,
                timeout=60,
                check=False,
                preexec_fn=no_core_file,
            )
        expect_equal(done.returncode, 17, way)
        expect_equal(os.path.getsize(errors), 0, f"{way}: the message did not fit")


main(globals())
