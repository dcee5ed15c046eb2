"""test_salvage.py - sinks/hdf5/salvage.c: the spool is gone with its node; what the segments hold becomes a .h5.
SPDX-License-Identifier: MIT
"""

import glob
import os
import signal
import struct
import subprocess
import sys
import time

import h5trace

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "faults"))

from harness import environment, expect, expect_equal, main, read_folder, recover, waiting

DOING = os.path.join(os.path.dirname(os.environ["DFT_TEST_PROGRAMS"]), "command", "doing")
EVENTS = 14000
SMALL_SEGMENTS = "hdf5:segment=4096"


def written(out):
    return sum(os.path.getsize(path) for path in glob.glob(os.path.join(out, ".dftracer", "*-hdf5*")))


def leave(folder, sinks, **settings):
    """A process wrote some of its events and was killed; its spool, elsewhere, is taken away. Its folder and claim."""
    out, spools = os.path.join(folder, "out"), os.path.join(folder, "spools")
    os.mkdir(spools)
    env = environment(out, SINK=sinks, SPOOL_DIR=spools, **settings)
    with subprocess.Popen([DOING, "step", str(EVENTS), "wait"], env=env, stdout=subprocess.PIPE, text=True) as process:
        expect_equal(process.stdout.readline(), "ready\n", "doing")
        before = -1
        while (now := written(out)) == 0 or now != before:  # until its background thread has nothing to do
            before = now
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    for name in os.listdir(spools):
        os.unlink(os.path.join(spools, name))
    (claim,) = glob.glob(os.path.join(out, ".dftracer", "*.spool"))
    return out, claim


def live_file(claim, number=0):
    return claim.removesuffix("spool") + f"{number}-hdf5"


def check(out):
    (trace,) = h5trace.read_folder(out)
    numbers = trace.values("step", "n")
    expect(len(set(numbers)) == len(numbers) and 1000 < len(numbers) < EVENTS, f"{len(numbers)} events")
    expected = {"num_events": len(numbers), "recovered": 1, "spool_lost": 1}
    expect_equal({key: trace.end["args"].get(key) for key in expected}, expected, "the end")
    expect_equal(waiting(out), [], "left over")
    return trace


def case_what_was_written_becomes_a_file(folder):
    out, claim = leave(folder, SMALL_SEGMENTS)
    expect(os.path.exists(live_file(claim) + "-0001"), "segments")
    told = recover(out)
    expect("1 trace published" in told and "1 without a spool" in told, told)
    expect(check(out).path.endswith("-app.h5"), os.listdir(out))
    expect("nothing to recover" in recover(out), "a second time")


def case_both_sinks(folder):
    out, _ = leave(folder, "jsonl,hdf5")
    told = recover(out)
    expect("1 trace published" in told, told)
    (lines,) = read_folder(out)
    expect_equal(lines.end["args"]["spool_lost"], 1, "the end of the lines")
    check(out)


def case_what_is_torn_does_not_count(folder):
    """The last append came to storage in part, or as zeros: a record that is cut, a whole one and nothing behind it."""
    record = struct.Struct("<4sIIIQQ")
    for number, torn in enumerate((record.pack(b"DTH5", 3, 0, 16384, 0, 1000) + b"torn",
                                   record.pack(b"DTH5", 3, 0, 16384, 0, 4) + b"torn", b"DTH5torn", bytes(5000))):
        own = os.path.join(folder, str(number))
        os.mkdir(own)
        out, claim = leave(own, "hdf5")
        with open(live_file(claim), "ab") as file:
            file.write(torn)
        recover(out)
        check(out)


def case_an_explicit_name_is_kept(folder):
    out, _ = leave(folder, "hdf5", LOG_FILE=os.path.join(folder, "out", "named.h5"))
    recover(out)
    expect(check(out).path.endswith("/named.h5"), os.listdir(out))


def case_a_recovery_killed_before_the_name_goes_on(folder):
    out, claim = leave(folder, SMALL_SEGMENTS)
    with open(claim) as file:
        pointer = file.read()
    recover(out)
    (published,) = glob.glob(os.path.join(out, "*.h5"))
    os.mkdir(os.path.dirname(claim))
    os.rename(published, live_file(claim))
    for name, content in ((claim, pointer), (live_file(claim) + "-0001", "not removed yet")):
        with open(name, "w") as file:
            file.write(content)
    recover(out)
    expect_equal(check(out).path, published, "name")


def case_nothing_written_leaves_nothing(folder):
    out, claim = leave(folder, "hdf5")
    with open(live_file(claim), "wb") as file:
        file.write(b"torn")
    told = recover(out)
    expect("nothing to recover" in told and "failed" not in told, told)
    expect_equal(os.listdir(out), [], "left over")


main(globals())
