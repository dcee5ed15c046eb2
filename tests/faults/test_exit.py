"""test_exit.py - threads that record while another one calls exit: every call that returned is in the trace.
SPDX-License-Identifier: MIT
"""

import os
import struct

from harness import environment, expect, expect_equal, main, program, read_folder, run, waiting

THREADS = 4
PAGE_BYTES = 4096
STRIDE = 128  # of one thread's counters (acknowledge.h): tid, life, begun, done


def acknowledged(path):
    """tid: the number of its last event whose call returned."""
    with open(path, "rb") as file:
        page = file.read()
    rows = [struct.unpack_from("4Q", page, i * STRIDE) for i in range(THREADS)]
    return {tid: done for tid, _, _, done in rows if tid}


def leave(folder, events, **settings):
    page = os.path.join(folder, "page")
    with open(page, "wb") as file:
        file.truncate(PAGE_BYTES)
    inner = os.path.join(folder, "out")
    done = run([program("leaver"), page, str(events)], environment(inner, **settings))
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "leaver")
    (trace,) = read_folder(inner)
    expect("num_dropped" not in trace.end["args"], trace.end)
    numbers = {}
    for event in trace.named("step"):
        if "n" in event["args"]:  # else it was open, and had only begun
            numbers.setdefault(event["tid"], []).append(event["args"]["n"])
    for tid, last in acknowledged(page).items():
        found = sorted(numbers.get(tid, []))
        expect_equal(found[:last], list(range(1, last + 1)), f"thread {tid}: {last} calls returned, found {len(found)}")
        expect(len(found) <= last + 1, f"thread {tid}: {last} calls returned, found {len(found)}")
    expect_equal(waiting(inner), [], "left over")


def case_soon(folder):
    for turn in range(6):
        os.mkdir(f"{folder}/{turn}")
        leave(f"{folder}/{turn}", 1 + 100 * turn)


def case_while_the_trace_is_being_written(folder):
    for turn in range(3):
        os.mkdir(f"{folder}/{turn}")
        leave(f"{folder}/{turn}", 20000)


def case_with_a_small_spool(folder):
    leave(folder, 20000, SPOOL_LIMIT="1M")


main(globals())
