"""test_names.py - regions that people name themselves: what a name means, and what is said if it means nothing.

SPDX-License-Identifier: MIT
"""

import subprocess
import tempfile

from made import Job
from verdict_harness import COMMAND, POINTS, check_form, main, summary_of

STEPS = 30
MANY = 4 << 20


def document_of(job, *options):
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        document = summary_of(folder, *options)
    check_form(document["verdict"])
    return document


def verdict_with(parts, ranks=1, cat="app", classes=None):
    """parts: name -> milliseconds of a step; a list has one for each rank."""
    job = Job(ranks)
    for _ in range(STEPS):
        for name, ms in parts.items():
            for rank in job.ranks:
                rank.main.region(name, cat, ms[rank.rank] if isinstance(ms, list) else ms)
    if not classes:
        return document_of(job)["verdict"]
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(classes)
        file.flush()
        return document_of(job, "--classes", file.name)["verdict"]


def told(verdict):
    return "\n".join(verdict["evidence"])


def names_that_mean_the_same_everywhere_are_known():
    for name, expected in (
        ("checkpoint", "checkpoint"),
        ("checkpoint_all", "checkpoint"),
        ("write_checkpoint", "checkpoint"),
        ("write_restart", "checkpoint"),
        ("exchange", "communication"),
        ("halo_exchange", "communication"),
        ("MPI_Allreduce", "communication"),
        ("mpi_send", "communication"),
        ("allreduce_dt", "communication"),
        ("barrier", "communication"),
        ("output", "io/write"),
        ("write_output", "io/write"),
        ("read_mesh", "io/read"),
        ("MPI_File_write_at", "io/write"),
        ("gradient_checkpoint", "compute"),
        ("output_layer", "compute"),
        ("write_barrier", "compute"),
        ("reduce_table", "compute"),
        ("exchange_correlation", "compute"),
        ("exact_exchange", "compute"),
        ("halo_finder", "compute"),
    ):
        verdict = verdict_with({"solver": 60, name: 40})
        found = verdict["class"] + (f"/{verdict['kind']}" if verdict["kind"] else "")
        assert found == expected, (name, verdict["text"])


def regions_of_io_say_what_they_do():
    for cat in ("io", "IO"):
        for name, kind in (("load_mesh", "read"), ("input", "read"), ("save_fields", "write"), ("dump", "write")):
            job = Job()
            for _ in range(STEPS):
                job.spend("compute", 60)
                job.ranks[0].main.region(name, cat, 40)
            verdict = document_of(job)["verdict"]
            assert (verdict["class"], verdict["kind"]) == ("io", kind), (cat, name, verdict["text"])
            assert abs(verdict["share"] - 0.4) < 0.01, verdict


def a_users_own_rows_come_first():
    verdict = verdict_with({"solver": 60, "exchange": 40}, classes="write app exchange\n")
    assert (verdict["class"], verdict["kind"]) == ("io", "write"), verdict
    assert verdict["cause"]["call"] == "exchange" and "All of that is 'exchange'." in told(verdict), verdict


def calls_inside_belong_to_what_the_name_says():
    job = Job(2)
    for _ in range(STEPS):
        for rank in job.ranks:
            rank.main.region("solver", "app", 60)
            with rank.main.within("checkpoint", "app"):
                rank.main.call("write", 40, f"/data/{rank.rank}", ret=MANY)
    verdict = document_of(job)["verdict"]
    assert verdict["class"] == "checkpoint" and abs(verdict["share"] - 0.4) < 0.01, verdict


def names_that_mean_nothing_count_as_compute_and_a_line_says_so():
    verdict = verdict_with({"smooth": 60, "swap": 40})
    assert verdict["class"] == "compute", verdict
    assert "count as compute, most of all 'smooth'" in told(verdict) and "--classes" in told(verdict), told(verdict)
    assert "not what limits" not in verdict["next"], verdict["next"]  # neither was recorded
    for ms, is_told in ((19, False), (21, True)):
        job = Job()
        for _ in range(STEPS):
            job.spend("compute", 100 - ms)
            job.ranks[0].main.region("swap", "app", ms)
        verdict = document_of(job)["verdict"]
        assert ("most of all 'swap'" in told(verdict)) == is_told, (ms, told(verdict))
    verdict = verdict_with({"smooth": 60, "forward": 40}, cat="compute")
    assert verdict["class"] != "compute" or "mean nothing" not in told(verdict), told(verdict)


def what_was_recorded_is_what_does_not_limit():
    job = Job(2)
    for _ in range(STEPS):
        job.spend("compute", 100)
        for rank in job.ranks:
            rank.main.call("stat", 0.1, "/data/x")
    assert "faster; I/O is not what limits this job" in document_of(job)["verdict"]["next"]
    for _ in range(STEPS):
        job.meet("MPI_Allreduce", 0.1, "MPI")
    assert "I/O and communication are not what limits this job" in document_of(job)["verdict"]["next"]


def a_slow_rank_is_named_though_no_communication_is_known():
    """The others wait in `swap`, which means nothing."""
    for ranks, slow in ((2, 0), (4, 3)):
        times = [120 if rank == slow else 60 for rank in range(ranks)]
        verdict = verdict_with({"solver": times, "swap": [125 - ms for ms in times]}, ranks)
        lost = 120 - sum(times) / ranks
        assert (verdict["class"], verdict["is_sure"]) == ("imbalance", False), verdict
        assert verdict["worst"]["rank"] == slow and f"may be waiting for rank {slow}" in verdict["text"], verdict
        assert abs(verdict["share"] - lost / 125) < 0.01, (verdict["share"], lost / 125)
        assert verdict["shares"]["imbalance"] == verdict["share"], verdict
        assert abs(verdict["shares"]["compute"] - (1 - lost / 125)) < 0.01, verdict  # the waiting is not both
        assert f"The rest: compute {100 * verdict['shares']['compute']:.0f} %" in told(verdict), told(verdict)
        assert f"Rank {slow} spends" in told(verdict) and "'solver'" in told(verdict), told(verdict)
        assert "No communication was recorded" in told(verdict), told(verdict)
        assert abs(verdict["shares"]["compute"] + verdict["share"] - 1) < 0.01, verdict["shares"]


def the_others_may_wait_outside_of_all_regions():
    """Rank 2 is in `solver` for 60 ms longer. The others wait; or they do something else for half of that time."""
    for other, expected in ((0, "imbalance"), (30, "none")):
        job = Job(4)
        for _ in range(STEPS):
            for rank in job.ranks:
                own = other if rank.rank != 2 else 0
                rank.main.region("solver", "app", 120 if rank.rank == 2 else 60)
                rank.main.region("smooth", "app", own)
                rank.main.idle((5 if rank.rank == 2 else 65) - own)
        for rank in job.ranks:
            rank.main.region("end", "app", 0.01)
        verdict = document_of(job)["verdict"]
        assert verdict["class"] == expected, (other, verdict)
        if expected == "none":
            continue
        assert not verdict["is_sure"] and verdict["worst"]["rank"] == 2, verdict
        assert "may be waiting for rank 2" in verdict["text"] and "'solver'" in told(verdict), verdict
        assert "why 'solver' takes longer on rank 2" in verdict["next"], verdict
        for name, ms in (("imbalance", 45), ("compute", 75), ("other", 5)):
            assert abs(verdict["shares"][name] - ms / 125) < 0.01, (name, verdict["shares"])


def a_difference_below_ten_percent_is_no_guess():
    verdict = verdict_with({"solver": [118, 100], "swap": [2, 20]}, 2)  # 9 of 120
    assert verdict["class"] == "compute", verdict
    verdict = verdict_with({"solver": [126, 100], "swap": [2, 28]}, 2)  # 13 of 128
    assert verdict["class"] == "imbalance", verdict


def known_communication_needs_no_guess():
    verdict = verdict_with({"solver": [120, 60], "exchange": [5, 65]}, 2)
    assert verdict["class"] == "imbalance" and verdict["is_sure"] and verdict["worst"]["rank"] == 0, verdict
    assert abs(verdict["share"] - 30 / 125) < POINTS, verdict


def calls_of_mpi_are_no_work_to_distribute():
    """Rank 1 starts late: the others wait in MPI_Init."""
    job = Job(2)
    job.ranks[0].main.region("MPI_Init", "MPI", 600)
    job.ranks[1].main.idle(500)
    job.ranks[1].main.region("MPI_Init", "MPI", 100)
    for _ in range(STEPS):
        job.spend("compute", 60)
    found = document_of(job)["findings"]
    assert "straggler" not in [finding["id"] for finding in found], found


def each_step_may_have_a_name_of_its_own():
    """That takes seconds: what would look through all names for each of them would take very long."""
    job = Job()
    for number in range(200_000):
        job.ranks[0].main.region(f"exchange_{number}", "app", 0.01)
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        command = [COMMAND, "summary", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.startswith("COMMUNICATION-BOUND: 100 % of the job (2.00 s of 2.00 s)"), done.stdout


if __name__ == "__main__":
    main(
        names_that_mean_the_same_everywhere_are_known,
        regions_of_io_say_what_they_do,
        a_users_own_rows_come_first,
        calls_inside_belong_to_what_the_name_says,
        names_that_mean_nothing_count_as_compute_and_a_line_says_so,
        what_was_recorded_is_what_does_not_limit,
        a_slow_rank_is_named_though_no_communication_is_known,
        the_others_may_wait_outside_of_all_regions,
        a_difference_below_ten_percent_is_no_guess,
        known_communication_needs_no_guess,
        calls_of_mpi_are_no_work_to_distribute,
        each_step_may_have_a_name_of_its_own,
    )
