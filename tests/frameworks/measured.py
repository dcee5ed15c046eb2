"""measured.py PROGRAM [ARGUMENT]... - runs a program whose items sleep, and notes how long they slept.

A busy machine lets them sleep longer than they ask for: what loading really cost is in the file slept-PID of each
process, in nanoseconds, line by line. SPDX-License-Identifier: MIT
"""

import os
import runpy
import sys
import time

ITEM = 0.02  # seconds, of the examples
sleep = time.sleep


def measured(seconds):
    before = time.perf_counter_ns()
    sleep(seconds)
    if seconds == ITEM:
        with open(f"slept-{os.getpid()}", "a", encoding="utf-8") as file:
            print(time.perf_counter_ns() - before, file=file)


time.sleep = measured
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
