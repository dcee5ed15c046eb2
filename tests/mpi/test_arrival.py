"""test_arrival.py - a real job in which it is known who made whom wait: dftracer summary names them.

The ranks sleep, so their order holds on a loaded machine. How long they waited is worked out from the recorded times.
SPDX-License-Identifier: MIT
"""

import collections
import json
import os

from mpi_harness import COMMAND, by_rank, expect, expect_equal, job, main, run, untraced, with_each


def meetings(ranks, names):
    """The n-th collective of a rank on a communicator meets the n-th one of the others."""
    found = collections.defaultdict(list)
    for rank, events in ranks.items():
        seen = collections.Counter()
        for event in sorted(events, key=lambda event: event["ts"]):
            if event["name"] in names:
                comm = event["args"].get("comm", 0)
                found[comm, seen[comm]].append((rank, event))
                seen[comm] += 1
    return found.values()


def waits(ranks, names):
    """How long each rank waited in collectives, and made others wait by coming last, alone; in ns."""
    waited, caused = dict.fromkeys(ranks, 0), dict.fromkeys(ranks, 0)
    completed = {(rank, event["args"][key]): event for rank, events in ranks.items() for event in events
                 for key in event["args"] if key.startswith("start_")}
    for members in meetings(ranks, names):
        came = max(event["ts"] for _, event in members)
        last = [rank for rank, event in members if event["ts"] == came]
        for rank, event in members:
            inside = completed.get((rank, event["id"]), event)
            length = 1000 * (min(came, inside["ts"] + inside["dur"]) - inside["ts"])
            if rank == last[0] or length <= 0:
                continue
            waited[rank] += length
            if len(last) == 1:
                caused[last[0]] += length
    return waited, caused


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
        expect_equal((calls[name]["last_rank"], calls[name]["meetings"]), (3, 2), f"{name}: {calls[name]}")
        before = calls[name]["before"]
        expect(before["name"] is None and before["share"] > 0.9, f"rank 3 sleeps outside of all events: {calls[name]}")
    barrier = calls["MPI_Barrier"]
    expect_equal((barrier["last_rank"], barrier["meetings"]), (2, 9), f"{barrier}")
    expect(max(ranks, key=lambda rank: ranks[rank]["caused_ns"]) == 3, f"rank 3 is the cause: {ranks}")
    expect(min(ranks, key=lambda rank: ranks[rank]["waited_ns"]) == 3, f"rank 3 waits least: {ranks}")
    late = {rank: ranks[rank]["late_sender_caused_ns"] for rank in ranks}
    expect(late[1] > 10 * max(late[0], late[2], late[3]), f"rank 1 sends late: {late}")
    everyone = found["communication"]["all"]
    expect(everyone["waited_ns"] >= everyone["caused_ns"] > 0.8 * everyone["waited_ns"], f"{everyone}")
    expect_equal(everyone["unsure_ns"], 0, "one host has one clock")
    compared = {name for name, call in calls.items() if call.get("meetings")}
    waited, caused = waits(by_rank(traces), compared)
    own = [(ranks[rank]["waited_ns"] - ranks[rank]["late_sender_ns"], ranks[rank]["caused_ns"] - late[rank])
           for rank in range(4)]
    expect_equal(own, [(waited[rank], caused[rank]) for rank in range(4)], "waited and caused, by rank")


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


OBJECTS = """
import time
from mpi4py import MPI
world = MPI.COMM_WORLD
for i in range(5):
    if world.rank == 1:
        time.sleep(0.1)
        world.send([i], 0)
    else:
        world.recv(source=1)
"""


@with_each(globals(), ["Open MPI 5", "MPICH"])
def who_waits_for_an_object_of_mpi4py_waits_for_its_sender(folder, mpi):
    """It is received by MPI_Mprobe, which waits for it, and MPI_Mrecv."""
    script, traces = os.path.join(folder, "script.py"), os.path.join(folder, "traces")
    with open(script, "w") as file:
        file.write(OBJECTS)
    job(mpi, traces, 2, [mpi.python, script])
    found = json.loads(run([COMMAND, "summary", "--json", traces], untraced()).stdout)["communication"]
    calls = {call["name"]: call for call in found["calls"]}
    expect_equal((calls["MPI_Mprobe"]["calls"], found["messages"]["matched"]), (5, 5), f"messages: {found}")
    caused = found["ranks"][1]["late_sender_caused_ns"]
    expect(caused > 0.8 * calls["MPI_Mprobe"]["time_ns"], f"rank 1 sends late: {found}")


main(globals())
