"""test_jobs.py - HPC jobs in C and Fortran whose work is sleeping: the verdict says what they measured themselves.

SPDX-License-Identifier: MIT
"""

from truth import measure_clearly
from verdict_harness import PROGRAMS, check, in_parallel, main, run_ranks, verdict_of

SHARES = ("communication", "imbalance", "checkpoint", "read", "write", "metadata", "start-up")
COMPUTE, EXCHANGE = "compute=solve/compute:", "comm=exchange/comm@"

# What dominates -> what each rank does, in the words of job.c. All ranks of one job do the same.
ALIKE = {
    "compute": ["20*[", f"{COMPUTE}50", f"{EXCHANGE}0.5", "]"],
    "communication": ["20*[", f"{COMPUTE}20", f"{EXCHANGE}24", "]"],
    "checkpoint": ["5*[", "4*[", f"{COMPUTE}24", f"{EXCHANGE}1", "]", "checkpoint=dump/checkpoint:80", "]"],
    "io/read": ["20*[", f"{COMPUTE}20", f"{EXCHANGE}1", "read=read/POSIX:24", "]"],
    "io/write": ["20*[", f"{COMPUTE}20", f"{EXCHANGE}1", "write=write/POSIX:24", "]"],
    "io/metadata": ["20*[", f"{COMPUTE}20", f"{EXCHANGE}1", "metadata=stat/POSIX:24", "]"],
    "none": ["20*[", f"{COMPUTE}12", f"{EXCHANGE}12", "checkpoint=dump/checkpoint:12", "read=read/POSIX:12", "]"],
}


def run(words, ranks, expected, folder, program="job", culprit=None):
    command = [PROGRAMS / program, *words]
    folder, truth = measure_clearly(lambda own: run_ranks(command, own, ranks), expected, folder, culprit)
    verdict = verdict_of(folder)
    check(verdict, truth, expected, "job", shares=SHARES)
    return verdict


def run_unequal(words, ranks, slow, region, folder, program="job"):
    verdict = run(words, ranks, "imbalance", folder, program, slow)
    assert verdict["worst"]["rank"] == slow, verdict
    told = "\n".join([verdict["text"], *verdict["evidence"]])
    assert f"rank {slow}" in told and region in told, told


def the_class_is_right_for_any_number_of_ranks():
    cases = {}
    for expected, words in ALIKE.items():
        for ranks in (1, 2, 4):
            cases[f"{expected}/{ranks}"] = (words, ranks, expected)
    in_parallel(cases, run)


def the_rank_that_computes_longer_is_named_not_those_that_wait():
    """In category solver, as people call their own regions."""
    cases = {}
    for ranks, slow in ((2, 0), (4, 2)):
        times = ",".join("48" if rank == slow else "16" for rank in range(ranks))
        words = ["20*[", f"compute=smooth/solver:{times}", "compute=restrict/solver:4", f"{EXCHANGE}0.5", "]"]
        cases[f"{slow} of {ranks}"] = (words, ranks, slow, "smooth")
    in_parallel(cases, run_unequal)


def the_same_in_fortran():
    if not (PROGRAMS / "unequal").exists():
        print("no Fortran here")
        return
    in_parallel({f"{ranks} ranks": ([], ranks, 1, "smooth", "unequal") for ranks in (2, 4)}, in_fortran)


def in_fortran(words, ranks, slow, region, program, folder):
    run_unequal(words, ranks, slow, region, folder, program)


def a_serial_start_is_no_imbalance():
    """Rank 0 sets up, and the others wait for it once; then all of them work."""
    words = ["start-up=[", "compute=setup/solver:600,0", "comm=wait/comm@0", "]"]
    words += ["20*[", f"{COMPUTE}20", f"{EXCHANGE}1", "]"]
    in_parallel({f"{ranks} ranks": (words, ranks, "start-up") for ranks in (1, 2, 4)}, run)


if __name__ == "__main__":
    main(
        the_class_is_right_for_any_number_of_ranks,
        the_rank_that_computes_longer_is_named_not_those_that_wait,
        the_same_in_fortran,
        a_serial_start_is_no_imbalance,
    )
