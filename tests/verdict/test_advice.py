"""test_advice.py - what to do next fits the reason: why a rank is late, and who loads.

SPDX-License-Identifier: MIT
"""

import contextlib
import itertools
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


def waits_that_are_passed_on_begin_with_the_first_rank():
    """Rank 0 computes and sends to rank 1, which sends to rank 2, and so on: each waits for the one before it."""
    job = Job(4)
    for number in range(STEPS):
        job.spend("compute", [50, 2, 2, 2])
        for rank in range(3):
            job.send(rank, rank + 1, number)
    verdict = document_of(job)["verdict"]
    assert verdict["class"] == "imbalance" and verdict["worst"]["rank"] == 0, verdict
    assert "give rank 0 less work: it computes longer" in verdict["next"], verdict["next"]


def communicate(ranks, compute):
    """Communicators as MPI has them, in which the last rank comes late."""
    job = Job(ranks)
    for _ in range(STEPS):
        job.spend("compute", compute)
        job.meet("MPI_Allreduce", 0.1, "MPI", comm=0, comm_size=ranks, bytes=8)
    return job


def messages_are_no_advice_where_waiting_is_unknown():
    """A receiver that is late cannot be seen, nor a rank without a trace."""
    late = Job(2)
    for _ in range(STEPS):
        late.spend("compute", [20, 60])
        with late.ranks[0].main.within("MPI_Ssend", "MPI", peer=1, comm=0, comm_size=2, bytes=8, tag=0) as sender:
            sender.idle_until(late.ranks[1].main.now_us)
        late.ranks[1].main.region("MPI_Recv", "MPI", 0.1, peer=0, comm=0, comm_size=2, bytes=8, tag=0)
    missing = communicate(3, [20, 20, 60])
    missing.processes.remove(missing.ranks[2])
    alone = communicate(2, [20, 60])
    alone.processes.remove(alone.ranks[1])
    for job, advice in ((late, "why 'forward' takes longer on rank 1"), (missing, "trace all"), (alone, "trace all")):
        verdict = document_of(job)["verdict"]
        assert (verdict["class"], verdict["is_sure"]) == ("communication", False), verdict
        assert advice in verdict["next"] and "messages" not in verdict["next"], verdict["next"]


def a_receiver_that_is_late_may_be_what_a_send_waits_for():
    """Both then meet, so other waiting is known. A send in a call that receives as well may wait for either."""
    for words in (["MPI_Send"], ["MPI_Sendrecv"], ["MPI_Isend", "MPI_Wait"]):
        job = Job(2)
        for _ in range(STEPS):
            job.spend("compute", [20, 60])
            late_us = job.ranks[1].main.now_us
            for word in words:
                peers = {"peer": 1, "tag": 0} | ({"source": 1, "source_tag": 7} if word == "MPI_Sendrecv" else {})
                with job.ranks[0].main.within(word, "MPI", comm=0, comm_size=2, bytes=8, **peers) as sender:
                    sender.idle_until(0 if word == "MPI_Isend" else late_us)
                    sender.idle(0.5)
            job.ranks[1].main.region("MPI_Recv", "MPI", 0.5, peer=0, comm=0, comm_size=2, bytes=8, tag=0)
            job.meet("MPI_Allreduce", 0.1, "MPI", comm=0, comm_size=2, bytes=8)
        verdict = document_of(job)["verdict"]
        is_late = words == ["MPI_Send"]
        assert (verdict["class"], verdict["is_sure"]) == ("communication", not is_late), verdict
        told = "Up to 97 % of the communication may be waiting for other ranks: it is in sends that last until the"
        assert any(line.startswith(told) for line in verdict["evidence"]) == is_late, verdict
        assert ("why 'forward' takes longer on rank 1" in verdict["next"]) == is_late, verdict


def a_send_that_ends_before_the_receive_begins_does_not_wait_for_it():
    job = Job(2)
    for number in range(STEPS):
        job.spend("compute", [20, 60])
        job.send(0, 1, number, ms=20)
        job.meet("MPI_Allreduce", 0.1, "MPI", comm=0, comm_size=2, bytes=8)
    assert not any("in sends" in line for line in document_of(job)["verdict"]["evidence"])


def regions_that_cannot_be_compared_may_be_waiting():
    """Rank 2 exchanges half as often as the others. All of them call what can be compared, but it takes little."""
    for ms, is_sure in ((15, False), (0.8, True)):
        job = Job(3)
        for step in range(STEPS):
            job.spend("compute", 20)
            for rank in job.ranks:
                if rank.rank != 2 or step % 2:
                    rank.main.region("halo_exchange", "comm", ms)
            job.meet("all_reduce", 1 if ms == 15 else 15)
        verdict = document_of(job)["verdict"]
        assert (verdict["class"], verdict["is_sure"]) == ("communication", is_sure), verdict
        assert any("is waiting for other ranks is unknown" in line for line in verdict["evidence"]) != is_sure, verdict
        assert ("messages" in verdict["next"].partition(",")[0]) == is_sure, verdict


def a_region_around_calls_that_can_be_compared_is_known():
    """Rank 2 has a region of its own around every second one."""
    job = Job(3)
    for step in range(STEPS):
        job.spend("compute", 20)
        with contextlib.ExitStack() as stack:
            for rank in job.ranks:
                if rank.rank != 2 or step % 2:
                    stack.enter_context(rank.main.within("halo_exchange", "comm"))
            job.meet("MPI_Allreduce", 15, "MPI", comm=0, comm_size=3, bytes=8)
    verdict = document_of(job)["verdict"]
    assert (verdict["class"], verdict["is_sure"]) == ("communication", True), verdict


def ranks_that_are_late_in_turn_have_as_much_to_do():
    """Each of four ranks is the slow one in turn; or two of them are it more often."""
    for late, words in (((0, 1, 2, 3), "find out what makes ranks late in turn"), ((2, 3), "distribute the work")):
        job = Job(4)
        for step in range(STEPS):
            slow = late[step % len(late)]
            job.spend("compute", [50 if rank == slow else 20 for rank in range(4)])
            job.meet("MPI_Allreduce", 0.1, "MPI", comm=0, comm_size=4, bytes=8)
        verdict = document_of(job)["verdict"]
        assert verdict["class"] == "imbalance" and verdict["next"].startswith(words), verdict


def who_writes_together_may_wait_for_a_rank():
    """Rank 3 comes late, from a region or from none, to a call of MPI-IO that all make, or that each makes alone."""
    calls = (("MPI_File_write_all", True), ("MPI_File_write_at", False))
    for (name, is_joint), kind in itertools.product(calls, ("compute", "outside")):
        job = Job(4)
        for _ in range(STEPS):
            job.spend(kind, [40, 40, 40, 100])
            job.meet(name, 5, "MPIIO")
        verdict = document_of(job)["verdict"]
        assert (verdict["class"], verdict["kind"], verdict["is_sure"]) == ("io", "write", not is_joint), verdict
        words = "Much of the I/O may be waiting: all ranks call"
        told = [line for line in verdict["evidence"] if line.startswith(words)]
        assert bool(told) == ("rank 3" in verdict["next"]) == is_joint, verdict
    for kind in ("compute", "outside"):
        job = Job(4)
        for _ in range(STEPS):
            job.spend(kind, 40)
            job.meet("MPI_File_write_all", 60, "MPIIO")
        assert document_of(job)["verdict"]["is_sure"], kind


def who_waits_for_a_rank_that_died_does_not_communicate():
    """The trace of rank 2 has no end. The others stay in their last call until they are aborted."""
    job = communicate(3, 20)
    for rank in job.ranks[:2]:
        rank.main.region("MPI_Allreduce", "MPI", 3000, comm=0, comm_size=3, bytes=8)
    text = job.ranks[2].text()
    job.ranks[2].text = lambda: text[: text.rstrip().rindex("\n") + 1]
    verdict = document_of(job)["verdict"]
    assert (verdict["class"], verdict["is_sure"]) == ("communication", False), verdict
    assert any("unknown" in line for line in verdict["evidence"]), verdict
    assert "fewer" not in verdict["next"], verdict["next"]


def the_evaluation_of_one_rank_is_why_the_others_wait():
    job = training(ranks=2, steps=STEPS, input=1, compute=35, exchange=0.1)
    with job.ranks[0].main.within("evaluate", "pipeline") as thread:
        thread.region("forward", "compute", STEPS * 20)
    job.meet("barrier", 0.1)
    for _ in range(STEPS):
        job.spend("input", 1)
        job.spend("compute", 35)
    verdict = document_of(job)["verdict"]
    assert verdict["class"] == "imbalance" and verdict["worst"]["rank"] == 0, verdict
    assert "while rank 0 evaluates" in verdict["next"], verdict["next"]


def of_several_costs_one_rank_may_be_the_reason():
    """Rank 0 reads, and its only neighbour waits for it."""
    job = Job(2)
    for _ in range(STEPS):
        job.spend("read", [50, 0])
        job.meet("exchange", 0.1)
        job.spend("compute", 50)
    verdict = document_of(job)["verdict"]
    assert (verdict["class"], verdict["tied"]) == ("none", ["io", "imbalance"]), verdict
    assert "spread the I/O of rank 0" in verdict["next"], verdict["next"]


def the_rank_that_saves_says_how_often():
    job = training(ranks=2, steps=STEPS, compute=20, checkpoint=[20, 0], exchange=0.1)
    (found,) = (finding for finding in document_of(job)["findings"] if finding["id"] == "checkpoint-stall")
    assert f"a trainer does it {STEPS} times" in found["evidence"], found


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
    words = "raise num_workers above 2 if the node has idle cores: workers are busy 100 % of the time"
    assert words in document["verdict"]["next"], document


def workers_of_ranks_that_hardly_wait_do_not_count():
    """A worker of rank 1 is busy all the time, and it waits for 40 of 100 ms. That of rank 0 is busy for 30 ms."""
    for own_wait, words in (
        (15, "workers of rank 1 are busy 100 % of the time"),
        (25, "workers are busy only 65 % of the time"),
    ):
        job = training(ranks=2, steps=STEPS, input=[own_wait, 40], compute=60, exchange=0.1)
        for rank, busy in ((0, 30), (1, 100)):
            worker = job.worker(job.ranks[rank]).main
            for _ in range(STEPS):
                worker.region("data.batch", "data", busy)
                worker.idle(100.1 - busy)
        document = document_of(job)
        found = {finding["id"]: finding for finding in document["findings"]}
        assert document["verdict"]["class"] == "input", document["verdict"]
        assert words in document["verdict"]["next"], document["verdict"]
        assert ("few-workers" in found) == (own_wait == 15), found
        assert own_wait == 25 or "100 % of the time on rank 1, and" in found["few-workers"]["evidence"], found


def io_verdict(make):
    job = Job(2)
    for step in range(1200):
        for rank in job.ranks:
            rank.main.region("solve", "compute", 1)
            make(rank.main, step)
    return document_of(job)


def the_advice_about_io_is_about_most_of_it():
    """A storm of small reads beside the writing says nothing about the writing."""

    def both(thread, step):
        thread.call("write", 2, "/data/out", ret=8 << 20)
        thread.call("read", 0.3, "/data/in", ret=100)
        thread.call("stat", 0.2, f"/data/{step}")

    document = io_verdict(both)
    verdict, found = document["verdict"], {finding["id"]: finding for finding in document["findings"]}
    assert (verdict["class"], verdict["kind"]) == ("io", "write"), verdict
    assert {"small-reads", "metadata"} <= set(found), found
    assert verdict["next"].startswith("write fewer bytes"), verdict["next"]
    verdict = io_verdict(lambda thread, step: thread.call("read", 2, "/data/in", ret=100))["verdict"]
    assert verdict["next"].startswith("read more at once"), verdict["next"]


def calls_of_mpi_io_have_words_of_their_own():
    def close(thread, step):
        if step % 30 == 0:
            thread.region("MPI_File_close", "MPIIO", 60, "metadata")
        thread.call("stat", 0.01, f"/data/{step}")

    document = io_verdict(close)
    verdict, found = document["verdict"], {finding["id"]: finding for finding in document["findings"]}
    assert (verdict["class"], verdict["kind"]) == ("io", "metadata"), verdict
    assert verdict["cause"]["call"] == "MPI_File_close" and verdict["cause"]["files"] is None, verdict
    assert verdict["next"].startswith("open a file once, on all ranks"), verdict
    assert "80 calls of MPI-IO such as MPI_File_close()" in found["mpi-io"]["evidence"], found
    assert "metadata" not in found, found  # less than 1 % of the job


def files_of_mpi_itself_are_nobodys_storm():
    """1,200 calls of a rank on files of the library, 600 on others."""

    def look(thread, step):
        thread.call("stat", 0.2, f"/usr/lib/openmpi/mca_{step}_tcp.so")
        if step % 2:
            thread.call("stat", 0.2, f"/data/{step}")

    (found,) = (finding for finding in io_verdict(look)["findings"] if finding["id"] == "metadata")
    assert found["measures"]["metadata_calls"] == 1200, found  # of two ranks
    assert abs(found["stake_ns"] / (600 * 0.2e6) - 1) < 0.01, found


def a_rank_that_does_what_nobody_knows_is_to_be_annotated():
    """Rank 1 is in the body of the loop for 40 ms longer than in its regions."""
    job = Job(2)
    with contextlib.ExitStack() as stack:
        for rank in job.ranks:
            stack.enter_context(rank.main.within("epoch", "pipeline", "whole", epoch=0))
        for _ in range(STEPS):
            job.spend("input", 5)
            job.spend("compute", 20)
            job.spend("outside", [0, 40])
            job.meet("all_reduce", 1)
    verdict = document_of(job)["verdict"]
    assert (verdict["class"], verdict["worst"]["rank"]) == ("imbalance", 1), verdict
    assert verdict["next"].startswith("annotate what rank 1 does while the others wait for it"), verdict


def modules_of_python_are_no_samples():
    """1,200 files in a folder, each opened and read; those of MPI count nowhere."""
    modules = "/usr/lib64/python3.9/site-packages/torch"
    for folder, is_module in (("/data/train", False), ("/data/lib/python-corpus", False), (modules, True)):
        job = Job()
        thread = job.ranks[0].main
        for number in range(1200):
            thread.call("stat", 1, f"{folder}/{number}.py")
            thread.call("open", 1, f"{folder}/{number}.py", ret=3)
            thread.call("read", 1, f"{folder}/{number}.py", ret=9000)
            thread.call("stat", 2, f"/env/lib/python3.9/site-packages/openmpi/lib/openmpi/mca_{number}.so")
        thread.region("solve", "compute", 9000)
        found = {finding["id"]: finding for finding in document_of(job)["findings"]}
        assert ("small-files" in found) != is_module, found
        told = "100 % of their time goes to modules of Python: import less, or from a local disk"
        assert (told in found["metadata"]["advice"]) == is_module, found["metadata"]


if __name__ == "__main__":
    main(
        modules_of_python_are_no_samples,
        a_rank_that_does_what_nobody_knows_is_to_be_annotated,
        the_advice_about_io_is_about_most_of_it,
        calls_of_mpi_io_have_words_of_their_own,
        files_of_mpi_itself_are_nobodys_storm,
        the_advice_says_why_a_rank_is_late,
        a_training_accumulates_gradients_and_a_solver_does_not,
        waits_that_are_passed_on_begin_with_the_first_rank,
        messages_are_no_advice_where_waiting_is_unknown,
        a_receiver_that_is_late_may_be_what_a_send_waits_for,
        a_send_that_ends_before_the_receive_begins_does_not_wait_for_it,
        regions_that_cannot_be_compared_may_be_waiting,
        a_region_around_calls_that_can_be_compared_is_known,
        ranks_that_are_late_in_turn_have_as_much_to_do,
        who_writes_together_may_wait_for_a_rank,
        who_waits_for_a_rank_that_died_does_not_communicate,
        the_evaluation_of_one_rank_is_why_the_others_wait,
        of_several_costs_one_rank_may_be_the_reason,
        the_rank_that_saves_says_how_often,
        who_made_the_data_before_the_loop_is_no_worker,
        workers_that_start_anew_are_not_more_at_once,
        workers_of_ranks_that_hardly_wait_do_not_count,
    )
