"""test_ranks.py - ranks that wait for others in ways that are no collectives: they are done, or a message is late.

SPDX-License-Identifier: MIT
"""

import pathlib
import re
import subprocess
import tempfile

from made import Job, solver, training
from verdict_harness import COMMAND, check, finding_ids, main, summary_of

STEPS, STEP, LAST = 24, 100, 4000  # milliseconds


def document_of(job, expected=None):
    """expected: the class of the verdict, which must be true."""
    with tempfile.TemporaryDirectory() as folder:
        truth = job.write(folder)
        document = summary_of(folder)
        if expected:
            check(document["verdict"], truth, expected, "job", shares=("imbalance", "communication", "compute"))
        return document


def told_by(document):
    return "\n".join([document["verdict"]["text"], *document["verdict"]["evidence"]])


def ids_of(document):
    return {finding["id"] for finding in document["findings"]}


def steps_of(job):
    for _ in range(STEPS):
        job.spend("compute", STEP)
    return job


def only_rank_0(job, ms):
    return [ms] + [0] * (len(job.ranks) - 1)


def ranks_that_end_early_wait_for_the_last():
    for ranks in (3, 4):
        job = steps_of(Job(ranks))
        job.spend("checkpoint", only_rank_0(job, LAST))
        document = document_of(job, "imbalance")
        verdict = document["verdict"]
        assert "waiting for the last rank to finish; rank 0 causes all of it" in told_by(document), verdict
        assert "Rank 0 spends 4.00 s in 'capture'" in told_by(document), verdict
        assert "while rank 0 saves" in verdict["next"], verdict
        assert verdict["waits"]["end"] == verdict["shares"]["imbalance"], verdict
        assert {"imbalance", "early-end", "tear-down"} <= ids_of(document), ids_of(document)


def ranks_that_wait_in_finalize_wait_for_the_last():
    for ranks in (3, 4):
        job = steps_of(Job(ranks))
        job.spend("write", only_rank_0(job, LAST))
        job.meet("MPI_Finalize", 0.01, "MPI")
        document = document_of(job, "imbalance")
        assert "to finish; rank 0 causes all of it" in told_by(document), document["verdict"]
        assert "spread the I/O of rank 0" in document["verdict"]["next"], document["verdict"]
        assert {"early-end", "tear-down"} <= ids_of(document), ids_of(document)


def work_after_finalize_keeps_the_others_waiting_as_well():
    job = steps_of(Job(4))
    job.spend("compute", [300, 0, 0, 0])
    job.meet("MPI_Finalize", 0.01, "MPI")
    job.spend("write", only_rank_0(job, LAST))
    verdict = document_of(job, "imbalance")["verdict"]
    assert abs(verdict["waits"]["end"] - 0.75 * 4300 / 6700) < 0.005, verdict


def ranks_that_end_together_have_nothing_to_tell():
    job = steps_of(Job(4))
    job.meet("MPI_Finalize", 0.01, "MPI")
    assert not {"early-end", "tear-down", "tear-down-outside"} & ids_of(document_of(job, "compute"))


def finalize_is_a_call_with_a_name():
    """It takes 1.5 s on all ranks, and after it there are 60 ms in no call. Or rank 0 comes late, others wait."""
    for late in (0, LAST):
        job = steps_of(Job(4))
        job.spend("write", only_rank_0(job, late))
        job.meet("MPI_Finalize", 1500, "MPI")
        job.spend("outside", 60)
        job.spend("metadata", 0.001)
        document = document_of(job)
        shares, whole = document["verdict"]["shares"], STEPS * STEP + late + 1560
        assert abs(shares["finalize"] - 1500 / whole) < 0.001 and abs(shares["other"] - 60 / whole) < 0.001, shares
        assert f"MPI_Finalize {150000 / whole:.0f} %" in told_by(document), document["verdict"]
        assert "outside of regions" not in told_by(document), document["verdict"]
        (found,) = (finding for finding in document["findings"] if finding["id"].startswith("tear-down"))
        assert (found["id"] == "tear-down-mpi") == (not late), found
        assert ("96 % of it is 'MPI_Finalize'" in found["evidence"]) == (not late), found


def commands_one_after_the_other_do_not_wait():
    """Such as a loop of a shell that sets RANK."""
    job = Job(1)
    job.size = 3
    for number in (1, 2):
        job.ranks.append(job.process(number, 1, "node0", start_ms=number * STEPS * STEP))
    document = document_of(steps_of(job))
    assert document["verdict"]["class"] == "compute" and "early-end" not in ids_of(document), document["verdict"]


def two_commands_of_a_rank_are_one_rank():
    """The second command of rank 0 is short, that of rank 1 is long: both ranks end at the same time."""
    job = Job(2)
    for rank in list(job.ranks):
        first, second = (STEPS, 4) if rank.rank == 0 else (4, STEPS)
        other = job.process(rank.rank, 1, rank.host, start_ms=first * STEP)
        for process, steps in ((rank, first), (other, second)):
            for _ in range(steps):
                process.main.region("solve", "compute", STEP)
    document = document_of(job)
    assert document["verdict"]["waits"]["end"] < 0.001, document["verdict"]


def a_trace_without_an_end_does_not_tell_when_its_rank_was_done():
    """It was cut off, or the process was killed."""
    job = steps_of(Job(2))
    job.spend("compute", only_rank_0(job, LAST))
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        (path,) = (path for path in pathlib.Path(folder).iterdir() if str(job.ranks[1].pid) in path.name)
        lines = path.read_text().splitlines()
        path.write_text("\n".join(line for line in lines if '"name":"end"' not in line) + "\n")
        document = summary_of(folder)
    assert document["verdict"]["waits"]["end"] == 0 and "early-end" not in ids_of(document), document["verdict"]


def later_work_that_recurs_is_no_tear_down():
    job = steps_of(Job(2))
    for _ in range(STEPS):
        for rank in job.ranks:
            rank.main.region("analyse", "solver", STEP / 2, "compute")
    assert not {"tear-down", "tear-down-outside"} & ids_of(document_of(job, "compute"))


def the_loop_of_the_last_rank_is_no_tear_down():
    """The others do the same for a shorter time, and end."""
    job = Job(4)
    for _ in range(STEPS):
        job.spend("compute", [8 * STEP, STEP, STEP, STEP])
    ids = ids_of(document_of(job, "imbalance"))
    assert "early-end" in ids and not {"tear-down", "tear-down-outside"} & ids, ids


def waiting_that_sharing_cannot_save_is_said_to_be_no_cost():
    """Rank 0 hands out the work of the others; or it has a fifth of theirs, and could take some."""
    for own, is_told in ((1, True), (10, False)):
        job = Job(3)
        for _ in range(STEPS):
            job.spend("compute", [own, 50, 50])
            job.meet("exchange", 0.1)
        document = document_of(job)
        assert document["verdict"]["shares"]["imbalance"] > 0.2, document["verdict"]
        line = "Imbalance is no cost here: sharing the work evenly would save less than 5 %."
        assert (line in document["verdict"]["evidence"]) == is_told, document["verdict"]


def clocks_that_differ_do_not_move_the_loop():
    """The clock of node1 is 5 s ahead. Rank 1 computes longer; rank 3, which waits for it, is on the same node."""
    job = Job(4, hosts=2)
    world = {"cat": "MPI", "comm": 0, "comm_size": 4, "bytes": 8}
    for _ in range(STEPS):
        job.spend("compute", [20, 40, 20, 20])
        job.meet("MPI_Allreduce", 0.1, **world)
        job.meet("MPI_Barrier", 0.1, **world)
    for rank in job.ranks:
        ahead_us = 5_000_000 if rank.host == "node1" else 0
        rank.main.now_us += ahead_us
        rank.lines = [
            re.sub(r'(?<="ts":)\d+', lambda ts, us=ahead_us: str(int(ts[0]) + us), line) for line in rank.lines
        ]
    verdict = document_of(job)["verdict"]
    assert verdict["class"] == "imbalance" and abs(verdict["share"] - 0.75 * 20 / 40.2) < 0.01, verdict


def a_slow_node_may_be_a_clock_that_is_wrong():
    """All ranks of node1 compute longer, or its clock is ahead: nothing recorded tells. On one node it does."""
    for hosts, expected in ((2, ("communication", False)), (1, ("imbalance", True))):
        job = Job(4, hosts)
        for _ in range(STEPS):
            job.spend("compute", [50, 70, 50, 70])
            job.meet("MPI_Allreduce", 1, "MPI", comm=0, comm_size=4, bytes=8)
        document = document_of(job)
        verdict = document["verdict"]
        assert (verdict["class"], verdict["is_sure"]) == expected, verdict
        doubt = "Up to 91 % of the communication may be waiting for other ranks: the clocks of the nodes do not agree"
        assert (doubt in told_by(document)) == (hosts == 2), verdict
        assert "messages" not in verdict["next"], verdict


def what_could_be_compared_must_be_most_of_it():
    """Two groups of two ranks reduce for each other: it is not known who of the other group came last."""
    for halves in ({}, {"comm_size": 2, "remote_size": 2}):
        job = Job(4)
        world = {"comm": 0, "comm_size": 4}
        job.meet("MPI_Comm_dup", 0.1, "MPI", **world)
        for _ in range(STEPS):
            job.spend("compute", [STEP, STEP, STEP, 2 * STEP])
            job.meet("MPI_Allreduce", 5 * STEP, "MPI", **({"comm": 7} | (halves or world)), bytes=8)
        verdict = document_of(job)["verdict"]
        assert (verdict["class"], verdict["is_sure"]) == ("communication", not halves), verdict


def the_shell_of_a_rank_is_not_the_rank():
    """It does more in calls than the program of rank 3, which only computes, and never waits."""
    job = Job(4)
    for rank in job.ranks:
        shell = job.process(rank.rank, 1, rank.host)
        shell.main.call("stat", 100, "/software/module")
        rank.main.idle(100)
    for _ in range(STEPS):
        job.spend("outside", [STEP, STEP, STEP, 4 * STEP])
        job.meet("MPI_Allreduce", 0.1, "MPI", comm=0, comm_size=4, bytes=8)
    verdict = document_of(job)["verdict"]
    assert verdict["worst"] and verdict["worst"]["rank"] == 3, verdict
    assert abs(verdict["share"] - STEPS * 0.75 * 300 / (100 + STEPS * 400.1)) < 0.01, verdict


def waiting_for_messages_is_called_so():
    """Rank 0 computes for 100 ms and sends; rank 1 computes for 40 ms and waits for it."""
    job = Job(2)
    for number in range(STEPS):
        job.spend("compute", [100, 40])
        job.send(0, 1, number)
    document = document_of(job, "imbalance")
    verdict = document["verdict"]
    assert verdict["worst"] == {"rank": 0, "share": 1}, verdict
    assert abs(verdict["share"] - 0.3) < 0.005 and abs(verdict["waits"]["messages"] - 0.3) < 0.005, verdict
    assert "is waiting for messages that are sent late; rank 0 causes all of it" in verdict["text"], verdict
    assert "collective" not in told_by(document), verdict
    assert "late-senders" in ids_of(document), ids_of(document)


def several_ways_of_waiting_are_listed():
    """Rank 1 waits for 20 ms in each of 24 steps in a collective, for 20 ms for a message, and then for 480 ms."""
    job = Job(2)
    for number in range(STEPS):
        job.spend("compute", [50, 30])
        job.meet("exchange", 0.01)
        job.spend("compute", [50, 30])
        job.send(0, 1, number)
    job.spend("compute", [480, 0])
    document = document_of(job)
    verdict = document["verdict"]
    assert verdict["class"] == "imbalance" and "is waiting for other ranks; rank 0" in verdict["text"], verdict
    line = "Of that waiting, 33 % is in collectives, 33 % is for late messages, 33 % is of ranks that are done."
    assert verdict["evidence"][0] == line, verdict


def a_rank_causes_what_it_causes_alone():
    """Half of the waiting is for ranks 1 and 2, which come at the same time: rank 0 does not cause all of it."""
    job = solver(ranks=3, steps=STEPS, compute=[60, 30, 30], exchange=0.01)
    for _ in range(STEPS):
        job.spend("compute", [0, 60, 60])
        job.meet("exchange", 0.01)
    verdict = document_of(job, "imbalance")["verdict"]
    assert verdict["worst"]["rank"] == 0 and abs(verdict["worst"]["share"] - 0.5) < 0.005, verdict


def who_ends_last_with_others_is_not_the_only_one():
    """Three of four ranks work twice as long as the first one, and end together. Or one of them works on, alone."""
    for more, named in ((2, "; no single rank causes most of it"), (400, "; rank 2 causes")):
        job = Job(4)
        for _ in range(STEPS):
            job.spend("compute", [25, 50, 50, 50])
        job.spend("compute", [0, 0, more, 0])
        verdict = document_of(job, "imbalance")["verdict"]
        assert "waiting for the last rank to finish" + named in verdict["text"], verdict


def a_rank_in_no_call_is_still_the_one_that_is_late():
    """It computes in no region and never waits, so it is in calls as little as a helper, which has no rank."""
    job = Job(4)
    for _ in range(STEPS):
        job.spend("outside", [STEP, STEP, STEP, 4 * STEP])
        job.meet("exchange", 0.1)
    verdict = document_of(job, "imbalance")["verdict"]
    assert verdict["ranks"] == 4 and verdict["worst"]["rank"] == 3, verdict


def two_ranks_that_are_late_by_turns_are_named():
    """Ranks 1 and 3 compute for about 100 ms, the others for 20 ms."""
    job = Job(4)
    for number in range(STEPS):
        late = number % 2
        job.spend("compute", [20, 95 + 5 * late, 20, 100 - 5 * late])
        job.meet("exchange", 0.01)
    verdict = document_of(job, "imbalance")["verdict"]
    assert {verdict["worst"]["rank"], verdict["second"]["rank"]} == {1, 3}, verdict
    assert abs(verdict["worst"]["share"] - 0.5) < 0.02 and abs(verdict["second"]["share"] - 0.5) < 0.02, verdict
    assert "; rank 1 causes 50 % of it, rank 3 50 %." in verdict["text"], verdict


def ranks_that_are_late_by_turns_have_no_culprit():
    """In each step another one of four ranks computes for 80 ms longer."""
    job = Job(4)
    for number in range(STEPS):
        job.spend("compute", [100 if rank == number % 4 else 20 for rank in range(4)])
        job.meet("exchange", 0.01)
    verdict = document_of(job, "imbalance")["verdict"]
    assert verdict["text"].endswith("; no single rank causes most of it."), verdict


def a_rank_that_hands_out_work_is_no_imbalance():
    """Rank 0 of five waits for results of the others, which compute all the time: nothing could be saved."""
    job = Job(5)
    for number in range(STEPS):
        job.spend("compute", [1, *[100] * 4])
        for worker in range(1, 5):
            job.send(worker, 0, number)
    document = document_of(job)
    verdict = document["verdict"]
    assert verdict["class"] == "none" and verdict["shares"]["imbalance"] > 0.15, verdict
    assert not ids_of(document) & {"imbalance", "late-senders", "straggler"}, document["findings"]


def a_region_on_more_threads_is_no_straggler():
    """Rank 0 does the same as rank 1, on eight threads at once."""
    job = Job(2)
    others = [job.ranks[0].thread() for _ in range(7)]
    for _ in range(STEPS):
        job.spend("compute", 50)
        for other in others:
            other.region("forward", "compute", 50)
            other.idle(1)
        job.meet("exchange", 1)
    assert "straggler" not in ids_of(document_of(job, "compute"))


def workers_that_load_behind_compute_are_no_stragglers():
    """Those of rank 1 load three times as long, and nobody waits for them."""
    job = training(2, STEPS, input=0.5, compute=99.5)
    for rank in job.ranks:
        for _ in range(2):
            worker, load = job.worker(rank).main, 90 if rank.rank else 30
            for _ in range(STEPS):
                worker.region("item", "data", load)
                worker.idle(100 - load)
    document = document_of(job)
    assert document["verdict"]["class"] == "compute" and "straggler" not in ids_of(document), document["findings"]


def names_are_those_of_the_tables():
    for name, shown in (("_ZN6solver6smoothEv", "solver::smooth"), ("__solver_MOD_step", "solver::step")):
        job = Job(2)
        for _ in range(STEPS):
            for rank in job.ranks:
                rank.main.region(name, "app", 20 + 40 * rank.rank, "compute")
            job.meet("exchange", 0.01)
        document = document_of(job, "imbalance")
        assert f"in '{shown}'" in told_by(document) and document["verdict"]["cause"]["call"] == shown, document
        (found,) = (finding for finding in document["findings"] if finding["id"] == "straggler")
        assert f"'{shown}' takes" in found["evidence"] and name not in str(document["findings"]), found


def states_tell_the_same():
    job = steps_of(Job(3))
    job.spend("checkpoint", only_rank_0(job, LAST))
    job.meet("MPI_Finalize", 0.01, "MPI")
    job.spend("write", [0, 50, 0])
    with tempfile.TemporaryDirectory() as top:
        folder, parts = pathlib.Path(top) / "traces", []
        job.write(folder)
        for number, trace in enumerate(sorted(folder.iterdir())):
            parts.append(f"{top}/{number}.dfs")
            subprocess.run([COMMAND, "summary", "--partial", "-o", parts[-1], trace], check=True)
        whole, merged = summary_of(folder), summary_of(*parts)
        assert "early-end" in finding_ids(folder)
    assert (whole["verdict"], whole["findings"]) == (merged["verdict"], merged["findings"]), (whole, merged)


if __name__ == "__main__":
    main(
        ranks_that_end_early_wait_for_the_last,
        ranks_that_wait_in_finalize_wait_for_the_last,
        work_after_finalize_keeps_the_others_waiting_as_well,
        ranks_that_end_together_have_nothing_to_tell,
        finalize_is_a_call_with_a_name,
        commands_one_after_the_other_do_not_wait,
        two_commands_of_a_rank_are_one_rank,
        a_trace_without_an_end_does_not_tell_when_its_rank_was_done,
        later_work_that_recurs_is_no_tear_down,
        the_loop_of_the_last_rank_is_no_tear_down,
        waiting_that_sharing_cannot_save_is_said_to_be_no_cost,
        clocks_that_differ_do_not_move_the_loop,
        a_slow_node_may_be_a_clock_that_is_wrong,
        what_could_be_compared_must_be_most_of_it,
        the_shell_of_a_rank_is_not_the_rank,
        waiting_for_messages_is_called_so,
        several_ways_of_waiting_are_listed,
        a_rank_causes_what_it_causes_alone,
        who_ends_last_with_others_is_not_the_only_one,
        a_rank_in_no_call_is_still_the_one_that_is_late,
        two_ranks_that_are_late_by_turns_are_named,
        ranks_that_are_late_by_turns_have_no_culprit,
        a_rank_that_hands_out_work_is_no_imbalance,
        a_region_on_more_threads_is_no_straggler,
        workers_that_load_behind_compute_are_no_stragglers,
        names_are_those_of_the_tables,
        states_tell_the_same,
    )
