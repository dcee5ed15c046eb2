"""test_order.py - in every file the events of one thread stand in the order of their ends.
SPDX-License-Identifier: MIT
"""

import collections

from harness import act, expect, main, table
from oracle import tally

ROWS = {
    "one thread": ("events 100000 return 0",),
    "eight threads": ("threads 8 10000 return 0",),
    "eight threads with a small spool": ("threads 8 10000 return 0", {"SPOOL_LIMIT": "1M"}),
    "after a recovery": ("events 50000 kill",),
    "after a recovery of eight threads": ("threads 8 10000 kill",),
    "after a recovery of a small spool": ("threads 8 10000 kill", {"SPOOL_LIMIT": "1M"}),
    "plain text": ("events 50000 return 0", {"TRACE_COMPRESSION": 0}),
}


def check(folder, words, settings=None):
    for trace in act(folder, words, in_flight=0, settings=settings):
        last = collections.defaultdict(int)
        misplaced = 0
        for event in trace.user_events():
            slot, n = event["args"]["slot"], event["args"]["n"]
            misplaced += n < last[slot]
            last[slot] = max(last[slot], n)
        tally.torn += misplaced
        expect(not misplaced, f"{words}: {misplaced} of {len(trace.user_events())} events stand after a later one")


table(globals(), ROWS, check)
main(globals())
