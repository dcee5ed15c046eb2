"""sitecustomize.py - makes what an item of the examples costs a known time, in every process of a training.

A sleep ends late, by some percent on a busy machine. What an item overslept, the next items of its process sleep less.
So N items take N times the cost of one, by construction, and nobody has to measure them.

Other processes may take the processor away between items, too. The kernel counts how long a thread was ready to run and
did not: that is in the file stolen-PID, in nanoseconds, with what is still owed. SPDX-License-Identifier: MIT
"""

import os
import time

ITEM = 0.02  # seconds, of the examples
sleep, now = time.sleep, time.perf_counter_ns


class Account:
    """Of the items of this process."""

    def __init__(self):
        self.owed_ns, self.stolen_ns, self.waited_ns = 0, 0, None


def waited_ns():
    """How long this thread was ready to run, but did not."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1])
    except OSError:
        return 0  # this kernel does not count it


def exact(seconds):
    """Items alone owe and repay."""
    if seconds != ITEM:
        sleep(seconds)
        return
    began, waited = now(), waited_ns()
    account.stolen_ns += waited - (waited if account.waited_ns is None else account.waited_ns)
    with open(f"stolen-{os.getpid()}", "w", encoding="ascii") as file:
        print(account.stolen_ns + max(0, account.owed_ns), file=file)
    sleep(max(0, ITEM - (now() - began + account.owed_ns) / 1e9))
    account.waited_ns = waited_ns()
    account.owed_ns += now() - began - round(ITEM * 1e9)


account = Account()
time.sleep = exact
os.register_at_fork(after_in_child=account.__init__)
