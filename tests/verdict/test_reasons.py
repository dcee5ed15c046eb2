"""test_reasons.py - why a training waits, and when the verdict must say that it does not know. The times are exact.

SPDX-License-Identifier: MIT
"""

import tempfile

from made import Job, training
from verdict_harness import check_form, main, summary_of

STEPS = 24


def document_of(job):
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        document = summary_of(folder)
    check_form(document["verdict"])
    return document, document["verdict"]


def findings_of(document):
    return [found["id"] for found in document["findings"]]


def epochs(job, init, first, fetch, compute, end=0, count=3):
    """Each epoch starts its loader: init, and the first fetch; workers are not seen here. Milliseconds."""
    thread = job.ranks[0].main
    for epoch in range(count):
        with thread.within("epoch", "pipeline", epoch=epoch):
            thread.region("fetch.init", "dataloader", init)
            for step in range(STEPS):
                thread.region("fetch.iter", "dataloader", fetch if step else first)
                thread.region("forward", "compute", compute)
            thread.region("fetch.end", "dataloader", end)


def load(job, begin, pause, items=STEPS, ms=10):
    """A worker that begins to load after a pause."""
    worker = job.worker(job.ranks[0], begin).main
    worker.idle(pause)
    for _ in range(items):
        worker.region("data.batch", "data", ms)
        worker.idle(20)


def start_and_end_of_workers_are_a_cause():
    """Of 3 * (300 + 20 + 24 * 10) ms of waiting, 960 ms are the start and the end of workers."""
    job = Job()
    epochs(job, 300, 10, 10, 30, end=20)
    for epoch in range(3):
        load(job, epoch * (300 + STEPS * 40 + 20), 0)
    document, verdict = document_of(job)
    cause = verdict["cause"]
    assert cause["class"] == "worker-start" and abs(cause["share"] - 960 / 1680) < 1e-6, verdict
    assert "57 % of that waiting is the start and the end of loaders" in verdict["evidence"][0], verdict
    assert "persistent_workers" in verdict["next"] and "num_workers" not in verdict["next"], verdict
    assert "worker-start" in findings_of(document), document["findings"]
    assert not {"few-workers", "idle-workers"} & {*findings_of(document)}, document["findings"]


def a_fetch_waits_until_workers_have_been_started():
    """Spawned workers import for 2 s: the loader is there at once, its first fetch takes 2,040 ms."""
    job = Job()
    epochs(job, 5, 2040, 10, 30, count=1)
    load(job, 0, 2005)
    cause = document_of(job)[1]["cause"]
    assert cause["class"] == "worker-start" and abs(cause["share"] - 2005 / (2045 + 230)) < 1e-6, cause


def what_loads_already_has_been_started():
    """The same fetch, but a worker loads for it."""
    job = Job()
    epochs(job, 5, 2040, 10, 30, count=1)
    load(job, 0, 0, items=1, ms=2045)
    cause = document_of(job)[1]["cause"]
    assert cause["class"] == "loading", cause


def what_workers_do_is_unknown_without_io():
    for has_io in (False, True):
        job = Job()
        epochs(job, 0, 40, 40, 20)
        worker = job.worker(job.ranks[0]).main
        for _ in range(3 * STEPS):
            worker.region("data.batch", "data", 60)
        if has_io:
            worker.call("stat", 0.1, "/data")
        verdict = document_of(job)[1]
        assert verdict["cause"]["class"] == ("preparing" if has_io else "loading"), verdict
        assert ("trace with --io" in verdict["evidence"][0]) != has_io, verdict


def waiting_for_a_rank_that_saves_is_checkpoint():
    """Rank 0 saves for 60 ms of 120 in a step, the other three wait."""
    verdict = document_of(training(ranks=4, steps=STEPS, checkpoint=[60, 0, 0, 0], compute=59, exchange=1))[1]
    assert verdict["class"] == "checkpoint" and abs(verdict["share"] - 0.5) < 1e-6, verdict
    assert verdict["worst"]["rank"] == 0 and verdict["shares"]["imbalance"] == 0, verdict
    assert "75 % of that is waiting in collectives for rank 0, which saves." in verdict["evidence"], verdict
    assert "rank 0 saves" in verdict["next"], verdict


def waiting_for_a_rank_that_computes_more_than_it_saves_is_imbalance():
    verdict = document_of(
        training(ranks=2, steps=STEPS, checkpoint=[20, 0], compute=[90, 50], exchange=1)
    )[1]
    assert verdict["class"] == "imbalance" and verdict["worst"]["rank"] == 0, verdict


def what_is_unknown_is_told_and_outweighs_a_small_cost():
    for outside, waiting, expected in ((50, 12, "none"), (50, 30, "input"), (15, 12, "input"), (19, 18, "input")):
        verdict = document_of(training(steps=STEPS, input=waiting, compute=100 - waiting - outside, outside=outside))[1]
        assert verdict["class"] == expected, (outside, waiting, verdict)
        told = [line for line in verdict["evidence"] if line.startswith("What happens in")]
        assert bool(told) == (outside >= 20), verdict
        assert not told or told[0] == verdict["evidence"][0], verdict
        assert expected != "none" or "annotate" in verdict["next"], verdict


def a_training_without_a_loader_has_a_loop():
    """After it, the interpreter takes its time to exit."""
    job = Job()
    thread = job.ranks[0].main
    for _ in range(STEPS):
        thread.region("forward", "compute", 60)
        thread.region("step", "compute", 30)
        thread.idle(10)
    thread.idle(5000)
    document, verdict = document_of(job)
    assert (verdict["base"], verdict["steps"], verdict["of_ns"]) == ("training loop", STEPS, 2390 * 10**6), verdict
    assert verdict["shares"]["input"] is None and abs(verdict["shares"]["compute"] - 2160 / 2390) < 1e-6, verdict
    assert document["training"]["loop_ns"] == verdict["of_ns"], document["training"]


def optimizers_that_alternate_are_no_jitter():
    for every, is_jitter in ((2, False), (3, False), (12, True)):
        job = Job()
        thread = job.ranks[0].main
        with thread.within("epoch", "pipeline", epoch=0):
            for step in range(48):
                thread.region("fetch.iter", "dataloader", 1)
                thread.region("forward", "compute", 200 if step % every == 0 else 60)
        assert ("step-jitter" in findings_of(document_of(job)[0])) == is_jitter, every


if __name__ == "__main__":
    main(
        start_and_end_of_workers_are_a_cause,
        a_fetch_waits_until_workers_have_been_started,
        what_loads_already_has_been_started,
        what_workers_do_is_unknown_without_io,
        waiting_for_a_rank_that_saves_is_checkpoint,
        waiting_for_a_rank_that_computes_more_than_it_saves_is_imbalance,
        what_is_unknown_is_told_and_outweighs_a_small_cost,
        a_training_without_a_loader_has_a_loop,
        optimizers_that_alternate_are_no_jitter,
    )
