"""test_loops.py - where a training loop begins, ends and pauses, and where its first step begins. The times are exact.

SPDX-License-Identifier: MIT
"""

import contextlib
import tempfile

from made import Job
from verdict_harness import main, summary_of

STEPS, FETCH, FORWARD = 25, 30, 20  # milliseconds
TRAINING = STEPS * (FETCH + FORWARD)


def document_of(job):
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        return summary_of(folder)


def steps(thread, number=STEPS, **args):
    for _ in range(number):
        thread.region("fetch.iter", "dataloader", FETCH, **args)
        thread.region("forward", "compute", FORWARD, **args)


def check(document, loop_ms, epochs_ms):
    verdict, training = document["verdict"], document["training"]
    assert verdict["class"] == "input" and verdict["base"] == "training loop", verdict
    assert verdict["of_ns"] == loop_ms * 10**6, verdict
    assert abs(verdict["share"] - STEPS * FETCH / TRAINING) < 1e-6 or loop_ms % TRAINING, verdict
    assert training["loop_ns"] == loop_ms * 10**6 * training["processes"], training
    lasted = [epoch["end_ns"] - epoch["start_ns"] for epoch in training["by_epoch"] if epoch["epoch"] is not None]
    assert lasted == [ms * 10**6 for ms in epochs_ms], training["by_epoch"]


def collectives_around_a_training_are_not_part_of_it():
    job = Job(ranks=2)
    job.meet("barrier", 5)
    for rank in job.ranks:
        rank.main.idle(3000)
        with rank.main.within("epoch", "pipeline", epoch=0):
            steps(rank.main)
        rank.main.idle(2000)
    job.meet("all_reduce", 5)
    document = document_of(job)
    check(document, TRAINING, [TRAINING])
    assert document["training"]["startup_ns"] == 2 * 3005 * 10**6, document["training"]


def copies_before_a_training_are_not_part_of_it():
    job = Job()
    job.ranks[0].main.region("transfer", "device", 400)
    job.ranks[0].main.idle(600)
    with job.ranks[0].main.within("epoch", "pipeline", epoch=0):
        steps(job.ranks[0].main)
    check(document_of(job), TRAINING, [TRAINING])


def an_epoch_that_nobody_ended_does_not_last_while_nothing_happens():
    """Plots, then a checkpoint, in a process whose last epoch ends with the process."""
    job = Job()
    thread = job.ranks[0].main
    with thread.within("epoch", "pipeline", epoch=0):
        steps(thread)
        thread.idle(5000)
        thread.region("capture", "checkpoint", 40)
    document = document_of(job)
    check(document, TRAINING, [TRAINING])
    assert document["verdict"]["shares"]["checkpoint"] == 0, document["verdict"]
    assert any("Pauses" in line and "5.04 s" in line for line in document["verdict"]["evidence"]), document["verdict"]


def the_set_up_of_a_second_training_is_no_part_of_the_first():
    job = Job()
    thread = job.ranks[0].main
    with thread.within("epoch", "pipeline", epoch=0):
        steps(thread)
        thread.idle(5000)
    with thread.within("epoch", "pipeline", epoch=1):
        steps(thread)
    document = document_of(job)
    check(document, 2 * TRAINING, [TRAINING, TRAINING])
    found = {finding["id"] for finding in document["findings"]}
    assert not {"cold-epoch", "tear-down", "tear-down-outside"} & found, found


def what_does_not_take_longer_than_the_epoch_is_part_of_it():
    for idle, is_pause in ((990, False), (1240, False), (1260, True)):
        job = Job()
        thread = job.ranks[0].main
        for epoch in range(2):
            with thread.within("epoch", "pipeline", epoch=epoch):
                steps(thread)
                thread.idle(idle)
        epoch = TRAINING if is_pause else TRAINING + idle
        check(document_of(job), 2 * epoch, [epoch, epoch])


def what_is_not_recorded_between_steps_is_no_pause():
    """Five seconds within an epoch: its steps are not over."""
    job = Job()
    thread = job.ranks[0].main
    with thread.within("epoch", "pipeline", epoch=0):
        steps(thread, 5)
        thread.idle(5000)
        steps(thread, 20)
    document = document_of(job)
    assert document["training"]["loop_ns"] == (TRAINING + 5000) * 10**6, document["training"]
    assert document["training"]["step_times"]["max_ns"] == (5000 + FETCH + FORWARD) * 10**6, document["training"]


def a_checkpoint_at_the_end_counts_if_it_follows_at_once():
    for idle, is_part in ((900, True), (1100, False)):
        job = Job()
        thread = job.ranks[0].main
        with thread.within("epoch", "pipeline", epoch=0):
            steps(thread)
        thread.idle(idle)
        thread.region("capture", "checkpoint", 50)
        assert document_of(job)["training"]["loop_ns"] == (TRAINING + is_part * (idle + 50)) * 10**6


def steps_of_an_epoch_that_has_no_event_begin_where_the_one_before_ended():
    """The process died in the epoch: that it is in one is known from its events."""
    for done in (0, 1):
        job = Job()
        thread = job.ranks[0].main
        for epoch in range(done + 1):
            with thread.within("epoch", "pipeline", epoch=epoch) if epoch < done else contextlib.nullcontext():
                for _ in range(STEPS):
                    thread.region("fetch.iter", "dataloader", FETCH, epoch=epoch)
                    thread.idle(1)
                    thread.region("forward", "compute", FORWARD - 5, epoch=epoch)
                    thread.region("step", "compute", 5, epoch=epoch)
        times = document_of(job)["training"]["step_times"]
        assert times["count"] == (1 + done) * STEPS and times["max_ns"] == (FETCH + 1 + FORWARD) * 10**6, times
        assert times["class_ns"]["input"] == (1 + done) * STEPS * FETCH * 10**6, times


def copies_to_the_device_within_fetches_are_no_waiting_for_data():
    """Loaders of Accelerate make them, and more workers would not help."""
    copy = 20
    job = Job()
    thread = job.ranks[0].main
    with thread.within("epoch", "pipeline", epoch=0):
        for _ in range(STEPS):
            with thread.within("fetch.iter", "dataloader"):
                thread.region("transfer", "device", copy)
                thread.idle(FETCH - copy)
            thread.region("forward", "compute", FORWARD)
    document = document_of(job)
    shares, loop = document["verdict"]["shares"], document["split"][0]["loop"]
    assert loop["input"] == STEPS * (FETCH - copy) * 10**6 and loop["transfer"] == STEPS * copy * 10**6, loop
    assert abs(shares["input"] - (FETCH - copy) / (FETCH + FORWARD)) < 1e-6, shares
    assert any(finding["id"] == "transfer" for finding in document["findings"]), document["findings"]


if __name__ == "__main__":
    main(
        collectives_around_a_training_are_not_part_of_it,
        copies_before_a_training_are_not_part_of_it,
        an_epoch_that_nobody_ended_does_not_last_while_nothing_happens,
        the_set_up_of_a_second_training_is_no_part_of_the_first,
        what_does_not_take_longer_than_the_epoch_is_part_of_it,
        what_is_not_recorded_between_steps_is_no_pause,
        a_checkpoint_at_the_end_counts_if_it_follows_at_once,
        steps_of_an_epoch_that_has_no_event_begin_where_the_one_before_ended,
        copies_to_the_device_within_fetches_are_no_waiting_for_data,
    )
