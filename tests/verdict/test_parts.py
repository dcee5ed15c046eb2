"""test_parts.py - what belongs to the training, and what does not: evaluations, micro-batches, optimizers, workers.

SPDX-License-Identifier: MIT
"""

import contextlib
import json
import re
import subprocess
import tempfile

from made import Job
from verdict_harness import COMMAND, main, summary_of

MS = 1_000_000
BATCH, FETCH, FORWARD, UPDATE = 8, 30, 50, 20  # samples; milliseconds


def document_and_text(job):
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        text = subprocess.run([COMMAND, "summary", folder], capture_output=True, text=True, check=True).stdout
        return summary_of(folder), text


def section(text, title):
    """The lines of a table, with single blanks."""
    lines = text.partition(f"\n{title}")[2].partition("\n\n")[0].splitlines()
    return [" ".join(line.split()) for line in lines]


def batch(thread, **args):
    thread.region("fetch.iter", "dataloader", FETCH, samples=BATCH, **args)
    thread.region("forward", "compute", FORWARD, **args)


def step(thread, **args):
    batch(thread, **args)
    thread.region("step", "compute", UPDATE, **args)


def evaluation(thread, batches, **args):
    with thread.within("evaluate", "pipeline", **args):
        for _ in range(batches):
            batch(thread, **args)


@contextlib.contextmanager
def epochs_of(job, number):
    with contextlib.ExitStack() as stack:
        for rank in job.ranks:
            stack.enter_context(rank.main.within("epoch", "pipeline", epoch=number))
        yield


def evaluations_are_no_part_of_the_training():
    """At the end of each epoch, and in the middle of it."""
    for ranks in (1, 2, 4):
        job = Job(ranks)
        for epoch in range(2):
            with epochs_of(job, epoch):
                for rank in job.ranks:
                    for number in range(6):
                        step(rank.main, epoch=epoch, step=number)
                        if number in (2, 5):
                            evaluation(rank.main, 20, epoch=epoch)
        found, text = document_and_text(job)
        training = found["training"]
        assert (training["steps"], training["steps_least"], training["batches"]) == (12, 12, 12), training
        assert found["verdict"]["steps"] == 12 and not found["verdict"]["is_sure"], found["verdict"]
        times = {"time_ns": 1200, "compute_ns": 840, "fetch_ns": 360, "wait_ns": 360, "data_ns": 0}
        assert training["train"] == {key: ms * MS * ranks for key, ms in times.items()}, training["train"]
        assert training["step_times"]["count"] == 12 * ranks, training["step_times"]
        assert training["step_times"]["max_ns"] == 100 * MS, training["step_times"]
        for line in training["by_epoch"]:
            told = tuple(line[key] for key in ("steps", "batches", "fetches", "samples", "evaluation_ns"))
            assert told == (6 * ranks, 6 * ranks, 46 * ranks, 6 * BATCH * ranks, 3200 * MS * ranks), line
        rows = section(text, "Training by epoch")
        assert rows[1].endswith("evaluation samples/s") and rows[2].endswith(f" {80 * ranks}"), rows
        rows = section(text, "Training ")
        assert any(re.match(r"waiting for data 360 ms 30.0 %", row) for row in rows), rows


def micro_batches_are_told_and_are_no_steps():
    job = Job()
    thread = job.ranks[0].main
    with epochs_of(job, 0):
        for number in range(10):
            for _ in range(4):
                batch(thread, epoch=0, step=number)
            thread.region("step", "compute", UPDATE, epoch=0, step=number)
    found, text = document_and_text(job)
    training = found["training"]
    assert (training["steps"], training["batches"]) == (10, 40), training
    assert not found["verdict"]["is_sure"] and "Only 10 steps" in text, text
    assert training["step_times"]["median_ns"] == training["step_times"]["max_ns"] == 340 * MS, training["step_times"]
    assert training["by_epoch"][0]["samples"] == 40 * BATCH, training["by_epoch"]
    assert "10 steps, 40 batches" in " ".join(section(text, "Training ")), text
    rows = section(text, "Training by epoch")
    assert rows[1].startswith("epoch job time steps batches ") and rows[2].startswith("0 3.40 s 10 40 "), rows
    assert rows[2].endswith(f" {int(40 * BATCH / 3.4)}"), rows


def updates_of_one_batch_are_one_step():
    """Two optimizers, or two models; with numbers and without."""
    for numbers in (True, False):
        for between in (0, 40):
            job = Job()
            thread = job.ranks[0].main
            for number in range(24):
                args = {"step": number} if numbers else {}
                step(thread, **args)
                if between:
                    thread.region("forward", "compute", between, **args)
                thread.region("step", "compute", 1, **args)
            found, _ = document_and_text(job)
            assert found["training"]["steps"] == 24, found["training"]
            assert found["training"]["step_times"]["max_ns"] == (101 + between) * MS, found["training"]["step_times"]
            assert "step-jitter" not in [one["id"] for one in found["findings"]], found["findings"]


def updates_with_numbers_of_their_own_are_steps():
    """Several of one batch, or of none at all."""
    job, other = Job(), Job()
    for number in range(24):
        if number % 4 == 0:
            job.ranks[0].main.region("fetch.iter", "dataloader", FETCH)
        job.ranks[0].main.region("step", "compute", UPDATE, step=number)
        other.ranks[0].main.region("step", "compute", UPDATE)
    for made in (job, other):
        found, _ = document_and_text(made)
        assert found["training"]["steps"] == 24, found["training"]


def the_epoch_in_which_the_process_died_is_known():
    """Its event is missing, as that of a test after the last epoch is, which is none."""
    for is_killed in (True, False):
        job = Job()
        thread = job.ranks[0].main
        for epoch in range(3):
            around = contextlib.nullcontext() if is_killed and epoch == 2 else epochs_of(job, epoch)
            with around:
                for number in range(8):
                    step(thread, epoch=epoch, step=number)
        thread.idle(50)
        batch(thread, epoch=2)
        found, _ = document_and_text(job)
        lines = {line["epoch"]: line for line in found["training"]["by_epoch"]}
        assert set(lines) - {None} == {0, 1, 2} and found["training"]["epochs"] == 3, lines
        assert [lines[epoch]["steps"] for epoch in range(3)] == [8, 8, 8], lines
        assert [lines[epoch]["batches"] for epoch in range(3)] == [8, 8, 8 + is_killed], lines
        assert sum(lines[2]["class_ns"].values()) == (800 + 80 * is_killed) * MS, lines[2]


def load(job, spans):
    """A worker that exists all the time, and loads at these milliseconds: [(begin, end), ...]."""
    worker = job.worker(job.ranks[0]).main
    for begin, end in spans:
        worker.idle_until(job.ranks[0].begin_us + begin * 1000)
        worker.region("data.batch", "data", end - begin)
    worker.idle_until(job.ranks[0].end_us())
    worker.region("exit", "app", 0)


def workers_of_evaluations_are_not_those_of_the_training():
    """Two load for the training, all the time; two for evaluations, which stay, too."""
    job = Job()
    thread = job.ranks[0].main
    for epoch in range(3):
        with epochs_of(job, epoch):
            for number in range(10):
                step(thread, epoch=epoch, step=number)
            evaluation(thread, 5, epoch=epoch)
    starts = [epoch * 1400 for epoch in range(3)]
    for _ in range(2):
        load(job, [(start, start + 1000) for start in starts])
        load(job, [(start + 1000, start + 1020) for start in starts])
    found, text = document_and_text(job)
    (line,) = found["training"]["trainers"]
    told = tuple(line[key] for key in ("workers", "workers_at_once", "workers_empty", "workers_enough"))
    assert told == (2, 2, 0, 3), line  # 6,000 ms of loading in 2,100 ms without waiting
    assert line["workers_ns"] == line["workers_busy_ns"] == 6000 * MS, line
    found = {one["id"]: one["measures"] for one in found["findings"]}
    assert found["few-workers"]["workers"] == 2 and not {"idle-workers", "no-workers"} & set(found), found
    assert "2 in all, up to 2 at once per trainer; busy 100.0 %" in " ".join(text.split()), text


def workers_without_data_are_told_apart():
    """Two of four find nothing; the trainer waits for the others."""
    job = Job()
    for number in range(24):
        step(job.ranks[0].main, step=number)
    for _ in range(2):
        load(job, [(0, 2300)])
        empty = job.worker(job.ranks[0]).main
        empty.region("data.batch.cut", "data", 1)
        empty.idle_until(job.ranks[0].end_us())
        empty.region("exit", "app", 0)
    found, text = document_and_text(job)
    (line,) = found["training"]["trainers"]
    assert (line["workers"], line["workers_at_once"], line["workers_empty"]) == (2, 2, 2), line
    assert line["workers_busy_ns"] == 4600 * MS and line["workers_ns"] == 4800 * MS, line
    ids = [one["id"] for one in found["findings"]]
    assert "empty-workers" in ids and not {"few-workers", "idle-workers"} & set(ids), ids
    assert "give each worker its part of the data: 2 more find none" in found["verdict"]["next"], found["verdict"]
    assert "up to 2 more per trainer found no data" in text, text


def ranks_that_get_their_batches_from_another_one_have_no_steps():
    """Rank 0 fetches for all."""
    job = Job(2)
    for _ in range(24):
        job.ranks[0].main.region("fetch.iter", "dataloader", FETCH)
        job.meet("broadcast", 1)
        job.spend("compute", FORWARD)
    verdict = document_and_text(job)[0]["verdict"]
    assert verdict["is_sure"] and not any("steps" in line for line in verdict["evidence"]), verdict


def ranks_that_do_not_train_are_told():
    """A simulation, and a training that learns from it; the worker of the training is no rank of its own."""
    for simulations, line in ((0, None), (1, "1 rank does not train: "), (3, "3 ranks do not train: ")):
        job = Job(simulations + 1)
        *others, trainer = job.ranks
        for number in range(24):
            step(trainer.main, step=number)
            for rank in others:
                rank.main.region("solve", "app", 60)
                rank.main.call("write", 40, f"/data/{rank.rank}", ret=1 << 20)
        job.worker(trainer).main.region("data.batch", "data", 2000)
        found, _ = document_and_text(job)
        told = [one for one in found["verdict"]["evidence"] if "not train" in one]
        assert len(told) == (line is not None) and all(one.startswith(line) for one in told), (line, told)
        assert found["verdict"]["class"] == "input" and found["verdict"]["ranks"] == 1, found["verdict"]


def the_cause_of_waiting_is_that_of_the_training():
    """It waits for what nobody records; its evaluations wait for reading."""
    job = Job()
    thread = job.ranks[0].main
    for number in range(24):
        step(thread, step=number)
    with thread.within("evaluate", "pipeline"):
        for _ in range(100):
            with thread.within("fetch.iter", "dataloader"):
                thread.call("read", FETCH, "/data/x", ret=1 << 20)
            thread.region("forward", "compute", FORWARD)
    found, _ = document_and_text(job)
    assert found["verdict"]["class"] == "input" and found["verdict"]["cause"] is None, json.dumps(found["verdict"])


if __name__ == "__main__":
    main(
        evaluations_are_no_part_of_the_training,
        micro_batches_are_told_and_are_no_steps,
        updates_of_one_batch_are_one_step,
        updates_with_numbers_of_their_own_are_steps,
        the_epoch_in_which_the_process_died_is_known,
        workers_of_evaluations_are_not_those_of_the_training,
        workers_without_data_are_told_apart,
        ranks_that_get_their_batches_from_another_one_have_no_steps,
        ranks_that_do_not_train_are_told,
        the_cause_of_waiting_is_that_of_the_training,
    )
