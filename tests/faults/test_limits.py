"""test_limits.py - a program at its file size limit gets SIGXFSZ for its own writes only.
SPDX-License-Identifier: MIT
"""

import os
import subprocess

from harness import environment, expect, expect_equal, main, no_core_file, program, recover, run, untraced

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
