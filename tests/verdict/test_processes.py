"""test_processes.py - several processes without ranks, such as those of a shell script: no one of them is "the job".

SPDX-License-Identifier: MIT
"""

import tempfile

from made import Job
from verdict_harness import check_form, main, summary_of

COUNT = 4


def processes(lengths, starts, read=0.5):
    """Each reads for this part of its time."""
    job = Job(1, command=("worker", "-v"))
    job.ranks, job.processes = [], []
    for ms, start in zip(lengths, starts):
        process = job.process(0, 1, "node0", start)
        for _ in range(20):
            process.main.call("read", ms * read / 20, "/data/in", ret=4 << 20)
            process.main.region("work", "app", ms * (1 - read) / 20)
        process.lines = [line for line in process.lines if '"PR"' not in line]
    return job


def document_of(job):
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        document = summary_of(folder)
    check_form(document["verdict"])
    return document


def told(verdict):
    return "\n".join(verdict["evidence"])


def times_are_sums_of_all_processes():
    for starts in ([0] * COUNT, [number * 1000 for number in range(COUNT)]):  # at once, and one after the other
        verdict = document_of(processes([1000] * COUNT, starts))["verdict"]
        assert (verdict["class"], verdict["base"], verdict["is_sure"]) == ("io", "processes", True), verdict
        assert abs(verdict["of_ns"] / 1e9 - COUNT) < 0.01 and abs(verdict["ns"] / 1e9 - COUNT / 2) < 0.01, verdict
        text = f"50 % of the time of {COUNT} processes (2.00 s of 4.00 s in all)"
        assert text in verdict["text"] and "the job" not in verdict["text"], verdict["text"]
        assert "at best" not in told(verdict), told(verdict)


def stakes_are_of_the_same():
    job = processes([1000] * COUNT, [0] * COUNT, 0)
    for process in job.processes:
        for number in range(500):
            process.main.call("stat", 2, f"/data/{number}")
    document = document_of(job)
    (found,) = (finding for finding in document["findings"] if finding["id"] == "metadata")
    assert abs(found["stake_ns"] / 1e9 - COUNT) < 0.01 and abs(found["share"] - 0.5) < 0.01, found
    assert abs(found["share"] - document["verdict"]["share"]) < 0.01, document["verdict"]


def one_that_lasts_much_longer_is_named():
    verdict = document_of(processes([1000, 1000, 1000, 1900], [0] * COUNT))["verdict"]
    assert verdict["is_sure"] and "lasts" not in told(verdict), verdict
    job = processes([1000, 1000, 1000, 5000], [0] * COUNT)
    verdict = document_of(job)["verdict"]
    line = f"Process {job.processes[-1].pid} (worker) lasts 5.00 s, the others 1.00 s on average."
    assert not verdict["is_sure"] and line in told(verdict), (line, told(verdict))


def time_in_which_none_of_them_runs_is_told():
    """Such as that of a script which sleeps."""
    verdict = document_of(processes([1000] * COUNT, [0, 1000, 4000, 5000]))["verdict"]
    assert not verdict["is_sure"], verdict
    assert "For 2.00 s of the 6.00 s from the first event to the last, none of these" in told(verdict), told(verdict)


def a_launcher_is_no_rank():
    """It has none, and waits for the ranks in a region of its own."""
    job = Job(2)
    launcher = job.process(0, 1, "node0")
    launcher.lines = [line for line in launcher.lines if '"PR"' not in line]
    launcher.main.region("wait", "launcher", 4000)
    for _ in range(30):
        job.spend("compute", 60)
        job.meet("exchange", 40)
    verdict = document_of(job)["verdict"]
    assert (verdict["class"], verdict["ranks"]) == ("communication", 2), verdict
    assert abs(verdict["share"] - 0.4) < 1e-6 and abs(verdict["of_ns"] / 1e9 - 3) < 0.01, verdict
    assert "1 process has no rank: this is only about the ranks." in told(verdict), verdict


if __name__ == "__main__":
    main(
        times_are_sums_of_all_processes,
        stakes_are_of_the_same,
        one_that_lasts_much_longer_is_named,
        time_in_which_none_of_them_runs_is_told,
        a_launcher_is_no_rank,
    )
