"""test_aside.py - I/O, checkpoints and communication of threads other than the main one: whether the job waits for them
is known only if the main thread is in something at the time.

SPDX-License-Identifier: MIT
"""

import tempfile

from made import Job, training
from verdict_harness import check_form, main, verdict_of

STEPS = 24


def verdict_with(step, ranks=1):
    """step(main, other): what the two threads of a rank do in a step of 100 ms."""
    job = Job(ranks)
    for rank in job.ranks:
        other = rank.thread()
        rank.main.call("open", 0, "/data/x", ret=3)
        for _ in range(STEPS):
            step(rank.main, other)
            other.idle_until(rank.main.now_us)
            rank.main.idle_until(other.now_us)
        rank.main.call("close", 0, "/data/x")
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        verdict = verdict_of(folder)
    check_form(verdict)
    return verdict


def write(thread, ms):
    thread.call("write", ms, "/data/x", ret=4 << 20)


def told(verdict):
    return "\n".join(verdict["evidence"])


def what_the_main_thread_does_meanwhile_is_not_known():
    """It computes, or waits: nothing tells."""
    for ranks in (1, 2, 4):
        verdict = verdict_with(lambda main, other: (main.idle(100), write(other, 50)), ranks)
        assert (verdict["class"], verdict["kind"], verdict["is_sure"]) == ("io", "write", False), verdict
        assert abs(verdict["aside_share"] - 0.5) < 0.01, verdict
        assert "For 50 % of the time, only other threads than the main one" in told(verdict), told(verdict)
        assert "background" not in verdict["next"] and "annotate" in verdict["next"], verdict
        assert "at best" not in told(verdict), told(verdict)


def the_main_threads_own_calls_are_sure():
    """Also if other threads do the same at the same time."""
    verdict = verdict_with(lambda main, other: (write(main, 50), main.idle(50), write(other, 50)))
    assert verdict["class"] == "io" and verdict["is_sure"] and verdict["aside_share"] == 0, verdict


def a_fifth_of_the_cost_may_be_unknown():
    for aside, is_sure in ((9, True), (11, False)):
        verdict = verdict_with(
            lambda main, other, ms=aside: (main.idle(ms), write(main, 50 - ms), main.idle(50), write(other, ms))
        )
        assert abs(verdict["aside_share"] - aside / 100) < 0.001, verdict
        assert verdict["class"] == "io" and verdict["is_sure"] == is_sure, verdict


def io_behind_regions_of_the_main_thread_is_no_cost():
    verdict = verdict_with(lambda main, other: (main.region("solve", "compute", 100), write(other, 50)))
    assert verdict["class"] == "compute" and verdict["aside_share"] == 0, verdict


def calls_inside_and_outside_are_told_apart_by_the_moment():
    """The other thread writes for 60 ms; the main one computes for the first 30 of them."""
    verdict = verdict_with(lambda main, other: (main.region("solve", "compute", 30), main.idle(70), write(other, 60)))
    assert abs(verdict["shares"]["write"] - 0.3) < 0.001 and abs(verdict["aside_share"] - 0.3) < 0.001, verdict
    verdict = verdict_with(lambda main, other: (main.region("read", "io", 30), main.idle(70), write(other, 60)))
    assert abs(verdict["shares"]["write"] - 0.6) < 0.001 and abs(verdict["aside_share"] - 0.3) < 0.001, verdict


def save(thread, ms):
    with thread.within("checkpoint", "app"):
        write(thread, ms)


def checkpoints_of_other_threads_are_the_same():
    """Some of them, and I/O of the main thread, are known."""
    verdict = verdict_with(lambda main, other: (main.region("solve", "compute", 50), main.idle(50), save(other, 100)))
    assert (verdict["class"], verdict["is_sure"]) == ("checkpoint", False), verdict
    assert abs(verdict["share"] - 0.5) < 0.01 and abs(verdict["aside_share"] - 0.5) < 0.01, verdict
    assert "For 50 % of the time, only other threads than the main one save." in told(verdict), told(verdict)
    assert "annotate" in verdict["next"] and "at best" not in told(verdict), verdict
    verdict = verdict_with(lambda main, other: (save(main, 50), main.idle(50), save(other, 50)))
    assert verdict["class"] == "checkpoint" and verdict["is_sure"] and verdict["aside_share"] == 0, verdict
    verdict = verdict_with(lambda main, other: (write(main, 50), main.idle(50), other.idle(50), save(other, 30)))
    assert verdict["class"] == "io" and verdict["is_sure"] and abs(verdict["aside_share"] - 0.3) < 0.01, verdict


def communication_of_other_threads_is_the_same():
    """A thread that waits for messages all the time; also where one rank comes late."""
    for late, exchange, expected in ((0, 90, "communication"), (60, 10, "imbalance")):
        job = Job(2)
        others = [rank.thread() for rank in job.ranks]
        for _ in range(STEPS):
            for rank, other in zip(job.ranks, others):
                rank.main.call("stat", 0.1, "/data/x")
                rank.main.idle(99.9)
                other.idle(10 + late * rank.rank)
            last_us = max(other.now_us for other in others)
            for other in others:
                with other.within("exchange", "comm"):
                    other.idle_until(last_us)
                    other.idle(exchange)
        with tempfile.TemporaryDirectory() as folder:
            job.write(folder)
            verdict = verdict_of(folder)
        check_form(verdict)
        assert (verdict["class"], verdict["is_sure"]) == (expected, False), verdict
        assert "only other threads than the main one communicate." in told(verdict), told(verdict)
        assert "annotate" in verdict["next"], verdict


def a_training_does_not_wait_for_what_saves_in_the_background():
    """A thread that never computes or fetches; the trainer is in nothing that is known for 40 % of its loop."""
    for ranks in (1, 2):
        job = training(ranks, STEPS, input=2, compute=58, outside=40)
        for rank in job.ranks:
            other = rank.thread()
            for _ in range(STEPS):
                with other.within("capture", "checkpoint"):
                    write(other, 100)
        with tempfile.TemporaryDirectory() as folder:
            job.write(folder)
            verdict = verdict_of(folder)
        check_form(verdict)
        assert verdict["class"] == "none" and verdict["shares"]["checkpoint"] == 0, verdict
        assert "40 % of the loop (960 ms) is in no recorded call" in told(verdict), verdict


if __name__ == "__main__":
    main(
        what_the_main_thread_does_meanwhile_is_not_known,
        the_main_threads_own_calls_are_sure,
        a_fifth_of_the_cost_may_be_unknown,
        io_behind_regions_of_the_main_thread_is_no_cost,
        calls_inside_and_outside_are_told_apart_by_the_moment,
        checkpoints_of_other_threads_are_the_same,
        communication_of_other_threads_is_the_same,
        a_training_does_not_wait_for_what_saves_in_the_background,
    )
