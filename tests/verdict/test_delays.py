"""test_delays.py - why others wait for a rank: what it does from the moment when they wait until it comes.

SPDX-License-Identifier: MIT
"""

import tempfile

from made import Job
from verdict_harness import main, summary_of

STEPS = 24


def verdict_when(add_late, ranks=4, share=1.0):
    """The last rank does something in the time when the others wait already, in `share` of the steps."""
    job = Job(ranks)
    for step in range(STEPS):
        job.spend("compute", 40)
        if step < share * STEPS:
            add_late(job.ranks[-1].main)
        else:
            job.ranks[-1].main.region("other", "solver", 30)
        job.meet("exchange", 0.01)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        verdict = summary_of(folder)["verdict"]
    assert verdict["class"] == "imbalance" and verdict["worst"] == {"rank": ranks - 1, "share": 1}, verdict
    return verdict


def a_region_is_the_cause():
    for ranks in (2, 4):
        verdict = verdict_when(lambda rank: rank.region("sweep", "solver", 30), ranks)
        assert (verdict["cause"]["class"], verdict["cause"]["call"]) == ("before", "sweep"), verdict
        line = f"All of that waiting is for rank {ranks - 1} while it is in 'sweep'."
        assert line in verdict["evidence"], verdict


def the_call_within_a_region_is_the_cause():
    def late(rank):
        with rank.within("dump", "solver"):
            rank.call("write", 27, "/data/dump", 4096)
            rank.idle(3)

    verdict = verdict_when(late)
    assert (verdict["cause"]["class"], verdict["cause"]["call"]) == ("before", "write"), verdict
    assert abs(verdict["cause"]["share"] - 0.9) < 0.005, verdict
    assert "90 % of that waiting is for rank 3 while it is in 'write'." in verdict["evidence"], verdict


def that_there_is_no_event_is_told():
    verdict = verdict_when(lambda rank: rank.idle(30))
    assert verdict["cause"]["class"] == "outside" and verdict["cause"]["call"] is None, verdict
    line = "All of that waiting is for rank 3 while it is in no region and no call."
    assert line in verdict["evidence"], verdict


def two_regions_are_no_cause():
    """Each of them explains less than 80 %; just above, one is named."""
    two = verdict_when(lambda rank: rank.region("sweep", "solver", 30), share=0.75)
    assert two["cause"] is None, two
    one = verdict_when(lambda rank: rank.region("sweep", "solver", 30), share=0.82)
    assert one["cause"]["call"] == "sweep" and abs(one["cause"]["share"] - 20 / 24) < 0.005, one


if __name__ == "__main__":
    main(
        a_region_is_the_cause,
        the_call_within_a_region_is_the_cause,
        that_there_is_no_event_is_told,
        two_regions_are_no_cause,
    )
