"""test_advice.py - what to do next fits the reason: why a rank is late, and who loads.

SPDX-License-Identifier: MIT
"""

import tempfile

from made import Job, training
from verdict_harness import main, summary_of

STEPS, STEP = 24, 100


def document_of(job):
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        return summary_of(folder)


def late_rank(kind):
    """Rank 1 does this for 60 ms longer than the others, who then wait for it."""
    parts = {"input": 2, "compute": 30, "checkpoint": 2, "write": 2}
    parts[kind] = [parts[kind] + (60 if rank == 1 else 0) for rank in range(4)]
    return document_of(training(ranks=4, steps=STEPS, exchange=1, **parts))["verdict"]


def the_advice_says_why_a_rank_is_late():
    for kind, words in (
        ("compute", "give rank 1 less work"),
        ("input", "why rank 1 waits longer for its data"),
        ("checkpoint", "the others wait while rank 1 saves"),
        ("write", "spread the I/O of rank 1"),
    ):
        verdict = late_rank(kind)
        assert verdict["class"] == ("checkpoint" if kind == "checkpoint" else "imbalance"), (kind, verdict)
        assert verdict["worst"]["rank"] == 1, (kind, verdict)
        assert words in verdict["next"], (kind, verdict["next"])


def a_training_accumulates_gradients_and_a_solver_does_not():
    job = training(ranks=2, steps=STEPS, compute=60, exchange=40)
    assert "accumulate gradients" in document_of(job)["verdict"]["next"]
    job = Job(2)
    for _ in range(STEPS):
        job.spend("compute", 60)
        job.meet("exchange", 40)
    assert "gradients" not in document_of(job)["verdict"]["next"]


def waiting():
    """A trainer with 1,000 ms of start-up, which then waits for half of each step."""
    job = Job()
    thread = job.ranks[0].main
    thread.idle(1000)
    with thread.within("epoch.block", "pipeline", epoch=0):
        for _ in range(STEPS):
            thread.region("fetch.iter", "dataloader", STEP / 2)
            thread.region("forward", "compute", STEP / 2)
    return job


def load(job, begin, end, busy):
    """A process that exists for this time and loads for a part of it, at its beginning."""
    worker = job.worker(job.ranks[0], begin).main
    worker.region("item", "data", (end - begin) * busy)
    worker.idle((end - begin) * (1 - busy))
    worker.region("exit", "app", 0)


def who_made_the_data_before_the_loop_is_no_worker():
    job = waiting()
    for _ in range(2):
        load(job, 0, 900, 1)
    document = document_of(job)
    assert not {"few-workers", "idle-workers"} & {found["id"] for found in document["findings"]}, document["findings"]
    assert "num_workers" in document["verdict"]["next"] and "busy" not in document["verdict"]["next"], document[
        "verdict"
    ]


def workers_that_start_anew_are_not_more_at_once():
    """Two at a time, twelve in all, each busy for the whole of its life."""
    job = waiting()
    for part in range(6):
        for _ in range(2):
            load(job, 1000 + part * 400, 1400 + part * 400, 1)
    document = document_of(job)
    (found,) = (found for found in document["findings"] if found["id"] == "few-workers")
    measures = found["measures"]
    assert measures["workers"] == 2 and abs(measures["worker_busy"] - 1) < 0.01, found
    assert "raise num_workers above 2: workers are busy 100 % of the time" in document["verdict"]["next"], document


if __name__ == "__main__":
    main(
        the_advice_says_why_a_rank_is_late,
        a_training_accumulates_gradients_and_a_solver_does_not,
        who_made_the_data_before_the_loop_is_no_worker,
        workers_that_start_anew_are_not_more_at_once,
    )
