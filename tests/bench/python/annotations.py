"""annotations.py - what annotations cost a Python program; prints `name nanoseconds` for each sample.

    annotations.py ROUNDS FOLDER

Every round times each loop once, one after the other, so that a slow moment meets all of them. A burst fits the spool,
and the next begins when the drain has caught up: what is measured is the caller's part.
SPDX-License-Identifier: MIT
"""

import sys
from time import perf_counter_ns, process_time, sleep

from dftracer.python import ai, dft_fn, dftracer
from twoclocks import TwoClocks

CALLS = 5000
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
for loop in LOOPS.values():
    loop()
    settle()
for _ in range(rounds):
    for name, loop in LOOPS.items():
        print(name, loop() / CALLS)
        settle()
log.finalize()
