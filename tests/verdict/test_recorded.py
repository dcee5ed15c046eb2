"""test_recorded.py - I/O-bound programs whose times depend on the machine: recorded once, kept in tests/data/verdict.

The truth is worked out from the events by tests/trace.py and sums of this file: calls of one thread do not overlap.
SPDX-License-Identifier: MIT
"""

import pathlib
import shutil
import sys
import tempfile

from made import kind_of_call
from truth import Truth
from verdict_harness import SOURCE, check, main, summary_of

sys.path.insert(0, str(SOURCE / "tests"))
from trace import read_folder

SHARES = ("read", "write", "metadata")


def truth_of(trace):
    events = [event for event in trace.events if event["ph"] == "X"]
    begin, end = min(event["ts"] for event in events), max(event["ts"] + event["dur"] for event in events)
    intervals = [("whole", "job", begin * 1000, end * 1000)]
    for event in trace.user_events():
        if event["cat"] == "POSIX":
            times = (event["ts"] * 1000, (event["ts"] + event["dur"]) * 1000)
            intervals.append((kind_of_call(event["name"]), event["name"], *times))
    return Truth({0: intervals})


def judged(name, expected):
    """The summary of one sample, with a verdict that is as the events say."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(SOURCE / "tests/data/verdict" / f"{name}.pfw.gz", folder)
        (trace,) = read_folder(folder)
        document = summary_of(pathlib.Path(folder))
        truth = truth_of(trace)
        assert truth.share(expected.partition("/")[2]) > 0.8
        check(document["verdict"], truth, expected, "job", shares=SHARES)
        return document


def a_metadata_storm():
    document = judged("metadata", "io/metadata")
    assert "metadata" in [finding["id"] for finding in document["findings"]], document["findings"]


def small_random_reads():
    found = [finding["id"] for finding in judged("reads", "io/read")["findings"]]
    assert {"small-reads", "random-reads"} <= set(found), found


def writes_at_the_speed_of_the_disk():
    """Large writes, one after the other: nothing is wrong with them but their time."""
    found = [finding["id"] for finding in judged("writes", "io/write")["findings"]]
    assert not {"small-writes", "random-writes", "metadata", "stdio"} & set(found), found


if __name__ == "__main__":
    main(a_metadata_storm, small_random_reads, writes_at_the_speed_of_the_disk)
