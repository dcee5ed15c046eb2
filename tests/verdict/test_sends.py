"""test_sends.py - ranks that are late because they wait in a call of MPI themselves: others do not wait for them.

SPDX-License-Identifier: MIT
"""

import tempfile

from made import Job
from verdict_harness import check, main, verdict_of

STEPS = 24


def verdict_on(job, is_sure=True):
    """It is imbalance, and true."""
    with tempfile.TemporaryDirectory() as folder:
        truth = job.write(folder)
        verdict = verdict_of(folder)
    check(verdict, truth, "imbalance", "job", is_sure, shares=("communication", "compute"))
    return verdict


def who_waits_in_a_send_is_not_the_one_that_others_wait_for():
    """Rank 2 works for 60 ms, the others for 20. Then rank 1 waits in a send until rank 2 receives: both end late."""
    job = Job(4)
    for number in range(STEPS):
        job.spend("compute", [20, 20, 60, 20])
        job.send(1, 2, number, is_large=True)
    verdict = verdict_on(job, is_sure=False)
    assert "to finish; rank 2 causes 67 % of it." in verdict["text"], verdict
    line = "With perfect balance, the job would take 720 ms at best: point-to-point calls may be waiting, too."
    assert line in verdict["evidence"], verdict
    assert verdict["next"] == "give rank 2 less work: it computes longer than the others", verdict


def who_comes_late_from_a_send_is_not_the_one_that_others_wait_for():
    """The same, and then all meet: rank 1 comes last, 1 ms after rank 2, for which it waited in the send."""
    job = Job(4)
    for number in range(STEPS):
        job.spend("compute", [20, 20, 60, 20])
        job.send(1, 2, number, is_large=True)
        job.spend("outside", [0, 1, 0, 0])
        job.meet("MPI_Allreduce", 0.1, "MPI", comm=0, comm_size=4, bytes=8)
    verdict = verdict_on(job)
    assert "last rank in collectives; no single rank causes most of it." in verdict["text"], verdict
    assert verdict["next"].startswith("find out why 'forward' takes longer on rank 2"), verdict


def who_comes_late_from_a_collective_is_not_the_one_that_others_wait_for():
    """Rank 3 works for 60 ms, the others for 20. Rank 0 waits for it in a reduction, and the others for rank 0 then."""
    job = Job(4)
    facts = {"comm": 0, "comm_size": 4, "bytes": 8, "root": 0}
    threads = [rank.main for rank in job.ranks]
    for _ in range(STEPS):
        job.spend("compute", [20, 20, 20, 60])
        for name, awaited in (("MPI_Reduce", threads[3]), ("MPI_Bcast", threads[0])):
            came_us = awaited.now_us
            for thread in threads:
                with thread.within(name, "MPI", "comm", **facts):
                    if name == "MPI_Bcast" or thread == threads[0]:
                        thread.idle_until(came_us)
                    thread.idle(0.1)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        verdict = verdict_of(folder)
    assert verdict["class"] == "imbalance" and "; rank 3 causes all of it." in verdict["text"], verdict
    assert "All of that waiting is for rank 3 while it is in 'forward'." in verdict["evidence"], verdict
    assert verdict["next"] == "give rank 3 less work: it computes longer than the others", verdict


def exchange(job, tag):
    """Each rank sends to the next one, and then receives from the one before."""
    world = {"comm": 0, "comm_size": job.size, "bytes": 8, "tag": tag}
    threads = [rank.main for rank in job.ranks]
    sent_us = [thread.now_us for thread in threads]
    for rank, thread in enumerate(threads):
        with thread.within("MPI_Send", "MPI", "message", peer=(rank + 1) % job.size, **world):
            thread.idle(0.01)
    for rank, thread in enumerate(threads):
        before = (rank - 1) % job.size
        with thread.within("MPI_Recv", "MPI", "message", peer=before, **world):
            late_ns = (thread.now_us * 1000, max(sent_us[before], thread.now_us) * 1000)
            thread.process.truth.append(("late", "MPI_Recv", *late_ns))
            thread.idle_until(sent_us[before])
            thread.idle(0.01)


def exchanges_between(slow, kind):
    """Six ranks in a ring, each waits for the one before it; the slow ones work three times as long."""
    job = Job(6)
    for tag in range(STEPS):
        job.spend(kind, [60 if rank in slow else 20 for rank in range(6)])
        exchange(job, tag)
    return verdict_on(job)


def the_slow_rank_is_who_neighbours_wait_for_also_by_way_of_others():
    """It causes the waiting of the next rank alone, which is late for the one after it."""
    verdict = exchanges_between([3], "compute")
    assert verdict["worst"]["rank"] == 3 and verdict["worst"]["share"] > 0.95, verdict
    assert verdict["next"] == "give rank 3 less work: it computes longer than the others", verdict
    verdict = exchanges_between([3], "outside")
    assert "that waiting is for rank 3 while it is in no region and no call." in verdict["evidence"][0], verdict
    assert verdict["next"].startswith("annotate what rank 3 does while the others wait"), verdict


def of_two_slow_ranks_none_causes_all():
    verdict = exchanges_between([1, 4], "compute")
    assert not verdict["worst"] or verdict["worst"]["share"] < 0.6, verdict
    assert " all of it" not in verdict["text"], verdict


def a_rank_that_does_something_else_is_not_the_one_that_others_wait_for():
    """Rank 3 meets nobody. The others are late by turns."""
    job = Job(4)
    for step in range(STEPS):
        job.spend("compute", [60 if rank == step % 3 else 20 for rank in range(3)] + [100 / 3])
        group = [rank.main for rank in job.ranks[:3]]
        last_us = max(thread.now_us for thread in group)
        for thread in group:
            with thread.within("MPI_Allreduce", "MPI", "comm", comm=7, comm_size=3, bytes=8):
                thread.idle_until(last_us)
                thread.idle(0.1)
        with job.ranks[3].main.within("MPI_Allreduce", "MPI", "comm", comm=8, comm_size=1, bytes=8):
            job.ranks[3].main.idle(0.1)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        verdict = verdict_of(folder)
    assert verdict["class"] == "imbalance" and not (verdict["worst"] and verdict["worst"]["rank"] == 3), verdict


def a_rank_that_meets_the_others_once_does_not_cause_all():
    """Rank 1 is 40 ms late in each of 24 all-reduces of seven ranks; rank 7 comes to one barrier, 100 ms late."""
    job = Job(8)
    threads = [rank.main for rank in job.ranks]

    def meet(group, name, comm):
        came_us = max(thread.now_us for thread in group)
        for thread in group:
            with thread.within(name, "MPI", "comm", comm=comm, comm_size=len(group), bytes=8):
                thread.idle_until(came_us)
                thread.idle(0.1)

    for _ in range(STEPS):
        job.spend("compute", [60 if rank == 1 else 20 for rank in range(7)] + [0])
        meet(threads[:7], "MPI_Allreduce", 7)
    with threads[7].within("serve", "compute"):
        threads[7].idle_until(threads[0].now_us + 100_000)
    meet(threads, "MPI_Barrier", 0)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        verdict = verdict_of(folder)
    waited = 6 * STEPS * 40
    assert verdict["class"] == "imbalance" and verdict["worst"]["rank"] == 1, verdict
    assert abs(verdict["worst"]["share"] - waited / (waited + 7 * 100)) < 0.01, verdict


def ranks_that_only_communicate_are_not_the_ones_that_others_wait_for():
    """Ranks 1 and 2 work as long as the others, and send and receive for 40 ms in each step: either may wait there."""
    job = Job(6)
    for number in range(STEPS):
        job.spend("compute", 20)
        job.send(1, 2, number, ms=40)
    verdict = verdict_on(job, is_sure=False)
    assert "to finish; no single rank causes most of it." in verdict["text"] and not verdict["worst"], verdict
    assert verdict["next"] == "distribute the work more evenly", verdict


if __name__ == "__main__":
    main(
        who_waits_in_a_send_is_not_the_one_that_others_wait_for,
        who_comes_late_from_a_send_is_not_the_one_that_others_wait_for,
        who_comes_late_from_a_collective_is_not_the_one_that_others_wait_for,
        the_slow_rank_is_who_neighbours_wait_for_also_by_way_of_others,
        of_two_slow_ranks_none_causes_all,
        a_rank_that_does_something_else_is_not_the_one_that_others_wait_for,
        a_rank_that_meets_the_others_once_does_not_cause_all,
        ranks_that_only_communicate_are_not_the_ones_that_others_wait_for,
    )
