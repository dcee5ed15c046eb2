"""test_policy.py - the limits of the policy, on made-up traces with exact times: just above and just below each.

A class is the verdict if it is the largest cost, at least 10 % and at least 5 points above the next one. It is a
warning from 10 % on, and critical from 20 % on. Compute is the verdict if no cost has 10 % and
compute has at least 90 %.
SPDX-License-Identifier: MIT
"""

import pathlib
import subprocess
import sys
import tempfile

from made import Job, solver, training
from verdict_harness import COMMAND, SOURCE, check, check_form, main, summary_of, verdict_of

sys.path.insert(0, str(SOURCE / "tests"))
from trace import read_folder

SHARES = ("compute", "communication", "checkpoint", "imbalance")

# The class and its severity -> milliseconds of a step of 100.
OF_TRAININGS = [
    ("input", "warning", {"input": 10.2, "compute": 89.8}),
    ("compute", "info", {"input": 9.8, "compute": 90.2}),
    ("none", "info", {"input": 9.8, "compute": 89.8, "outside": 0.4}),
    ("input", "warning", {"input": 19.8, "compute": 80.2}),
    ("input", "critical", {"input": 20.2, "compute": 79.8}),
    ("input", "critical", {"input": 21, "checkpoint": 15.8, "compute": 63.2}),
    ("none", "info", {"input": 21, "checkpoint": 16.2, "compute": 62.8}),
    ("checkpoint", "critical", {"input": 15.8, "checkpoint": 21, "compute": 63.2}),
    ("communication", "warning", {"input": 1, "exchange": 10.2, "compute": 88.8}),
    ("compute", "info", {"input": 0.1, "exchange": 9.7, "compute": 90.2}),
    ("none", "info", {"input": 8, "checkpoint": 8, "exchange": 8, "compute": 76}),
    ("none", "info", {"input": 1, "compute": 59, "outside": 40}),
]
# Calls come after the region: what is before the first recurring region is start-up.
OF_JOBS = [
    ("io/read", "warning", {"compute": 89.8, "read": 10.2}),
    ("compute", "info", {"compute": 90.2, "read": 9.8}),
    ("io/write", "critical", {"compute": 79.8, "write": 20.2}),
    ("io/metadata", "critical", {"compute": 60, "metadata": 40}),
    ("communication", "critical", {"compute": 45, "exchange": 30, "read": 24.8}),
    ("none", "info", {"compute": 45, "exchange": 30, "read": 25.2}),
    ("none", "info", {"compute": 60, "outside": 40}),
]
# Milliseconds of each of 100 steps, and before them -> the class. A fifth of the job, if it does not mostly compute, or
# a minute.
OF_STARTS = [
    ({"outside": 10}, 240, "none"),
    ({"outside": 10}, 260, "start-up"),
    ({"compute": 10}, 240, "compute"),
    ({"compute": 10}, 900, "compute"),
    ({"compute": 10}, 1100, "start-up"),
    ({"compute": 10}, 100, "compute"),
    ({"compute": 8, "outside": 2}, 240, "none"),
    ({"compute": 5000}, 59_000, "compute"),
    ({"compute": 5000}, 61_000, "start-up"),
]


def check_case(make, base, expected, severity, sizes, ranks):
    with tempfile.TemporaryDirectory() as folder:
        truth = make(ranks=ranks, **sizes).write(folder)
        for trace in read_folder(folder):
            assert trace.user_events()
        verdict = verdict_of(folder)
        check(verdict, truth, expected, base, shares=SHARES)
        assert verdict["severity"] == severity, verdict


def check_all(make, base, table):
    failures = []
    for ranks in (1, 2, 4):
        for expected, severity, sizes in table:
            try:
                check_case(make, base, expected, severity, sizes, ranks)
            except AssertionError as error:
                failures.append(f"{ranks} ranks, {sizes}: {error}")
    assert not failures, "\n" + "\n".join(failures)


def trainings_are_judged_by_the_limits():
    check_all(training, "training loop", OF_TRAININGS)


def jobs_are_judged_by_the_limits():
    check_all(solver, "job", OF_JOBS)


def a_short_start_is_no_verdict():
    for step, start, expected in OF_STARTS:
        for ranks in (1, 2):
            with tempfile.TemporaryDirectory() as folder:
                job = Job(ranks)
                for rank in job.ranks:
                    rank.main.region("MPI_Init", "MPI", start)
                for _ in range(100):
                    for kind, ms in step.items():
                        job.spend(kind, ms)
                    job.meet("MPI_Barrier", 0.001, "MPI")
                job.write(folder)
                document = summary_of(folder)
            verdict = document["verdict"]
            check_form(verdict)
            assert verdict["class"] == expected, (step, start, verdict)
            share = start / (start + 100 * sum(step.values()))
            found = [finding["id"] for finding in document["findings"]]
            assert ("start-up" in found) == (share > 0.1 and start >= 1000), (found, share)
            if expected == "none" and "compute" in step:
                assert ": compute 65 %, start-up 19 %" in verdict["text"], verdict["text"]


def a_tie_names_those_that_are_about_equal():
    for shares, tied, words in (
        (
            {"compute": 37, "read": 30, "exchange": 33},
            ["communication", "io"],
            "communication and I/O take about",
        ),
        ({"compute": 34, "read": 30, "exchange": 36}, [], None),
        (
            {"compute": 5, "read": 30, "exchange": 33, "checkpoint": 32},
            ["communication", "checkpoint", "io"],
            ", check",
        ),
        ({"compute": 60, "read": 9, "exchange": 8, "outside": 23}, [], "no cost stands out"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            solver(ranks=2, **shares).write(folder)
            verdict = verdict_of(folder)
        check_form(verdict)
        assert verdict["tied"] == tied, verdict
        assert (verdict["class"] == "none") == (words is not None), verdict
        assert words is None or words in verdict["text"], verdict["text"]


def who_only_hands_out_work_takes_over_none():
    """Rank 0 waits until all others are done. One of them works twice as long as the other two."""
    job = Job(4)
    for _ in range(24):
        job.spend("compute", [0, 100, 50, 50])
        job.meet("exchange", 0.001)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        verdict = verdict_of(folder)
    assert verdict["class"] == "imbalance" and verdict["worst"]["rank"] == 1, verdict
    assert abs(verdict["best_ns"] / verdict["of_ns"] - 200 / 3 / 100) < 0.01, verdict


def imbalance_has_the_same_limits():
    """Two ranks: the other one waits for the difference, so the mean of both is half of it."""
    for difference, expected in ((19.6, "compute"), (20.4, "imbalance")):
        with tempfile.TemporaryDirectory() as folder:
            truth = solver(ranks=2, compute=[100 - difference, 100], exchange=0.01).write(folder)
            if expected == "imbalance":
                check(verdict_of(folder), truth, expected, "job", shares=SHARES)
                assert verdict_of(folder)["worst"]["rank"] == 1
            else:
                assert verdict_of(folder)["class"] == expected, verdict_of(folder)


def what_takes_less_than_five_percent_is_not_mentioned():
    for share in (4.8, 30):
        with tempfile.TemporaryDirectory() as folder:
            training(input=40, checkpoint=share, compute=60 - share).write(folder)
            verdict = verdict_of(folder)
            told = "\n".join([verdict["text"], *verdict["evidence"]]).lower()
            assert ("checkpoint" in told) == (share == 30), told


def what_sticks_out_of_the_time_asked_for_does_not_count():
    """120 ms of computing and 60 ms of a read of 600 ms, a training and a job; and all of it with a later end."""
    for make, base in ((Job, "job"), (training, "training loop")):
        job = make(ranks=1) if make is Job else make(steps=1, input=0.001, compute=0.001)
        for _ in range(24):
            job.spend("compute", 5)
        job.spend("input" if make is training else "read", 600)
        job.spend("compute", 80)
        with tempfile.TemporaryDirectory() as folder:
            job.write(folder)
            for to, share in ((180, 1 / 3), (720, 5 / 6), (800, 3 / 4)):
                verdict = verdict_of(folder, "--to", f"{to}ms")
                kind = "input" if make is training else "read"
                assert abs(verdict["shares"][kind] - share) < 0.002, (to, verdict)
                assert abs(verdict["of_ns"] - to * 10**6) < 10**4 and verdict["base"] == base, (to, verdict)
                assert sum(filter(None, verdict["shares"].values())) < 1.0001, (to, verdict)
            missing = "events that began before it are missing"
            assert missing not in str(verdict["evidence"]), verdict
            assert missing in str(verdict_of(folder, "--from", "50ms", "--to", "180ms")["evidence"])


def twenty_steps_are_sure():
    for steps, is_sure in ((1, False), (2, False), (10, False), (19, False), (20, True)):
        with tempfile.TemporaryDirectory() as folder:
            truth = training(steps=steps, input=40, compute=60).write(folder)
            check(verdict_of(folder), truth, "input", "training loop", is_sure)
            assert verdict_of(folder)["steps"] == steps


def the_terminal_says_the_same_first():
    with tempfile.TemporaryDirectory() as folder:
        training(input=40, compute=60).write(folder)
        verdict = verdict_of(folder)
        done = subprocess.run([COMMAND, "summary", folder], capture_output=True, text=True, check=True)
        first = done.stdout.splitlines()[0]
        assert first == verdict["text"] and first.startswith("INPUT-BOUND: 40 % of the training loop"), done.stdout


def states_that_are_merged_give_the_same_verdict():
    """A state of each rank, such as those of nodes, merges to the digits of one run."""
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top) / "traces"
        training(ranks=4, input=[20, 20, 35, 20], compute=60, exchange=2).write(folder)
        parts = []
        for number, trace in enumerate(sorted(folder.iterdir())):
            parts.append(f"{top}/{number}.dfs")
            subprocess.run([COMMAND, "summary", "--partial", "-o", parts[-1], trace], check=True)
        whole, merged = summary_of(folder), summary_of(*parts)
        assert whole["verdict"] == merged["verdict"], (whole["verdict"], merged["verdict"])
        assert whole["findings"] == merged["findings"]
        check_form(merged["verdict"])


if __name__ == "__main__":
    main(
        trainings_are_judged_by_the_limits,
        jobs_are_judged_by_the_limits,
        a_short_start_is_no_verdict,
        a_tie_names_those_that_are_about_equal,
        who_only_hands_out_work_takes_over_none,
        imbalance_has_the_same_limits,
        what_takes_less_than_five_percent_is_not_mentioned,
        what_sticks_out_of_the_time_asked_for_does_not_count,
        twenty_steps_are_sure,
        the_terminal_says_the_same_first,
        states_that_are_merged_give_the_same_verdict,
    )
