"""kill.py - kills writer at a random time, recovers, and compares the traces with what it had acknowledged.

Promise: an event whose call has returned is there exactly once. Of what had not returned, each thread may show one more
event; a region that was open shows open:1, unless its end was being recorded at that moment.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import collections
import fcntl
import glob
import os
import random
import shutil
import subprocess
import time

from harness import (
    COMMAND,
    Skip,
    environment,
    expect,
    expect_equal,
    is_announced,
    new_folder,
    program,
    read_folder,
    recover,
    seeded,
    trials,
    untraced,
    waiting,
)
from oracle import judge, tally
from page import Page

EVENTS = ("short", "long", "instant", "complete")


def kill_after(process: subprocess.Popen, seconds: float) -> None:
    time.sleep(seconds)
    process.kill()
    process.wait()


def await_records(process: subprocess.Popen, page: Page) -> None:
    while not all(thread.done for thread in page.threads()):
        expect_equal(process.poll(), None, "writer has ended by itself")
        time.sleep(0.0005)


def await_unlocked(folder: str) -> None:
    """A process that the killed one had begun to make (h5join) shares its memory, and so its lock, a moment longer."""
    for path in glob.glob(os.path.join(folder, ".dftracer", "*.spool")):
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)


def recover_with_kills(folder: str, rng: random.Random) -> int:
    """Kills the recovery itself a few times, too; returns how often it was still at work."""
    killed = 0
    for _ in range(5):
        process = subprocess.Popen([COMMAND, "recover", folder], env=untraced(), stdout=subprocess.DEVNULL)
        kill_after(process, rng.uniform(0.0005, 0.007))
        killed += process.returncode < 0
    return killed


def compare(folder: str, page: Page, small: bool = False) -> collections.Counter:
    """The oracle. Returns what was seen, for the report."""
    seen = collections.Counter()
    complete = collections.defaultdict(list)
    still_open = collections.defaultdict(list)
    lives = collections.Counter()
    for trace in read_folder(folder, dangling=True, small=small):
        seen["files"] += 1
        seen["members"] += len(trace.members)
        expect("num_dropped" not in trace.end["args"], f"{trace.path}: {trace.end}")
        for event in trace.user_events():
            if event["name"] == "life":
                expect_equal(event["args"]["open"], 1, f"{trace.path}: {event}")
                lives[event["tid"]] += 1
            elif event["args"].get("open"):
                still_open[event["tid"]].append(event["args"].get("n"))
            else:
                expect(event["name"] in EVENTS, f"{trace.path}: {event}")
                complete[event["tid"]].append(event["args"]["n"])
    judge(complete, {thread.tid: thread.done for thread in page.threads()}, 1, folder)
    for thread in page.threads():
        who = f"{folder}: thread {thread}"
        numbers = complete[thread.tid]
        extra = thread.done + 1
        expect(still_open[thread.tid] in ([], [extra], [None]), f"{who}: open are {still_open[thread.tid]}")
        expect(not (extra in numbers and still_open[thread.tid]), f"{who}: {extra} is open and recorded")
        if thread.life:
            expect_equal(lives[thread.tid], 1, f"{who}: the open region around everything")
        seen["events"] += thread.done
        seen["open"] += len(still_open[thread.tid])
        is_gone = extra not in numbers and not still_open[thread.tid]
        seen["in the middle of its end"] += thread.begun == extra and is_gone
    return seen


def kill_once(rng: random.Random, settings: dict, pause: int, seconds: float, cycle: int,
              kill_recovery: bool) -> collections.Counter:
    folder = new_folder()
    page = Page(folder)
    out = os.path.join(folder, "out")
    arguments = [program("writer"), page.path, str(pause)] + ([str(cycle)] if cycle else [])
    process = subprocess.Popen(arguments, env=environment(out, **settings))
    try:
        await_records(process, page)
        kill_after(process, seconds)
    finally:
        process.kill()
    killed = recover_with_kills(out, rng) if kill_recovery else 0
    await_unlocked(out)
    recover(out)
    seen = compare(out, page)
    expect_equal([name for name in waiting(out) if is_announced(os.path.join(out, ".dftracer", name))], [], "left over")
    tally.trials += 1
    tally.kills += 1 + killed
    seen["kills"] += 1
    seen["kills of the recovery"] += killed
    seen["cycles"] += page.cycles()
    shutil.rmtree(folder)
    return seen


def kill_many(count: int, compression: int, cycle: bool = False, kill_recovery: bool = False) -> None:
    """Kills with every mixture of spool size and speed. The folder of a failure is kept."""
    rng = seeded()
    count = int(os.environ.get("DFT_TEST_KILLS", trials(count, 10 * count)))
    if not count:
        raise Skip("DFT_TEST_KILLS=0")
    total = collections.Counter()
    for number in range(count):
        settings = {"TRACE_COMPRESSION": compression}
        if number % 2:
            settings["SPOOL_LIMIT"] = "1M"
        # At full speed the spool is full, and producers help, within milliseconds.
        pause = (0, 3000, 10000, 30000)[number // 2 % 4]
        seconds = rng.uniform(0, 0.001 if pause == 0 else 0.02)
        total += kill_once(rng, settings, pause, seconds, rng.randint(1, 200) if cycle else 0, kill_recovery)
    print(", ".join(f"{value} {key}" for key, value in sorted(total.items())))
