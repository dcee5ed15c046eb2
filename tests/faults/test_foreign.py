"""test_foreign.py - what dead processes left is published by others, but not at the cost of their own end.
SPDX-License-Identifier: MIT
"""

import glob
import gzip
import os
import re
import signal
import subprocess
import time

from harness import (
    SECONDS_MOST,
    environment,
    expect,
    expect_equal,
    main,
    program,
    recover,
    run,
    waiting,
)

STATUS = 42  # of steady
DEAD = 40
SLOW = {"DFT_TEST_SLOW_MS": "1500"}  # for one of several writes
EVENTS = 100_000
SECONDS_LATE = 3  # half a second is the rule; without it, this takes much longer


def leave_dead(folder):
    """Spools full of events that nobody has written yet: a folder is in the place of each output."""
    for number in range(DEAD):
        blocker = f"{folder}/.dftracer/dead{number}.0-jsonl"
        os.makedirs(blocker)
        env = environment(folder, LOG_FILE=f"{folder}/dead{number}.pfw", SPOOL_LIMIT="64M")
        process = subprocess.Popen([program("steady"), str(2 * EVENTS), "half"], env=env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        expect_equal(process.stdout.readline(), "half\n", "the process has recorded its events")
        process.kill()
        process.communicate()
        os.rmdir(blocker)


def check_all(folder):
    recover(folder)
    paths = glob.glob(f"{folder}/dead*.pfw.gz")
    expect_equal(len(paths), DEAD, "traces")
    for path in paths:  # two million events: only their numbers are read
        with gzip.open(path) as file:
            numbers = sorted(int(n) for n in re.findall(rb'"name":"step"[^{]*{[^}]*"n":(\d+)', file.read()))
        expect(numbers == list(range(1, EVENTS + 1)), f"{path}: {len(numbers)} events")
    expect_equal(waiting(folder), [], "left over")


def case_a_short_program_ends_soon_and_hears_signals(folder):
    leave_dead(folder)
    expect(hears_signal(folder), "the program's own signals arrive during the work for others")
    before = time.monotonic()
    done = run([program("steady"), "10"], environment(folder))
    seconds = time.monotonic() - before
    expect_equal((done.returncode, done.stderr), (STATUS, ""), "the program")
    expect(seconds < SECONDS_LATE, f"its end took {seconds:.1f} s")
    words = [program("steady"), "20000", "wait"]
    with subprocess.Popen(words, env=environment(folder), stdin=subprocess.PIPE) as other:
        time.sleep(0.3)  # its background thread recovers meanwhile
        before = time.monotonic()
        other.communicate(b"\n", timeout=SECONDS_MOST)
    seconds = time.monotonic() - before
    expect_equal(other.returncode, STATUS, "the other program")
    expect(seconds < SECONDS_LATE, f"the end of the other one took {seconds:.1f} s")
    check_all(folder)


def case_producers_that_wait_for_the_thread_do_not_wait_for_others(folder):
    """With DFTRACER_ON_FULL=wait the background thread alone writes. It works for others, too: here for ten seconds."""
    flag = f"{folder}/dead"
    sink = {"SINK": program("sink_flaky.so")}
    with open(flag, "w"):
        pass
    env = {**environment(folder, SPOOL_LIMIT="64M", **sink), "DFT_TEST_DEAD": flag}
    process = subprocess.Popen([program("steady"), str(2 * EVENTS), "half"], env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    expect_equal(process.stdout.readline(), "half\n", "the process has recorded its events")
    process.kill()
    process.communicate()
    os.unlink(flag)
    env = {**environment(folder, LOG_FILE=f"{folder}/own.pfw", SPOOL_LIMIT="1M", ON_FULL="wait"), **SLOW}
    done = run([program("steady"), "20000"], env)
    expect_equal((done.returncode, done.stderr), (STATUS, ""), "nothing is dropped")
    expect(any(name.endswith(".spool") for name in waiting(folder)), "it has not worked for others alone")


def hears_signal(folder):
    """Whether SIGTERM ends a program that publishes what others left, before it has finished that."""
    published = set(os.listdir(folder))
    with subprocess.Popen([program("steady"), "10"], env=environment(folder)) as process:
        for _ in range(20000):
            if any("trace" in name for name in set(os.listdir(folder)) - published):
                break  # its own trace is published
            time.sleep(0.0005)
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS_MOST)
    return process.returncode == -signal.SIGTERM


main(globals())
