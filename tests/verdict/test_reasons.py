"""test_reasons.py - why a training waits, and when the verdict must say that it does not know. The times are exact.

SPDX-License-Identifier: MIT
"""

import contextlib
import re
import subprocess
import tempfile

from made import Job, training
from verdict_harness import COMMAND, check_form, main, summary_of

STEPS = 24


def document_of(job):
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        document = summary_of(folder)
    check_form(document["verdict"])
    return document, document["verdict"]


def printed_of(folder):
    return subprocess.run([COMMAND, "summary", folder], capture_output=True, text=True, check=True).stdout


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


def workers_that_start_again_are_kept():
    """Starting them is 150 of 390 ms of waiting in each epoch: not most of it, but more than a third."""
    for count, is_told in ((3, True), (1, False)):
        job = Job()
        epochs(job, 150, 10, 10, 30, count=count)
        for epoch in range(count):
            load(job, epoch * (150 + STEPS * 40), 150)
        advice = document_of(job)[1]["next"]
        assert "raise prefetch_factor" in advice, advice
        assert ("keep workers from epoch to epoch" in advice) == is_told, advice


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


def a_worker_that_has_more_to_do_is_named():
    """Worker 0 has no more data after 5 of 25 batches, and records nothing until the loader ends."""
    job = Job()
    thread = job.ranks[0].main
    with thread.within("epoch", "pipeline", epoch=0):
        for _ in range(25):
            thread.region("fetch.iter", "dataloader", 30)
            thread.region("forward", "compute", 10)
        thread.region("fetch.end", "dataloader", 1)
    for items in (5, 25):
        worker = job.worker(job.ranks[0])
        for _ in range(items):
            worker.main.region("data.batch", "data", 40)
    document, verdict = document_of(job)
    assert f"worker pid {worker.pid} has more to do" in verdict["next"], verdict
    assert "busy 100 % of the time, they 20 %" in verdict["next"], verdict
    found = findings_of(document)
    assert "unequal-workers" in found and not {"few-workers", "idle-workers"} & {*found}, found


def more_workers_are_no_advice_if_there_are_enough():
    """One worker loads 20 ms for 50 ms of compute, but seven of eight steps take 10 ms."""
    job = Job()
    thread = job.ranks[0].main
    with thread.within("epoch", "pipeline", epoch=0):
        for step in range(STEPS):
            thread.region("fetch.iter", "dataloader", 10)
            thread.region("forward", "compute", 130 if step % 8 == 7 else 10)
    worker = job.worker(job.ranks[0]).main
    for _ in range(STEPS):
        worker.region("data.batch", "data", 20)
        worker.idle(15)
    advice = document_of(job)[1]["next"]
    assert "prefetch_factor" in advice and "num_workers" not in advice, advice


def a_worker_that_ends_early_is_missed():
    """One of two workers dies after a quarter of the loop; two would suffice."""
    job = training(steps=40, input=30, compute=60)
    for items in (40, 10):
        worker = job.worker(job.ranks[0]).main
        for _ in range(items):
            worker.region("data.batch", "data", 90)
    document, verdict = document_of(job)
    assert "find out why one begins late or ends early: they are there for only 62 % of it" in verdict["next"], verdict
    (found,) = (one for one in document["findings"] if one["id"] == "few-workers")
    assert found["advice"].startswith("Raise num_workers, if the node has idle cores"), found


def one_worker(load, waiting, compute):
    """It loads in each step, and is idle for the rest of it."""
    job = training(steps=STEPS, input=waiting, compute=compute)
    worker = job.worker(job.ranks[0]).main
    for _ in range(STEPS):
        worker.region("data.batch", "data", load)
        worker.idle(waiting + compute - load)
    return document_of(job)


def more_workers_than_there_are_is_what_would_suffice():
    """One is busy all the time, and one is what would suffice: that is no number to raise it to."""
    for load, words in ((99, "Raise num_workers, if"), (105, "Raise num_workers: 2 would suffice")):
        document, _ = one_worker(load, waiting=6, compute=100)
        (found,) = (one for one in document["findings"] if one["id"] == "few-workers")
        assert found["advice"].startswith(words), (load, found)


def workers_that_wait_for_each_other_are_too_few():
    """One of 100 ms in each step of 141 ms, of which the trainer computes for 41."""
    document, verdict = one_worker(100, waiting=100, compute=41)
    assert "few-workers" not in findings_of(document) and "num_workers" not in verdict["next"], verdict
    assert verdict["next"].startswith("raise prefetch_factor"), verdict
    assert verdict["next"].endswith("busy only 71 % of the time; if they always were, 3 would be needed"), verdict


def workers_that_are_idle_for_little_of_the_waiting_are_too_few():
    """One of 89 ms in each step of 100 ms, of which the trainer waits for 60: busy all the time, it would save 11."""
    _, verdict = one_worker(89, waiting=60, compute=40)
    assert verdict["next"].startswith("raise num_workers above 1"), verdict
    assert "prefetch_factor" not in verdict["next"] and "busy 89 % of the time" in verdict["next"], verdict


def more_workers_need_cores_and_are_not_all():
    """A worker is busy all the time. It computes, or reads; and so many as it would be needed."""
    for read, compute, words in (
        (0, 50, "raise num_workers above 1 if the node has idle cores: workers are busy 100 % of the time"),
        (100, 50, "stage the data to faster storage, or raise num_workers above 1: workers are busy 100 %"),
        (0, 10, "make the loading of a sample cheaper (trace with --io to see whether it reads or computes): more "),
        (1, 10, "make the preparing of a sample cheaper (prepare it once and store it, or on the device): more "),
        (100, 10, "stage the data to faster storage, or make the reading of a sample cheaper: more workers alone"),
    ):
        job = training(steps=STEPS, input=100 - compute, compute=compute)
        worker = job.worker(job.ranks[0]).main
        for _ in range(STEPS):
            with worker.within("data.batch", "data"):
                if read:
                    worker.call("read", read, "/data/x", ret=4096)
                worker.idle(100 - read)
        document, verdict = document_of(job)
        (found,) = (one for one in document["findings"] if one["id"] == "few-workers")
        assert verdict["next"].startswith(words), verdict
        assert ("10 would be needed" in verdict["next"]) == (compute == 10), verdict
        assert ("alone will not do, because 10 would be needed" in found["advice"]) == (compute == 10), found
        assert ("2 would suffice" in found["advice"]) == (compute == 50), found


def workers_of_some_trainers_are_not_none():
    job = training(ranks=3, steps=STEPS, input=30, compute=60)
    worker = job.worker(job.ranks[0]).main
    for _ in range(STEPS):
        worker.region("data.batch", "data", 90)
    found = findings_of(document_of(job)[0])
    assert "few-workers" in found and "no-workers" not in found, found


def what_workers_do_is_unknown_without_io():
    """Starting a worker and waiting for its end are no I/O."""
    for call, words in (
        (None, "the loading of samples; whether that reads or computes is unknown: trace with --io, for all paths."),
        ("wait4", "the loading of samples; whether that reads or computes is unknown: trace with --io, for all paths."),
        ("stat", "the preparing of samples, outside of the I/O calls that were recorded."),
    ):
        job = Job()
        epochs(job, 0, 40, 40, 20)
        worker = job.worker(job.ranks[0]).main
        for _ in range(3 * STEPS):
            worker.region("data.batch", "data", 60)
        if call:
            worker.call(call, 0.1, "/data")
        verdict = document_of(job)[1]
        assert verdict["cause"]["class"] == ("preparing" if call == "stat" else "loading"), verdict
        assert verdict["evidence"][0].endswith(words), verdict


def a_trainer_that_loads_by_itself_prepares_samples():
    """It reads in every fetch, so nobody else loads. If it did not, another process may do so that was not recorded."""
    for read, expected in ((5, "preparing"), (15, None), (0, None)):
        job = Job()
        thread = job.ranks[0].main
        thread.call("open", 1, "/data/x", ret=3)
        with thread.within("epoch", "pipeline", epoch=0):
            for _ in range(STEPS):
                with thread.within("fetch.iter", "dataloader"):
                    if read:
                        thread.call("read", read, "/data/x", ret=4096)
                    thread.idle(50 - read)
                thread.region("forward", "compute", 20)
        verdict = document_of(job)[1]
        cause = verdict["cause"]
        assert (cause and cause["class"]) == expected, (read, verdict)
        assert not expected or abs(cause["share"] - 0.9) < 1e-6, cause


def waiting_for_a_rank_that_saves_is_checkpoint():
    """Rank 0 saves for 60 ms of 120 in a step, the other three wait."""
    verdict = document_of(training(ranks=4, steps=STEPS, checkpoint=[60, 0, 0, 0], compute=59, exchange=1))[1]
    assert verdict["class"] == "checkpoint" and abs(verdict["share"] - 0.5) < 1e-6, verdict
    assert verdict["worst"]["rank"] == 0 and verdict["shares"]["imbalance"] == 0, verdict
    assert "75 % of that is waiting in collectives for rank 0, which saves." in verdict["evidence"], verdict
    assert "rank 0 saves" in verdict["next"], verdict


def waiting_for_a_rank_that_saves_is_told_whatever_the_verdict_is():
    verdict = document_of(training(ranks=4, steps=STEPS, input=60, checkpoint=[20, 0, 0, 0], compute=60, exchange=1))[1]
    assert verdict["class"] == "input" and abs(verdict["shares"]["checkpoint"] - 20 / 141) < 1e-3, verdict
    assert "75 % of the checkpoints is waiting in collectives for rank 0, which saves." in verdict["evidence"], verdict


def waiting_for_a_rank_that_computes_more_than_it_saves_is_imbalance():
    verdict = document_of(training(ranks=2, steps=STEPS, checkpoint=[20, 0], compute=[90, 50], exchange=1))[1]
    assert verdict["class"] == "imbalance" and verdict["worst"]["rank"] == 0, verdict


def what_is_unknown_is_told_and_outweighs_a_small_cost():
    for outside, waiting, expected in ((50, 12, "none"), (50, 30, "input"), (15, 12, "input"), (19, 18, "input")):
        verdict = document_of(training(steps=STEPS, input=waiting, compute=100 - waiting - outside, outside=outside))[1]
        assert verdict["class"] == expected, (outside, waiting, verdict)
        told = [line for line in verdict["evidence"] if "in no recorded call" in line]
        assert bool(told) == (outside >= 20), verdict
        assert not told or told[0] == verdict["evidence"][0], verdict
        if expected == "none":
            assert "annotate" in verdict["next"] and "no cost stands out" in verdict["text"], verdict
            assert verdict["tied"] == [], verdict


def what_is_unknown_comes_after_the_cause():
    """Which says `of that waiting`, and follows the first line even if there is less of it."""
    job = Job()
    thread = job.ranks[0].main
    with thread.within("epoch", "pipeline", epoch=0):
        for _ in range(STEPS):
            with thread.within("fetch.iter", "dataloader"):
                thread.call("read", 30, "/data/x", ret=4096)
            thread.region("forward", "compute", 5)
            thread.idle(65)
    verdict = document_of(job)[1]
    assert verdict["class"] == "input", verdict
    assert verdict["evidence"][0].startswith("All of that waiting coincides with read()"), verdict
    assert verdict["evidence"][1].startswith("65 % of the loop"), verdict


def loading_in_the_loop_is_told():
    """As in a loop that loads a batch, without a fetch, and computes."""
    for name, expected in (("item", True), ("plot", False)):
        job = Job()
        thread = job.ranks[0].main
        with thread.within("epoch.block", "pipeline", "whole", epoch=0, count=1):
            for _ in range(STEPS):
                job.spend("input", 1)
                thread.region(name, "data" if expected else "app", 50)
                job.spend("compute", 10)
        verdict = document_of(job)[1]
        told = "\n".join([*verdict["evidence"], verdict["next"]])
        assert verdict["class"] == "none" and "82 % of the loop (1.20 s) is in no recorded call" in told, verdict
        assert ("Samples are loaded there" in told) == ("load ahead" in told) == expected, verdict


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


def a_job_that_only_evaluates_is_judged():
    """Or trains a model that stays in eval mode."""
    for update, base in ((0, "inference"), (20, "training loop")):
        job = Job()
        thread = job.ranks[0].main
        with thread.within("evaluate", "pipeline"):
            for _ in range(STEPS):
                thread.region("fetch.iter", "dataloader", 40)
                thread.region("forward", "compute", 60 - update)
                if update:
                    thread.region("step", "compute", update)
        document, verdict = document_of(job)
        assert (verdict["class"], verdict["base"], verdict["steps"]) == ("input", base, STEPS), verdict
        assert verdict["of_ns"] == STEPS * 100 * 10**6 and abs(verdict["share"] - 0.4) < 1e-6, verdict
        assert document["training"]["trainers"][0]["evaluation_ns"] == 0, document["training"]


def the_table_has_the_split_of_the_verdict():
    """Ranks wait in a collective within backward, save, and load a checkpoint before the loop."""
    job = Job(ranks=2)
    for rank in job.ranks:
        rank.main.region("restore", "checkpoint", 500)
    with contextlib.ExitStack() as stack:
        for rank in job.ranks:
            stack.enter_context(rank.main.within("epoch", "pipeline", epoch=0))
        for _ in range(STEPS):
            job.spend("input", 10)
            job.spend("compute", [20, 50])
            with contextlib.ExitStack() as backward:
                for rank in job.ranks:
                    backward.enter_context(rank.main.within("backward", "compute"))
                job.meet("all_reduce", 5)
            job.spend("checkpoint", 15)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        shares, text = summary_of(folder)["verdict"]["shares"], printed_of(folder)
    table = dict(re.findall(r"^  (\S[a-z A-Z/]*?)  .*? +([0-9.]+) %", text.partition("\nTraining ")[2], re.M))
    for row, costs in (
        ("compute", ["compute"]),
        ("waiting for data", ["input"]),
        ("communication", ["communication", "imbalance"]),
        ("checkpoint", ["checkpoint"]),
    ):
        assert abs(float(table[row]) - 100 * sum(shares[cost] for cost in costs)) < 0.06, (row, table, shares)


def compiling_has_a_name():
    """Between fetches, and inside of a forward pass."""
    job = Job()
    thread = job.ranks[0].main
    with thread.within("epoch", "pipeline", epoch=0):
        for step in range(STEPS):
            thread.region("fetch.iter", "dataloader", 10)
            if not step:
                thread.region("compile", "dynamo", 2400)
            with thread.within("forward", "compute"):
                if step == 1:
                    thread.region("compile", "dynamo", 2400)
                thread.idle(40)
    document, verdict = document_of(job)
    assert abs(verdict["shares"]["compile"] - 0.8) < 1e-6 and verdict["shares"]["other"] == 0, verdict
    assert verdict["class"] == "none" and "compiling 80 %" in verdict["text"], verdict
    assert "compiled once" in verdict["next"], verdict
    slowest = document["training"]["step_times"]["slowest"][:2]
    assert [step["reason"] for step in slowest] == ["compile", "compile"], slowest


def trainings_one_after_the_other_are_told_apart():
    for pause, is_sequence in ((500, True), (-500, False)):
        job = Job()
        for number in range(3):
            rank = job.process(None, 1, "node0", number * (STEPS * 100 + pause))
            with rank.main.within("epoch", "pipeline", epoch=0):
                for _ in range(STEPS):
                    rank.main.region("fetch.iter", "dataloader", 40, samples=8)
                    rank.main.region("forward", "compute", 60)
        job.processes = job.processes[1:]
        for process in job.processes:  # no rank, as of a shell script
            process.lines = [line for line in process.lines if '"PR"' not in line]
        with tempfile.TemporaryDirectory() as folder:
            job.write(folder)
            document, text = summary_of(folder), printed_of(folder)
        assert document["training"]["is_sequence"] == is_sequence, document["training"]
        told = [line for line in document["verdict"]["evidence"] if "one after the other" in line]
        assert bool(told) == is_sequence, document["verdict"]
        row = text.partition("\nTraining by epoch")[2].splitlines()[2].split()
        assert row[1:3] == (["2.40", "s"] if is_sequence else ["6.20", "s"]), row
        assert row[-1] == (str(STEPS * 8 * 10 // 24) if is_sequence else str(3 * STEPS * 80 // 62)), row


def a_checkpoint_in_the_first_epoch_does_not_make_it_cold():
    for kind, is_cold in (("checkpoint", False), ("compute", True)):
        job = Job()
        thread = job.ranks[0].main
        for epoch in range(3):
            with thread.within("epoch", "pipeline", epoch=epoch):
                for _ in range(10):
                    thread.region("fetch.iter", "dataloader", 5)
                    thread.region("forward", "compute", 50)
                if epoch == 0:
                    job.spend(kind, 400)
        assert ("cold-epoch" in findings_of(document_of(job)[0])) == is_cold, kind


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
        workers_that_start_again_are_kept,
        a_fetch_waits_until_workers_have_been_started,
        what_loads_already_has_been_started,
        a_worker_that_has_more_to_do_is_named,
        more_workers_are_no_advice_if_there_are_enough,
        a_worker_that_ends_early_is_missed,
        more_workers_than_there_are_is_what_would_suffice,
        workers_that_wait_for_each_other_are_too_few,
        workers_that_are_idle_for_little_of_the_waiting_are_too_few,
        more_workers_need_cores_and_are_not_all,
        workers_of_some_trainers_are_not_none,
        what_workers_do_is_unknown_without_io,
        a_trainer_that_loads_by_itself_prepares_samples,
        waiting_for_a_rank_that_saves_is_checkpoint,
        waiting_for_a_rank_that_saves_is_told_whatever_the_verdict_is,
        waiting_for_a_rank_that_computes_more_than_it_saves_is_imbalance,
        what_is_unknown_is_told_and_outweighs_a_small_cost,
        what_is_unknown_comes_after_the_cause,
        loading_in_the_loop_is_told,
        a_training_without_a_loader_has_a_loop,
        a_job_that_only_evaluates_is_judged,
        compiling_has_a_name,
        trainings_one_after_the_other_are_told_apart,
        the_table_has_the_split_of_the_verdict,
        a_checkpoint_in_the_first_epoch_does_not_make_it_cold,
        optimizers_that_alternate_are_no_jitter,
    )
