"""test_slowrank.py - one rank is three times slower in one region: the verdict names both, whatever the language.
SPDX-License-Identifier: MIT
"""

import glob
import json
import os

from mpi_harness import COMMAND, PROGRAMS, Skip, expect, expect_equal, job, main, run, untraced, with_each

SOURCE, BUILD, LIBRARY = (os.environ[f"DFT_TEST_{name}"] for name in ("SOURCE", "BUILD", "LIBRARY"))
LINKED = [LIBRARY, f"-Wl,-rpath,{os.path.dirname(LIBRARY)}"]
HEADERS = [f"-I{SOURCE}/c/include", f"-I{BUILD}/include"]


def check(folder, mpi, program, *words, ranks=4):
    traces = os.path.join(folder, "traces")
    job(mpi, traces, ranks, [program, *words])
    found = json.loads(run([COMMAND, "summary", "--json", traces], untraced()).stdout)
    verdict, rows = found["verdict"], found["communication"]["ranks"]
    expect_equal((verdict["class"], verdict["worst"]["rank"]), ("imbalance", 3), f"the verdict: {verdict}")
    expect("advance" in json.dumps(verdict["cause"]), f"its region: {verdict}")
    text = run([COMMAND, "summary", traces], untraced()).stdout.split("\n\n")[0]
    expect("rank 3" in text and "'advance'" in text, text)
    expect(verdict["worst"]["share"] > 0.9, f"it causes what the others wait: {verdict}")
    before = rows[3]["before"]
    expect(before and before["name"] == "advance" and before["share"] > 0.8, f"what it did before: {before}")
    expect_equal(min(rows, key=lambda rank: rank["mpi_ns"])["rank"], 3, f"who spends least time in MPI: {rows}")
    grouped = json.loads(run([COMMAND, "summary", "--json", "--by", "rank", traces], untraced()).stdout)["groups"]
    expect_equal(len(grouped), ranks, f"groups by rank: {grouped}")


@with_each(globals())
def in_C(folder, mpi):
    program = mpi.compile(os.path.join(folder, "slow"), "slow.c", *LINKED, options=HEADERS)
    check(folder, mpi, program)


@with_each(globals(), ["Open MPI 4"])
def between_neighbours(folder, mpi):
    """Each rank waits for those beside it: rank 0 for ranks 1 and 5, these for ranks 2 and 4, and these for rank 3."""
    program = mpi.compile(os.path.join(folder, "slow"), "slow.c", *LINKED, options=HEADERS)
    check(folder, mpi, program, "neighbours", ranks=6)


@with_each(globals(), ["Open MPI 4", "MPICH 4"])
def in_Cxx(folder, mpi):
    program = os.path.join(folder, "slow")
    compiler = mpi.compiler.replace("mpicc", "mpicxx")
    run([compiler, "-w", *HEADERS, "-x", "c++", f"{PROGRAMS}/slow.c", "-x", "none", *LINKED, "-o", program], untraced())
    check(folder, mpi, program)


@with_each(globals(), ["Open MPI 4", "MPICH 4"])
def in_Fortran(folder, mpi):
    modules = [os.path.dirname(path) for path in glob.glob(f"{BUILD}/fortran/GNU-*/libdftracer_fortran.a")]
    if not modules:
        raise Skip("the Fortran module is not built")
    program = os.path.join(folder, "slow")
    words = ["-w", f"-I{modules[0]}", f"{PROGRAMS}/slow.f90", f"{modules[0]}/libdftracer_fortran.a"]
    run([mpi.fortran, *words, *LINKED, "-o", program], untraced())
    check(folder, mpi, program)


main(globals())
