"""test_io.py - I/O-bound HPC jobs as made-up traces: the verdict has class, share and rank, and findings say why.

SPDX-License-Identifier: MIT
"""

import random
import tempfile

from made import Job
from verdict_harness import check, main, summary_of

KIB, MIB = 1 << 10, 1 << 20
STEPS, CALLS = 24, 100  # calls of a rank in each step
SHARES = ("compute", "read", "write", "sync", "metadata", "communication")


def job_with(ranks, call_ms, compute_ms, call):
    """call(thread, number, ms): one call of a rank. The last rank takes longer than the others for its calls."""
    job = Job(ranks)
    for step in range(STEPS):
        for rank in job.ranks:
            ms = call_ms * (1.3 if ranks > 1 and rank.rank == ranks - 1 else 1)
            rank.main.region("solve", "compute", compute_ms, "compute")  # first: what is before it is start-up
            for number in range(CALLS):
                call(rank.main, step * CALLS + number, ms)
    return job


def storm(thread, number, ms):
    path = f"/scratch/out/part{thread.process.rank}.{number // 2:05}"
    thread.call("open" if number % 2 == 0 else "close", ms, path, ret=3 if number % 2 == 0 else 0)


def random_reads(thread, number, ms):
    offset = random.Random(number).randrange(1 << 20) * 4 * KIB
    thread.call("pread", ms, "/scratch/in/field.bin", ret=4 * KIB, count=4 * KIB, offset=offset)


def large_writes(thread, number, ms):
    path = f"/scratch/out/dump{thread.process.rank}.bin"
    thread.call("write", ms, path, ret=8 * MIB, count=8 * MIB)


def library_calls(thread, number, ms):
    thread.call("fread", ms, f"/scratch/in/{thread.process.rank}.dat", ret=MIB, cat="STDIO", size=1, count=MIB)


def journal(thread, number, ms):
    """Every second call waits until the record before it is on the disk."""
    path = f"/scratch/out/journal{thread.process.rank}"
    if number % 2:
        thread.call("fsync", 1.99 * ms, path)
    else:
        thread.call("write", 0.01 * ms, path, ret=100)


def buffered(thread, number, ms):
    """The time of writing passes when the file is closed."""
    path = f"/scratch/out/part{thread.process.rank}.{number // 3:05}"
    name = ("fopen", "fwrite", "fclose")[number % 3]
    thread.call(name, 2.98 * ms if name == "fclose" else 0.01 * ms, path, ret=1000, cat="STDIO")


def rereading(thread, number, ms):
    """Closing a file that was only read, here after it was written and closed, is metadata."""
    path = f"/scratch/in/part{thread.process.rank}.{number // 100:05}"
    name = ("open", "write", "close")[number % 100] if number % 100 < 3 else ("open", "read", "close")[number % 3]
    thread.call(name, 2 * ms if number % 3 != 1 else 0.01 * ms, path, ret=1000)


# What is done -> the class, findings that must be there, findings that may not.
JOBS = {
    storm: ("io/metadata", {"metadata"}, {"small-reads", "small-writes", "open-churn"}),
    random_reads: ("io/read", {"small-reads", "random-reads"}, {"metadata", "small-writes", "unaligned-reads"}),
    large_writes: ("io/write", set(), {"small-writes", "random-writes", "redundant-writes", "metadata", "shared-file"}),
    journal: ("io/sync", {"sync"}, {"metadata", "small-writes"}),
    buffered: ("io/sync", {"sync"}, {"metadata", "open-churn"}),
    rereading: ("io/metadata", {"metadata"}, {"sync"}),
    library_calls: ("io/read", {"stdio"}, {"small-reads", "random-reads", "metadata"}),
}


def check_job(call, ranks, share):
    expected, wanted, unwanted = JOBS[call]
    with tempfile.TemporaryDirectory() as folder:
        truth = job_with(ranks, share, CALLS * (1 - share), call).write(folder)
        document = summary_of(folder)
    check(document["verdict"], truth, expected, "job", shares=SHARES)
    found = {finding["id"] for finding in document["findings"]}
    assert wanted <= found and not unwanted & found, (found, wanted)


def what_bounds_the_job_is_named_for_any_number_of_ranks():
    failures = []
    for call in JOBS:
        for ranks in (1, 2, 4):
            for share in (0.15, 0.6):
                try:
                    check_job(call, ranks, share)
                except AssertionError as error:
                    failures.append(f"{call.__name__}, {ranks} ranks, {share}: {error}")
    assert not failures, "\n" + "\n".join(failures)


def calls_below_regions_count_as_calls():
    """A region around the I/O, as people annotate it, does not make it compute."""
    with tempfile.TemporaryDirectory() as folder:
        job = Job(2)
        for rank in job.ranks:
            for step in range(STEPS):
                with rank.main.within("output", "solver"):
                    rank.main.call("write", 40, f"/scratch/{rank.rank}.{step}", ret=8 * MIB)
                rank.main.region("solve", "compute", 60, "compute")
        truth = job.write(folder)
        check(summary_of(folder)["verdict"], truth, "io/write", "job", shares=("write", "compute"))


def calls_that_overlap_on_threads_count_once():
    """Two threads of a rank read at the same time: the rank is in I/O for the time of one of them."""
    with tempfile.TemporaryDirectory() as folder:
        job = Job(1)
        (rank,) = job.ranks
        other = rank.thread()
        for step in range(STEPS):
            for thread in (rank.main, other):
                thread.call("read", 40, f"/scratch/{thread.tid}.{step}", ret=8 * MIB)
                thread.idle(60) if thread is other else thread.region("solve", "compute", 60, "compute")
        truth = job.write(folder)
        check(summary_of(folder)["verdict"], truth, "io/read", "job", shares=("read", "compute"))


def storm_of(call):
    """Half of the time is 3,000 calls: call(thread, number)."""
    job = Job(1)
    (rank,) = job.ranks
    for number in range(3000):
        rank.main.region("solve", "compute", 1)
        call(rank.main, number)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        document = summary_of(folder)
    return document, {finding["id"]: finding for finding in document["findings"]}


def calls_inside_of_a_region_are_not_all_of_it():
    """The region does its I/O in ways that are not recorded. Only the log that it writes (reads) is."""
    for cat, name, kind in (("app", "write_output", "write"), ("MPIIO", "MPI_File_read_all", "read")):
        job = Job(2)
        for rank in job.ranks:
            for _ in range(1200):
                rank.main.region("solve", "compute", 2)
                with rank.main.within(name, cat):
                    rank.main.idle(3.8)
                    rank.main.call(kind, 0.2, f"/tmp/log{rank.rank}", ret=100)
        with tempfile.TemporaryDirectory() as folder:
            job.write(folder)
            document = summary_of(folder)
        verdict = document["verdict"]
        assert (verdict["class"], verdict["kind"]) == ("io", kind) and abs(verdict["share"] - 2 / 3) < 0.01, verdict
        assert f"95 % of that is '{name}'." in verdict["evidence"], verdict["evidence"]
        (found,) = (finding for finding in document["findings"] if finding["id"] == f"small-{kind}s")
        assert abs(found["stake_ns"] - 1200 * 0.2e6) < 1e6, found


def calls_inside_of_a_start_are_not_all_of_it():
    job = Job(2)
    for rank in job.ranks:
        with rank.main.within("setup", "app"), rank.main.within("read_mesh", "app"):
            rank.main.idle(600)
            rank.main.call("read", 2, "/tmp/options", ret=100)
        for _ in range(STEPS):
            rank.main.idle(10)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        verdict = summary_of(folder)["verdict"]
    assert verdict["class"] == "start-up" and verdict["cause"]["call"] == "read_mesh", verdict


def many_small_files_beside_a_large_one_have_their_own_time():
    """A program imports 2,000 modules in 200 ms, and then reads one file for 4 s."""
    job = Job(1)
    thread = job.ranks[0].main
    for number in range(2000):
        thread.call("open", 0.05, f"/usr/lib/{number}.pyc", ret=3)
        thread.call("read", 0.05, f"/usr/lib/{number}.pyc", ret=10 * KIB)
    for _ in range(40):
        thread.call("read", 100, "/data/one.bin", ret=8 * MIB)
        thread.region("solve", "compute", 100)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        (found,) = (finding for finding in summary_of(folder)["findings"] if finding["id"] == "small-files")
    assert abs(found["stake_ns"] - 200e6) < 1e6, found


def small_writes_to_a_shared_file_are_not_compared_with_large_ones():
    for size, is_slower in ((80, False), (MIB, True)):
        job = Job(4)
        for _ in range(50):
            for rank in job.ranks:
                rank.main.region("solve", "compute", 10)
                rank.main.call("write", 1, f"/data/own{rank.rank}", ret=MIB)
                rank.main.call("write", 10, "/data/shared", ret=size)
        with tempfile.TemporaryDirectory() as folder:
            job.write(folder)
            found = [finding["id"] for finding in summary_of(folder)["findings"]]
        assert ("shared-file" in found) == is_slower, (size, found)


def a_checkpoint_that_replaces_the_last_one_is_not_redundant():
    for name, is_redundant in (("write_checkpoint", False), ("write_fields", True)):
        job = Job(1)
        thread = job.ranks[0].main
        for step in range(40):
            thread.region("solve", "compute", 20)
            if step % 4 == 3:
                with thread.within(name, "app"):
                    for block in range(20):
                        thread.call("pwrite", 2, "/data/state", ret=MIB, offset=block * MIB)
        with tempfile.TemporaryDirectory() as folder:
            job.write(folder)
            found = [finding["id"] for finding in summary_of(folder)["findings"]]
        assert ("redundant-writes" in found) == is_redundant, (name, found)


def calls_on_other_files_are_not_below_the_folder():
    """2,000 quick calls beside 1,000 slow ones: the folder of those is not where all are."""

    def call(thread, number):
        thread.call("stat", 2.8 if number % 3 == 0 else 0.1, f"{'/slow' if number % 3 == 0 else '/quick'}/{number}")

    found = storm_of(call)[1]["metadata"]["evidence"]
    assert found == "3,000 calls such as stat() move no data; most of their time goes to 1,000 files below /slow", found


def files_without_names_are_not_counted():
    """Such as those of other tracers, which record no arguments."""
    for name, rule in (("stat", "metadata"), ("fsync", "sync")):
        document, found = storm_of(lambda thread, _, call=name: thread.region(call, "POSIX", 1, ret=0))
        assert found[rule]["evidence"].startswith(f"3,000 calls such as {name}() "), found
        assert "file" not in found[rule]["evidence"] and "unknown" not in found[rule]["evidence"], found
        assert f"All of that is {name}()." in document["verdict"]["evidence"], document["verdict"]


def files_that_took_no_time_are_not_among_those_that_did():
    """Files of MPI itself, which are no advice: calls that are shorter than the unit of the trace."""

    def call(thread, number):
        thread.call("stat", 1, ("/one/x", "/other/y")[number % 2])
        thread.call("stat", 0, f"/dev/infiniband{number % 5}")

    evidence = storm_of(call)[1]["metadata"]["evidence"]
    assert evidence == "3,000 calls such as stat() move no data; most of their time goes to 2 files below /", evidence


def opens_that_fail_are_no_churn():
    """The files of a search path are not there."""
    for errno in (0, 2):
        result = {"ret": -1, "errno": errno} if errno else {"ret": 3}
        document, found = storm_of(lambda thread, number, own=result: thread.call("open", 1, f"/{number % 7}/x", **own))
        assert ("open-churn" in found) == (not errno) and ("failed-calls" in found) == bool(errno), found
        assert ("search paths" in document["verdict"]["next"]) == bool(errno), document["verdict"]


if __name__ == "__main__":
    main(
        what_bounds_the_job_is_named_for_any_number_of_ranks,
        calls_below_regions_count_as_calls,
        calls_that_overlap_on_threads_count_once,
        calls_inside_of_a_region_are_not_all_of_it,
        calls_inside_of_a_start_are_not_all_of_it,
        many_small_files_beside_a_large_one_have_their_own_time,
        small_writes_to_a_shared_file_are_not_compared_with_large_ones,
        a_checkpoint_that_replaces_the_last_one_is_not_redundant,
        calls_on_other_files_are_not_below_the_folder,
        files_without_names_are_not_counted,
        files_that_took_no_time_are_not_among_those_that_did,
        opens_that_fail_are_no_churn,
    )
