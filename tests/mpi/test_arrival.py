"""test_arrival.py - a real job in which it is known who made whom wait: dftracer summary names them.

The ranks sleep, so their order holds on a loaded machine. Times are compared with each other, not with a clock.
SPDX-License-Identifier: MIT
"""

import json
import os

from mpi_harness import COMMAND, expect, expect_equal, job, main, run, untraced, with_each


@with_each(globals())
def the_summary_names_who_came_last(folder, mpi):
    program = mpi.compile(os.path.join(folder, "program"), "imbalance.c")
    traces = os.path.join(folder, "traces")
    job(mpi, traces, 4, [program, os.path.join(traces, "data")])
    found = json.loads(run([COMMAND, "summary", "--json", traces], untraced()).stdout)
    ranks = {rank["rank"]: rank for rank in found["communication"]["ranks"]}
    calls = {call["name"]: call for call in found["communication"]["calls"]}
    expect_equal(sorted(ranks), [0, 1, 2, 3], "ranks")
    for name in ("MPI_Allreduce", "MPI_Iallreduce"):
        expect_equal((calls[name]["last_rank"], calls[name]["meetings"]), (3, 5), f"{name}: {calls[name]}")
    barrier = calls["MPI_Barrier"]
    expect_equal((barrier["last_rank"], barrier["meetings"]), (2, 21), f"{barrier}")
    expect(max(ranks, key=lambda rank: ranks[rank]["caused_ns"]) == 3, f"rank 3 is the cause: {ranks}")
    expect(min(ranks, key=lambda rank: ranks[rank]["waited_ns"]) == 3, f"rank 3 waits least: {ranks}")
    late = {rank: ranks[rank]["late_sender_caused_ns"] for rank in ranks}
    expect(late[1] > 10 * max(late[0], late[2], late[3]), f"rank 1 sends late: {late}")
    everyone = found["communication"]["all"]
    # Ranks 0 and 2 may come to the barrier of all in the same microsecond: then there is no single cause of that wait.
    expect(everyone["waited_ns"] >= everyone["caused_ns"] > 0.6 * everyone["waited_ns"], f"{everyone}")
    expect_equal(everyone["unsure_ns"], 0, "one host has one clock")


@with_each(globals())
def the_matrix_and_mpi_io_are_what_the_program_did(folder, mpi):
    program = mpi.compile(os.path.join(folder, "program"), "imbalance.c")
    traces = os.path.join(folder, "traces")
    job(mpi, traces, 4, [program, os.path.join(traces, "data")])
    found = json.loads(run([COMMAND, "summary", "--json", traces], untraced()).stdout)
    pairs = found["communication"]["matrix"]["pairs"]
    pairs = {(pair["from"], pair["to"]): (pair["calls"], pair["bytes"]) for pair in pairs}
    expect_equal(pairs, {(1, 0): (10, 40), (1, 2): (10, 40)}, "messages")
    messages = found["communication"]["messages"]
    # The program ignores the status of MPI_ANY_SOURCE, so the other five between these two are not matched, either.
    expect_equal((messages["received"], messages["matched"], messages["unknown_sources"]), (15, 10, 5), "messages")
    files = {call["name"]: call for call in found["mpiio"]}
    written = files["MPI_File_write_at_all"]
    expect_equal((written["calls"], written["collective"], written["bytes"]), (4, 4, 32), "written")
    posix = [line for line in found["io"]["files"] if line["file"].endswith("/data")]
    expect_equal([line["write_bytes"] for line in posix], [32], "bytes of the file, counted once")


main(globals())
