"""test_unusual.py - sessions, ports, teams of threads, plug-ins, and several programs one after another.
SPDX-License-Identifier: MIT
"""

import os

from mpi_harness import (
    COMMAND,
    PROGRAMS,
    by_rank,
    calls,
    expect,
    expect_equal,
    implementation,
    job,
    main,
    read_folder,
    run,
    sums,
    untraced,
    with_each,
)


def compiled(folder, mpi):
    return mpi.compile(os.path.join(folder, "program"), "unusual.c", options=("-fopenmp",))


@with_each(globals(), ["Open MPI 5", "MPICH", "the MPI ABI"])
def a_program_with_sessions_has_ranks_and_peers(folder, mpi):
    """It has no MPI_COMM_WORLD. Ranks 0 and 2, 1 and 3 are together; the higher one is rank 0 there. MPICH 4.0 can make
    communicators of all ranks only."""
    job(mpi, folder, 4, [compiled(folder, mpi), "sessions"])
    groups = {}
    for trace in read_folder(folder, small=True):
        events = calls(trace)
        expect_equal([event["name"] for event in events],
                     ["MPI_Session_init", "MPI_Comm_create_from_group", "MPI_Sendrecv", "MPI_Barrier", "MPI_Comm_free",
                      "MPI_Session_finalize"], "calls")
        (rank,) = [int(event["args"]["value"]) for event in trace.events
                   if event["name"] == "PR" and event["args"]["name"] == "rank"]
        args = events[2]["args"]
        expect_equal((args["peer"], args["source"], args["bytes"]), ((rank + 2) % 4,) * 2 + (4,), f"rank {rank}")
        groups.setdefault(args["comm"], set()).add(rank)
    expect_equal(sorted(map(sorted, groups.values())), [[0, 2], [1, 3]], "ranks of each communicator")


@with_each(globals(), ["Open MPI 4", "Open MPI 5", "the MPI ABI"])
def two_jobs_may_connect(folder, mpi):
    """MPICH's usual transport has no ports."""
    job(mpi, folder, 2, [compiled(folder, mpi), "ports"])
    for rank, events in by_rank(folder).items():
        expect_equal(sums(events)["MPI_Comm_connect" if rank else "MPI_Comm_accept"], (1, 0), f"rank {rank}")
        (exchange,) = [event["args"] for event in events if event["name"] == "MPI_Sendrecv"]
        expect_equal((exchange["bytes"], exchange["comm_size"]), (4, 1), f"rank {rank}")


@with_each(globals())
def threads_of_a_team_are_named_and_their_calls_counted(folder, mpi):
    job(mpi, folder, 2, [compiled(folder, mpi), "teams"], OMP_NUM_THREADS=4)
    for rank, events in by_rank(folder).items():
        found = {name: sums(events)[name] for name in ("MPI_Allreduce", "MPI_Irecv", "MPI_Send", "MPI_Wait")}
        expect_equal(found, dict.fromkeys(found, (200, 800)), f"rank {rank}")
    for trace in read_folder(folder, small=True):
        if not calls(trace):
            continue
        names = {event["tid"]: event["args"]["name"] for event in trace.events if event["name"] == "thread_name"}
        of_team = [names.get(event["tid"]) for event in calls(trace) if event["name"] == "MPI_Allreduce"]
        expect_equal({name: of_team.count(name) for name in ("OpenMP 1", "OpenMP 2", "OpenMP 3")},
                     dict.fromkeys(("OpenMP 1", "OpenMP 2", "OpenMP 3"), 50), f"all-reduces by thread: {names}")


@with_each(globals())
def the_tools_interface_is_left_alone(folder, mpi):
    job(mpi, folder, 1, [compiled(folder, mpi), "variables"])
    expect_equal([event["name"] for event in by_rank(folder)[0]], ["MPI_Init_thread", "MPI_Finalize"], "calls")


def check_plugin(folder, mpi, *words):
    host = os.path.join(folder, "host")
    run(["cc", "-DHOST", "-O1", os.path.join(PROGRAMS, "plugin.c"), "-o", host, "-ldl"], untraced())
    plugin = mpi.compile(os.path.join(folder, "plugin.so"), "plugin.c", options=("-shared", "-fPIC"))
    job(mpi, folder, 2, [host, *words, plugin])
    found = by_rank(folder)
    expect_equal(sorted(found), [0, 1], "ranks")
    for rank, events in found.items():
        expect_equal([event["name"] for event in events], ["MPI_Init", "MPI_Allreduce", "MPI_Finalize"], f"rank {rank}")


@with_each(globals())
def MPI_may_come_with_a_plug_in(folder, mpi):
    check_plugin(folder, mpi)


@with_each(globals(), ["MPICH 4", "MPICH", "the MPI ABI"])
def another_MPI_library_may_be_there(folder, mpi):
    """It comes first in the order of loading, and is not initialised: asking it would end the job."""
    implementation("Open MPI 4")
    check_plugin(folder, mpi, "libmpi.so.40")


@with_each(globals())
def jobs_one_after_another_in_a_traced_script(folder, mpi):
    program = compiled(folder, mpi)
    launch = " ".join(mpi.command(2, [program], {}))
    script = os.path.join(folder, "script.sh")
    with open(script, "w") as file:
        file.write(f"{launch} teams && {launch} variables\n")
    traces = os.path.join(folder, "traces")
    run([COMMAND, "run", f"--io={folder}/none", "--out", traces, "--", "sh", script], untraced())
    counts = sorted(sums(events).get("MPI_Allreduce", (0, 0))
                    for events in (calls(trace) for trace in read_folder(traces, small=True)) if events)
    expect_equal(counts, [(0, 0)] * 2 + [(200, 800)] * 2, "all-reduces of the ranks of both")
    expect("MPI_Allreduce" in run([COMMAND, "summary", traces], untraced()).stdout, "in the summary")


main(globals())
