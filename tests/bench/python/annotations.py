"""annotations.py - what annotations cost a Python program; prints `name nanoseconds` for each sample.

    annotations.py ROUNDS FOLDER

A round times a short burst of each loop, one straight after the other and beginning with another one each time: it is
over in a few milliseconds, so that a slow moment meets all of them alike. It fits the spool, and the next begins when
the drain has caught up: what is measured is the caller's part.
SPDX-License-Identifier: MIT
"""

import sys
from collections import deque
from time import perf_counter_ns, process_time, sleep

from dftracer.python import ai, dft_fn, dftracer
from twoclocks import TwoClocks

CALLS = 2000
WARM_UP_ROUNDS = 10
rounds, folder = int(sys.argv[1]), sys.argv[2]
node = ai.compute.forward
fetch = ai.dataloader.fetch
own = dft_fn("bench")
bare = TwoClocks()


def plain(step):
    return step


decorated = node(plain)
logged = own.log(plain)


def calls(function):
    begin = perf_counter_ns()
    for i in range(CALLS):
        function(i)
    return perf_counter_ns() - begin


def empty():
    begin = perf_counter_ns()
    for _ in range(CALLS):
        pass
    return perf_counter_ns() - begin


def blocks(manager):
    begin = perf_counter_ns()
    for _ in range(CALLS):
        with manager:
            pass
    return perf_counter_ns() - begin


def blocks_with_values():
    begin = perf_counter_ns()
    for i in range(CALLS):
        with node(step=i):
            pass
    return perf_counter_ns() - begin


def items():
    begin = perf_counter_ns()
    for _ in fetch.iter(range(CALLS)):
        pass
    return perf_counter_ns() - begin


def settle():
    """Waits, two seconds at most, until no thread of the process is at work."""
    for _ in range(100):
        before = process_time()
        sleep(0.02)
        if process_time() - before < 0.001:
            return


LOOPS = {
    "plain": lambda: calls(plain),
    "decorated": lambda: calls(decorated),
    "logged": lambda: calls(logged),
    "empty": empty,
    "bare": lambda: blocks(bare),
    "with": lambda: blocks(node),
    "with_values": blocks_with_values,
    "iter": items,
}

log = dftracer.initialize_log(f"{folder}/annotations", None, -1)
order = deque(LOOPS)
for number in range(WARM_UP_ROUNDS + rounds):
    times = [(name, LOOPS[name]() / CALLS) for name in order]
    if number >= WARM_UP_ROUNDS:
        print("\n".join(f"{name} {time}" for name, time in times))
    order.rotate()
    settle()
log.finalize()
