"""test_order.py - the order of events in a trace.

In every trace the events of one thread stand in the order of their ends, and members overlap in time as little as the
threads allow. At any moment a thread fills one chunk, and may have ended the event that will begin the next one:
these are in at most two members, and one more goes on around that moment.
SPDX-License-Identifier: MIT
"""

import os
import re
import signal
import subprocess
import tempfile
import zlib
from pathlib import Path

PROGRAM = Path(os.environ["DFT_TEST_PROGRAMS"]) / "record_order"
COMMAND = os.environ["DFT_TEST_COMMAND"]
SANITIZED = any(name in PROGRAM.read_bytes() for name in (b"__asan_init", b"__tsan_init"))
LINE = re.compile(rb'"cat":"(\w+)","pid":\d+,"tid":(\d+),"ts":(\d+),"dur":(\d+),"ph":"X"')


def members(path):
    """The text of each member."""
    rest = path.read_bytes()
    while rest:
        inflate = zlib.decompressobj(wbits=31)
        yield inflate.decompress(rest)
        assert inflate.eof, "the last member is torn"
        rest = inflate.unused_data


def most_at_once(ranges):
    """How many of these ranges of time share one moment. They may touch: a unit of time is long."""
    steps = sorted([(first, 1, 1) for first, last in ranges] + [(last, 0, -1) for first, last in ranges])
    now = most = 0
    for _, _, step in steps:
        now += step
        most = max(most, now)
    return most


def check(threads, count, how="", most_inversions=0, **settings):
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": f"{folder}/a.pfw", **settings}
        status = subprocess.run([PROGRAM, str(threads), str(count), *([how] if how else [])], env=env).returncode
        assert status == (-signal.SIGKILL if how == "kill" else 0), status
        if how == "kill":
            subprocess.run([COMMAND, "recover", folder], stdout=subprocess.DEVNULL, check=True)
        last, ranges, events, inversions, furthest = {}, [], 0, 0, 0
        for text in members(Path(folder) / "a.pfw.gz"):
            ends = []
            for cat, tid, start, duration in LINE.findall(text):
                end = int(start) + int(duration)
                before = last.get(tid, 0)
                if end < before:
                    inversions += 1
                    furthest = max(furthest, before - end)
                last[tid] = max(end, before)
                if cat == b"test":
                    ends.append(end)
            events += len(ends)
            if ends:
                ranges.append((min(ends), max(ends)))
    what = f"{threads} threads {how}: {events} events in {len(ranges)} members"
    early = f"{inversions} lines end before an earlier one of their thread, up to {furthest} us"
    assert inversions <= most_inversions, f"{what}: {early}"
    assert events >= count, what
    assert len(ranges) > 2 or SANITIZED, what
    overlapping = most_at_once(ranges)
    most = 1 if threads == 1 and not inversions else 2 * threads + 1
    assert overlapping <= most, f"{what}: {overlapping} of them share one moment"
    print(f"{what}: {early if inversions else 'in order'}, at most {overlapping} members at once")


scale = 20 if SANITIZED else 1
check(1, 1000000 // scale)
check(1, 300000 // scale, DFTRACER_SPOOL_LIMIT="1M")  # the recording thread helps to write
check(8, 100000 // scale)
check(8, 100000 // scale, DFTRACER_SPOOL_LIMIT="1M")
check(1, 300000 // scale, "kill")
check(8, 100000 // scale, "kill")
check(1, 10000 // scale, "huge")
# Nearly every second signal comes between the end of a region and its record. Two in a row, where a chunk ends, are
# not sorted.
check(1, 300000 // scale, "handler", most_inversions=2)
