"""test_causes.py - why a training waits: the call that at least 80 % of the waiting coincides with, and no other one.

Coinciding is a matter of time: what a worker did before and after the waiting is no cause of it.
SPDX-License-Identifier: MIT
"""

import tempfile

from made import training
from verdict_harness import POINTS, check, main, verdict_of

STEPS, STEP, FETCH = 24, 100, 40  # of a step of 100 ms, the trainer waits for the first 40
MIB = 1 << 20


def add_loading(job, parts, files=STEPS):
    """A worker makes calls at these milliseconds of each step: parts = [(call, begin, length), ...]."""
    for rank in job.ranks:
        worker = job.worker(rank).main
        for step in range(STEPS):
            path = f"/scratch/train/{rank.rank}/sample{step % files:04}.npy"
            for name, begin, length in parts:
                worker.idle_until(rank.begin_us + (step * STEP + begin) * 1000)
                with worker.within("item", "data"):
                    worker.call(name, length, path, ret=MIB if name == "read" else 0)


def verdict_with(parts, ranks=1, **options):
    with tempfile.TemporaryDirectory() as folder:
        job = training(ranks=ranks, steps=STEPS, input=FETCH, compute=STEP - FETCH)
        add_loading(job, parts, **options)
        truth = job.write(folder)
        verdict = verdict_of(folder)
        check(verdict, truth, "input", "training loop", shares=("compute",))
        return verdict


def check_cause(parts, call, share, **options):
    for ranks in (1, 2, 4):
        verdict = verdict_with(parts, ranks, **options)
        cause = verdict["cause"]
        assert cause is not None and cause["call"] == call, verdict
        assert abs(cause["share"] - share) <= POINTS, (cause, share)
        told = "\n".join(verdict["evidence"])
        assert f"{call}()" in told or call in told, told
        assert cause["folder"].startswith("/scratch/train"), cause
        files = options.get("files", STEPS) * ranks
        assert cause["files"] == files, (cause, files)
        if call == "read" and "files" not in options:
            assert cause["bytes_per_file"] == MIB, cause


def a_call_that_explains_most_of_the_waiting_is_the_cause():
    check_cause([("open", 2, 33), ("read", 35, 5)], "open", 33 / 40)
    check_cause([("open", 0, 3), ("read", 3, 36)], "read", 36 / 40)


def the_files_of_the_cause_are_counted_once():
    check_cause([("read", 0, 38)], "read", 38 / 40, files=6)


def a_call_that_explains_less_is_not_named():
    for parts in ([("open", 0, 31)], [("open", 0, 20), ("read", 20, 20)]):
        cause = verdict_with(parts)["cause"]
        assert cause is None or cause["call"] is None, cause


def reading_ahead_is_not_the_cause():
    """Most of the reading is hidden behind the computation: 60 ms of it for 20 of the 40 ms of waiting."""
    cause = verdict_with([("read", 0, 20), ("read", 40, 60)])["cause"]
    assert cause is None or cause["call"] is None, cause


def waiting_without_any_call_has_no_cause():
    assert verdict_with([])["cause"] is None


def what_several_workers_do_at_once_counts_once():
    """Two of them cover different parts of the same waiting: together they explain it."""
    with tempfile.TemporaryDirectory() as folder:
        job = training(steps=STEPS, input=FETCH, compute=STEP - FETCH)
        add_loading(job, [("read", 0, 20)])
        add_loading(job, [("read", 18, 20)])
        job.write(folder)
        cause = verdict_of(folder)["cause"]
        assert cause["call"] == "read" and abs(cause["share"] - 38 / 40) <= POINTS, cause


if __name__ == "__main__":
    main(
        a_call_that_explains_most_of_the_waiting_is_the_cause,
        the_files_of_the_cause_are_counted_once,
        a_call_that_explains_less_is_not_named,
        reading_ahead_is_not_the_cause,
        waiting_without_any_call_has_no_cause,
        what_several_workers_do_at_once_counts_once,
    )
