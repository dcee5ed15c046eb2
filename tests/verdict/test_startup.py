"""test_startup.py - START-UP names what takes at least 80 % of the time before the loop, and nothing if that is several
things. The same is said of the time after the loop.

SPDX-License-Identifier: MIT
"""

import tempfile

from made import Job
from verdict_harness import POINTS, main, summary_of

STEPS, STEP, START = 24, 20, 1200  # milliseconds


def document_of(job):
    """The job goes on with its loop."""
    for _ in range(STEPS):
        job.spend("compute", STEP)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        return summary_of(folder)


def check_cause(job, what, call, share, words, advice, rank=None, loop=STEPS * STEP):
    """Returns the cause. words: of the sentence about it; None: there is no cause."""
    document = document_of(job)
    verdict, cause = document["verdict"], document["verdict"]["cause"]
    assert verdict["class"] == "start-up" and abs(verdict["share"] - START / (START + loop)) < 0.01, verdict
    assert advice in verdict["next"], verdict
    name = "start-up-outside" if what == "outside" else "start-up"
    (found,) = (finding for finding in document["findings"] if finding["id"] == name)
    if not what:
        assert cause is None and found["evidence"].endswith("no single thing explains it"), (verdict, found)
        return None
    assert (cause["class"], cause["call"], cause["rank"]) == (what, call, rank), verdict
    assert abs(cause["share"] - share) <= POINTS, cause
    sentence = f"{'All' if share == 1 else f'{100 * share:.0f} %'} of that is {words}"
    assert sentence in "\n".join(verdict["evidence"]), (sentence, verdict)
    assert sentence.lower().replace("of that", "of it").split(" of ")[0] in found["evidence"], found
    return cause


def open_files(thread, ms, folder, count=100):
    for number in range(count):
        thread.call("open", ms / count, f"{folder}/part{number}", ret=3)


def a_region_is_named():
    """The inner one of two that take about the same."""
    job = Job(2)
    for rank in job.ranks:
        with rank.main.within("setup", "app"):
            rank.main.region("read_mesh", "app", 0.97 * START)
            rank.main.idle(0.03 * START)
    check_cause(job, "region", "read_mesh", 0.97, "'read_mesh'", "do 'read_mesh' in parallel")


def what_one_rank_does_is_named_with_the_rank():
    """The others wait for it once, in a collective."""
    for ranks in (2, 4):
        job = Job(ranks)
        job.ranks[1].main.region("partition", "app", START)
        job.meet("distribute", 0.1)
        for rank in job.ranks:
            rank.main.region("setup", "app", 0.1)
        words = "'partition' on rank 1, and waiting for it"
        check_cause(job, "region", "partition", 1, words, "let every rank do a part of 'partition'", rank=1)


def calls_below_a_folder_are_named():
    job = Job(2)
    for rank in job.ranks:
        with rank.main.within("setup", "app"):
            open_files(rank.main, 0.9 * START, "/scratch/mesh")
            rank.main.idle(0.1 * START)
    words = "open() of 100 files below /scratch/mesh"
    cause = check_cause(job, "metadata", "open", 0.9, words, "open and look up fewer files")
    assert (cause["folder"], cause["files"]) == ("/scratch/mesh/", 100), cause


def calls_of_one_rank_are_named_with_the_rank():
    job = Job(4)
    for _ in range(10):
        job.ranks[0].main.call("read", START / 10, "/scratch/mesh.bin", ret=1 << 20)
    job.meet("distribute", 0.1)
    for rank in job.ranks:
        rank.main.region("setup", "app", 0.1)
    words = "read() of /scratch/mesh.bin (10.0 MiB read) on rank 0, and waiting for it"
    check_cause(job, "read", "read", 1, words, "the others wait while rank 0 reads", rank=0)


def imports_are_recognised_by_their_folder():
    job = Job(2)
    for rank in job.ranks:
        open_files(rank.main, START, "/opt/env/lib/python3.12/site-packages/numpy")
        rank.main.region("setup", "app", 0.1)
    words = "open() of 100 files below /opt/env/lib/python3.12/site-packages/numpy"
    check_cause(job, "metadata", "open", 1, words, "import from a local disk")


def files_are_not_named_if_the_loop_may_have_used_them():
    """Of all that opening, the loop's is as long: which files it was before the loop is not known."""
    job = Job(1)
    thread = job.ranks[0].main
    open_files(thread, START, "/scratch/mesh")
    thread.region("setup", "app", 0.1)
    for _ in range(STEPS):
        job.spend("compute", STEP)
        open_files(thread, START / STEPS, "/data", 4)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        document = summary_of(folder)
    (found,) = (finding for finding in document["findings"] if finding["id"] == "start-up")
    assert found["evidence"].endswith("all of it is open()"), found


def names_cannot_write_to_the_terminal():
    job = Job(1)
    job.ranks[0].main.region("read\x1b[31m\nmesh", "app", START)
    job.ranks[0].main.region("setup", "app", 0.1)
    check_cause(job, "region", "read\\u001b[31m\\u000amesh", 1, "'read\\u001b[31m\\u000amesh'", "in parallel")


def mpi_init_is_named():
    job = Job(2)
    for rank in job.ranks:
        rank.main.region("MPI_Init", "MPI", START)
    check_cause(job, "region", "MPI_Init", 1, "'MPI_Init'", "look at how MPI starts")


def time_of_which_nothing_is_known_is_called_so():
    job = Job(2)
    for rank in job.ranks:
        rank.main.idle(START)
        rank.main.region("setup", "app", 0.1)
    check_cause(job, "outside", None, 1, "in no region and no call", "annotate what the program does before its loop")


def several_things_are_no_cause():
    job = Job(2)
    for rank in job.ranks:
        rank.main.region("read_mesh", "app", 0.78 * START)
        open_files(rank.main, 0.22 * START, "/scratch/mesh")
        rank.main.region("setup", "app", 0.1)
    check_cause(job, None, None, 0, None, "load and set up in parallel")


def a_call_of_the_loop_is_no_cause():
    """Most of all calls are open(), but before the loop only half of them are."""
    job = Job(1)
    thread = job.ranks[0].main
    open_files(thread, START / 2, "/scratch/mesh")
    for number in range(100):
        thread.call("stat", START / 200, f"/scratch/mesh/part{number}")
    thread.region("setup", "app", 0.1)
    for _ in range(STEPS):
        job.spend("compute", STEP)
        open_files(thread, 200, "/scratch/mesh", 4)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        document = summary_of(folder)
    (found,) = (finding for finding in document["findings"] if finding["id"] == "start-up")
    assert "all of it is metadata" in found["evidence"] and "open()" not in found["evidence"], found


def a_region_that_comes_again_later_is_no_cause():
    """How much of it is before the loop is not known."""
    job = Job(1)
    thread = job.ranks[0].main
    thread.region("read_mesh", "app", 0.9 * START)
    thread.region("setup", "app", 0.1 * START)
    for number in range(STEPS):
        job.spend("compute", STEP)
        if number == STEPS / 2:
            thread.region("read_mesh", "app", STEP)
    check_cause(job, None, None, 0, None, "load and set up in parallel", loop=2 * STEPS * STEP)


def end_of(ranks, kind, ms):
    """The finding about the time after the loop."""
    job = Job(ranks)
    for _ in range(STEPS):
        job.spend("compute", STEP)
    job.spend(kind, ms)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        (found,) = (one for one in summary_of(folder)["findings"] if one["id"].startswith("tear-down"))
    return found


def the_time_after_the_loop_is_explained_as_well():
    for kind, words, what in (
        ("checkpoint", "all of it is 'capture'", "Do it, which is 'capture', in parallel"),
        ("write", "all of it is write()", "Do it in parallel"),
    ):
        found = end_of(2, kind, [START, 0])
        assert found["id"] == "tear-down" and words in found["evidence"], found
        assert found["evidence"].endswith("on rank 0, and waiting for it"), found
        assert found["advice"].startswith(what), found
        assert found["advice"].endswith("still runs: the others wait for rank 0."), found


def the_advice_about_the_time_after_the_loop_holds_for_one_process():
    found = end_of(1, "checkpoint", START)
    assert found["advice"].endswith("or while the loop still runs.") and "rank" not in found["advice"], found
    found = end_of(1, "outside", START)
    assert found["id"] == "tear-down-outside" and found["evidence"].endswith("in no region and no call"), found
    assert "--io" in found["advice"] and "parallel" not in found["advice"], found


if __name__ == "__main__":
    main(
        a_region_is_named,
        what_one_rank_does_is_named_with_the_rank,
        calls_below_a_folder_are_named,
        calls_of_one_rank_are_named_with_the_rank,
        imports_are_recognised_by_their_folder,
        files_are_not_named_if_the_loop_may_have_used_them,
        names_cannot_write_to_the_terminal,
        mpi_init_is_named,
        time_of_which_nothing_is_known_is_called_so,
        several_things_are_no_cause,
        a_call_of_the_loop_is_no_cause,
        a_region_that_comes_again_later_is_no_cause,
        the_time_after_the_loop_is_explained_as_well,
        the_advice_about_the_time_after_the_loop_holds_for_one_process,
    )
