"""test_threads.py - many threads, handlers that record anywhere, and little stack.
SPDX-License-Identifier: MIT
"""

import time

from harness import Page, act, environment, expect, expect_equal, is_long, main, program, run, table
from oracle import tally

ROWS = {
    "1200 threads at once": ("at-once 1200 50 return 0",),
    "1200 threads at once and kill": ("at-once 1200 50 kill",),
    "1100 threads that live at the exit": ("asleep 1100 events 100 exit 0",),
    "1100 threads that live and kill": ("asleep 1100 events 100 kill",),
    "10000 short threads": ("churn 10000 return 0",),
    "60000 short threads": ("churn 60000 return 0",),
    "names beyond the registry": ("names 70000 return 0",),
    "names beyond the registry and kill": ("names 70000 kill",),
    "eight threads": ("threads 8 20000 return 0",),
    "eight threads with a small spool": ("threads 8 20000 return 0", {"SPOOL_LIMIT": "1M"}),
    "a handler every 100 us": ("timer 100 malloc 2000 events 100 return 0",),
    "a handler every 100 us and kill": ("timer 100 threads 4 20000 malloc 500 kill",),
    "a handler in malloc is the first to record": ("timer 50 malloc 200 return 0",),
    "a handler in malloc reopens in a child": ("timer 200 children 20 500 _exit malloc 100 return 0",),
}
SMALL = {f"a stack of {kib} KiB": (f"stack {kib} events 3000 return 7",) for kib in (16, 20, 24, 32, 64)}
SMALL.update({f"a full spool on a stack of {kib} KiB": (f"stack {kib} events 30000 return 7", {"SPOOL_LIMIT": "1M"})
              for kib in (16, 24, 32)})
SMALL.update({f"the first event in a handler on {kib} KiB": (f"alternate {kib} events 100 return 7",)
              for kib in (8, 16, 32)})
SMALL.update({f"an event in a handler on {kib} KiB": (f"events 100 alternate {kib} events 100 return 7",)
              for kib in (8, 16)})
LONG = ("60000 short threads", "names beyond the registry and kill", "1200 threads at once and kill",
        "1100 threads that live and kill")


def check(folder, words, settings=None):
    traces = act(folder, words, in_flight=0, settings=settings)
    dropped = sum(trace.end["args"].get("num_dropped", 0) for trace in traces)
    tally.lost += dropped  # here there is room for everything
    expect_equal(dropped, 0, f"{words}: dropped")


@is_long
def case_exit_after_twenty_dead_processes(folder):
    """Work for others does not delay the end of a program much: 20 spools cost 10 s."""
    page = Page(folder)
    for _ in range(20):
        run([program("actor"), page.path, "events", "300000", "kill"], environment(folder))
    before = time.monotonic()
    done = run([program("steady"), "100"], environment(folder))
    took = time.monotonic() - before
    expect_equal((done.returncode, done.stdout, done.stderr), (42, "", ""), "steady")
    expect(took < 5, f"the end took {took:.1f} s")


table(globals(), ROWS, check, long=LONG)
table(globals(), SMALL, check)
main(globals())
