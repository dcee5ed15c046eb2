"""test_languages.py - Fortran through mpif.h, use mpi and use mpi_f08, and Python through mpi4py.
SPDX-License-Identifier: MIT
"""

import os

from mpi_harness import (
    PROGRAMS,
    by_rank,
    calls,
    expect_equal,
    job,
    main,
    read_folder,
    run,
    sums,
    untraced,
    with_each,
)
from test_calls import run_and_compare

RANKS = 3
WITH_FORTRAN = ["Open MPI 4", "MPICH 4"]
FORTRAN = {  # calls and bytes on each rank
    "MPI_Init": (1, 0),
    "MPI_Allreduce": (2, 8 + 24),
    "MPI_Isend": (1, 4),
    "MPI_Irecv": (1, 4),
    "MPI_Waitall": (1, 8),
    "MPI_Gather": (1, 4),
    "MPI_Send": (1, 0),  # to MPI_PROC_NULL
    "MPI_Recv": (1, 0),
    "MPI_Comm_split": (1, 0),
    "MPI_Bcast": (1, 24),
    "MPI_Comm_free": (1, 0),
    "MPI_Finalize": (1, 0),
}
# Large counts where the library has them, so both names are possible.
PYTHON = {
    "MPI_Init_thread": (1, 0),
    "MPI_Allreduce": (2, 80 + 4),
    "MPI_Sendrecv": (1, 16),
    "MPI_Barrier": (1, 0),
    "MPI_Comm_split": (1, 0),
    "MPI_Comm_free": (1, 0),
    "MPI_Finalize": (1, 0),
}
SCRIPT = """
import array
from mpi4py import MPI
world = MPI.COMM_WORLD
ten, got = array.array("d", [1] * 10), array.array("d", [0] * 10)
world.Allreduce(ten, got)
right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
world.Sendrecv(ten[:2], right, recvbuf=got, source=left)
world.Barrier()
half = world.Split(world.rank % 2, -world.rank)
one = array.array("i", [1])
half.Allreduce(MPI.IN_PLACE, one)
half.Free()
"""


def fortran(folder, mpi, source, *options):
    program = os.path.join(folder, "program")
    run([mpi.fortran, "-w", *options, os.path.join(PROGRAMS, source), "-o", program], untraced())
    job(mpi, folder, RANKS, [program])
    found = by_rank(folder)
    expect_equal(sorted(found), list(range(RANKS)), "ranks")
    for rank, events in found.items():
        expect_equal(sums(events), FORTRAN, f"rank {rank}")
        (send,) = [event for event in events if event["name"] == "MPI_Isend"]
        expect_equal(send["args"]["peer"], (rank + 1) % RANKS, "peer")


@with_each(globals(), WITH_FORTRAN)
def f77(folder, mpi):
    fortran(folder, mpi, "sums_f77.f", "-fallow-argument-mismatch")


@with_each(globals(), WITH_FORTRAN)
def f90(folder, mpi):
    fortran(folder, mpi, "sums_f90.f90")


@with_each(globals(), WITH_FORTRAN)
def f08(folder, mpi):
    fortran(folder, mpi, "sums_f08.f90")


@with_each(globals(), WITH_FORTRAN)
def every_kind_of_call_from_Fortran(folder, mpi):
    """With MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE of Fortran, its strings and sections of arrays, and MPI-IO."""
    source = os.path.join(PROGRAMS, "every_fortran.F90")
    for define in ("F77", "F90", "F08"):
        own = os.path.join(folder, define)
        os.mkdir(own)
        words = ["-w", "-fallow-argument-mismatch", "-ffree-line-length-none", f"-D{define}", "-J", own]
        run([mpi.fortran, *words, source, "-o", os.path.join(own, "program")], untraced())
        traces, found = run_and_compare(own, mpi, RANKS, os.path.join(own, "program"))
        path = os.path.join(own, "counted", "data")
        for trace in read_folder(traces, small=True):
            hashes = {event["args"]["value"]: event["args"]["name"] for event in trace.events if event["name"] == "FH"}
            files = {hashes[event["args"]["fhash"]] for event in calls(trace, "MPIIO")}
            expect_equal(files, {path}, f"{define}: the file of every call")
        for rank, events in found.items():
            at = {event["name"]: event["args"].get("offset") for event in events if event["cat"] == "MPIIO"}
            expect_equal((at["MPI_File_write_at"], at["MPI_File_read_at"]), (4096 + 12 * rank, 1020), "offsets")


@with_each(globals(), ["Open MPI 5", "MPICH"])
def mpi4py(folder, mpi):
    script = os.path.join(folder, "script.py")
    with open(script, "w") as file:
        file.write(SCRIPT)
    job(mpi, folder, RANKS, [mpi.python, script])
    for rank, events in by_rank(folder).items():
        plain = [event | {"name": event["name"].removesuffix("_c")} for event in events]
        expect_equal(sums(plain), PYTHON, f"rank {rank}")


FIRST = """
import os
from mpi4py import MPI
for key in [key for key in os.environ if key.startswith(("OMPI_", "PMI"))]:
    del os.environ[key]
from dftracer.python import dftracer
log = dftracer.initialize_log(f"{os.environ['OUT']}/trace-{MPI.COMM_WORLD.rank}.pfw", data_dir=os.environ["OUT"])
MPI.COMM_WORLD.Barrier()
log.finalize()
MPI.COMM_WORLD.Barrier()
"""


@with_each(globals(), ["Open MPI 5", "MPICH"])
def mpi4py_may_come_first(folder, mpi):
    """The rank is that of MPI, which is asked when its calls are bound."""
    script = os.path.join(folder, "script.py")
    with open(script, "w") as file:
        file.write(FIRST)
    env = {"DFTRACER_ENABLE": "1", "OUT": folder, "PYTHONPATH": os.environ["DFT_TEST_PYTHONPATH"]}
    run(mpi.command(RANKS, [mpi.python, script], env), untraced())
    traces = read_folder(folder, small=True)
    expect_equal(len(traces), RANKS, "traces")
    for rank, trace in enumerate(traces):
        expect_equal([event["name"] for event in calls(trace)], ["MPI_Barrier"], "calls while it was bound")
        expect_equal(trace.named("process_name")[0]["args"]["name"], f"Rank {rank}", "rank")


main(globals())
