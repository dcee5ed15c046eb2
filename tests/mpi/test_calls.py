"""test_calls.py - every MPI call is recorded once, with the bytes that the program itself counted.
SPDX-License-Identifier: MIT
"""

import os
import re
import subprocess

from mpi_harness import SOURCE, by_rank, calls, expect, expect_equal, job, main, read_folder, sums, with_each

EVERY = ["every.c"] + [f"every_{part}.c" for part in
                       ("message", "request", "collective", "window", "communicator", "file")]
# The one that the program did not start with, those that need a second job, and the end of all jobs: test_jobs.py.
ELSEWHERE = {"MPI_Init_thread", "MPI_Abort", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Comm_accept",
             "MPI_Comm_connect", "MPI_Comm_join", "MPI_Intercomm_create_from_groups"}


def own_count(path):
    with open(path) as file:
        rows = [line.split() for line in file]
    return {name: (int(count), int(bytes_)) for name, count, bytes_ in rows}


def table():
    """The names of the table, by way of the C preprocessor."""
    path = f"{SOURCE}/c/intercept/mpi/mpicalls.inc"
    text = f'#define MPI_CALL(cat, name, rule, flow, roles) @MPI_##name@\n#include "{path}"\n'
    done = subprocess.run(["cc", "-E", "-P", "-"], input=text, capture_output=True, text=True, check=True)
    return re.findall(r"@\s*(MPI_\w+)\s*@", done.stdout)


def check_starts(events):
    """The ids that a wait has are those of the calls that began its requests, with the bytes of these."""
    known = {event["id"]: event for event in events}
    seen = 0
    for event in events:
        starts = [event["args"][key] for key in event["args"] if key.startswith("start_")]
        seen += len(starts)
        expect(set(starts) <= known.keys(), f"{event}: ids of other events")
        if 0 < event["args"].get("completed", 0) <= 8:
            began = sum(known[start]["args"].get("bytes", 0) for start in set(starts))
            expect_equal(began, event["args"]["bytes"], str(event))
    expect(seen, "no wait has an id")


def run_and_compare(folder, mpi, ranks, program, *words):
    """The program writes its own count of calls and bytes into the folder that it is given."""
    traces, counted = os.path.join(folder, "traces"), os.path.join(folder, "counted")
    os.mkdir(counted)
    job(mpi, traces, ranks, [program, counted, *words], DATA_DIR=counted)
    found = by_rank(traces)
    expect_equal(sorted(found), list(range(ranks)), "ranks with a trace")
    for rank, events in found.items():
        own, seen = own_count(os.path.join(counted, str(rank))), sums(events)
        wrong = {name: (seen.get(name), own.get(name)) for name in own.keys() | seen.keys()
                 if seen.get(name) != own.get(name)}
        expect_equal(wrong, {}, f"rank {rank}: calls and bytes, seen and counted")
        expect(not any("error" in event["args"] for event in events), "no call failed")
        check_starts(events)
        expect(not any("unmatched" in event["args"] for event in events), "every request is known")
    return traces, found


def run_every(folder, mpi, ranks, start="plain", sources=EVERY):
    program = mpi.compile(os.path.join(folder, "every"), *sources)
    return run_and_compare(folder, mpi, ranks, program, start)


@with_each(globals())
def every_call_is_recorded_once_with_its_bytes(folder, mpi):
    _, found = run_every(folder, mpi, 3)
    names = table()
    expect_equal(len(names), len(set(names)), "no name twice in the table")
    if "MPI_Send_c" in sums(found[0]):
        expect_equal(set(names) - ELSEWHERE - {event["name"] for event in found[0]}, set(), "rows that nothing called")
    idle = [event["args"] for event in found[0] if event["name"] == "MPI_Waitall" and not event["args"]["bytes"]]
    expect_equal([(args["requests"], args["completed"]) for args in idle], [(2, 0)] * 3, "persistent, and not started")
    (between,) = [event["args"] for event in found[0] if event["name"] == "MPI_Comm_disconnect"]
    expect_equal((between["comm_size"], between["remote_size"]), (1, 2), "groups of the inter-communicator")


@with_each(globals(), ["Open MPI 4", "MPICH"])
def the_same_with_five_ranks_and_Init_thread(folder, mpi):
    run_every(folder, mpi, 5, "threads")


@with_each(globals())
def files_have_paths_and_offsets_and_hold_their_posix_calls(folder, mpi):
    traces, found = run_every(folder, mpi, 3)
    path = os.path.join(folder, "counted", "data")
    for trace in read_folder(traces, small=True):
        hashes = {event["args"]["value"]: event["args"]["name"] for event in trace.events if event["name"] == "FH"}
        files = [event for event in trace.events if event["cat"] == "MPIIO"]
        expect_equal({hashes[event["args"]["fhash"]] for event in files}, {path}, "the file of every call")
        collective = {event["name"]: event["args"]["collective"] for event in files}
        for name, is_collective in collective.items():
            whole = {"open", "close", "set_size", "preallocate", "set_view", "sync", "seek_shared"}
            wanted = name[9:] in whole or "_all" in name or "_ordered" in name
            expect_equal(is_collective, int(wanted), name)
        ids = {event["id"] for event in calls(trace)}  # MPI_Wait may do what MPI_File_iwrite began
        posix = [event for event in trace.events if event["cat"] == "POSIX" and hashes[event["args"]["fhash"]] == path
                 and event["name"].startswith(("pwrite", "pread"))]
        expect(posix, "POSIX calls on the file")
        expect_equal([event["name"] for event in posix if event["args"]["p_idx"] not in ids], [], "outside MPI calls")
    for rank, events in found.items():
        offsets = [event["args"].get("offset") for event in events if event["name"] == "MPI_File_write_at"]
        expect_equal(set(offsets), {4096 + 12 * rank}, "offsets without a view")
        last = [event["args"]["offset"] for event in events if event["name"] in ("MPI_File_read_at", "MPI_File_read")]
        expect_equal(last[-2:], [1020, 1012], "offsets behind a view, in bytes of the file")


@with_each(globals())
def arguments_that_do_not_count_are_not_looked_at(folder, mpi):
    run_every(folder, mpi, 4, sources=["every.c", "insignificant.c"])


@with_each(globals())
def peers_are_world_ranks_and_communicators_have_ids(folder, mpi):
    program = mpi.compile(os.path.join(folder, "places"), "places.c")
    traces, own = os.path.join(folder, "traces"), os.path.join(folder, "own")
    os.mkdir(own)
    job(mpi, traces, 5, [program, own])
    groups = {}
    for rank, events in by_rank(traces).items():
        with open(os.path.join(own, str(rank))) as file:
            rows = [line.split() for line in file]
        for name, *pairs in rows:
            expected = {key: int(value) for key, value in zip(pairs[::2], pairs[1::2])}
            (event,) = [event for event in events if event["name"] == name]
            group = expected.pop("group")
            expect_equal({key: event["args"].get(key) for key in expected}, expected, f"rank {rank}, {name}")
            groups.setdefault(group, set()).add(event["args"]["comm"])
    expect_equal([len(ids) for ids in groups.values()], [1] * 9, f"one id for each communicator: {groups}")
    expect_equal(len(set.union(*groups.values()) - {0}), 9, f"another for each, and 0 is the world: {groups}")


main(globals())
