"""test_jobs.py - jobs that abort, are killed, have threads, spawn others, or have another profiling tool.
SPDX-License-Identifier: MIT
"""

import os
import time

from mpi_harness import (
    PRELOAD,
    SOURCE,
    by_rank,
    calls,
    environment,
    expect,
    expect_equal,
    implementation,
    job,
    main,
    read_folder,
    recover,
    run,
    sums,
    untraced,
    waiting,
    with_each,
)

LIBRARY = os.environ["DFT_TEST_LIBRARY"]


def compiled(folder, mpi, source="jobs.c", name="program", options=()):
    return mpi.compile(os.path.join(folder, name), source, options=("-pthread", *options))


def recover_all(folder):
    """The launcher does not wait until all ranks are dead."""
    deadline = time.monotonic() + 30
    while True:
        recover(folder)
        if not waiting(folder) or time.monotonic() > deadline:
            return
        time.sleep(0.1)


@with_each(globals())
def an_abort_and_a_kill_lose_nothing(folder, mpi):
    program = compiled(folder, mpi)
    for how in ("abort", "kill"):
        traces = os.path.join(folder, how)
        done = job(mpi, traces, 3, [program, how], expected=None)
        expect(done.returncode != 0, "the job failed")
        recover_all(traces)
        found = by_rank(traces, dangling=True)
        expect_equal(sorted(found), [0, 1, 2], "ranks with a trace")
        for rank, events in found.items():
            # A rank may have died inside the last one. It had begun it, or rank 1 would not have got so far.
            calls_made = [event["args"] for event in events if event["name"] == "MPI_Allreduce"]
            expect_equal(len(calls_made), 100, f"rank {rank}: calls")
            expect_equal([args.get("bytes") for args in calls_made[:-1]], [8] * 99, f"rank {rank}: bytes")
            expect(calls_made[-1].get("bytes") == 8 or calls_made[-1].get("open") == 1, f"rank {rank}: the last")
        aborts = sum(event["name"] == "MPI_Abort" for event in found[1])  # open, or not: MPICH's returns
        expect_equal(aborts, int(how == "abort"), "MPI_Abort of rank 1")


@with_each(globals())
def threads_are_told_apart(folder, mpi):
    done = job(mpi, folder, 2, [compiled(folder, mpi), "threads"])
    if "no threads" in done.stdout:
        return
    for events in by_rank(folder).values():
        known = {event["id"]: event for event in events}
        waits = [event for event in events if event["name"] == "MPI_Waitall"]
        expect_equal((len(waits), len({event["tid"] for event in waits})), (400, 4), "waits and their threads")
        for wait in waits:
            started = [known[wait["args"][f"start_{i}"]] for i in (1, 2)]
            expect_equal([event["tid"] for event in started], [wait["tid"]] * 2, "the thread that began the requests")
            expect_equal({event["args"]["bytes"] for event in started}, {4}, "their bytes")
            expect_equal((wait["args"]["bytes"], wait["args"].get("unmatched")), (8, None), "the wait's")


@with_each(globals())
def a_failed_call_has_its_error(folder, mpi):
    done = job(mpi, folder, 1, [compiled(folder, mpi), "errors"])
    expect("failed 1" in done.stdout, done.stdout)
    (event,) = [event for event in by_rank(folder)[0] if event["name"] == "MPI_Send"]
    expect(event["args"]["error"] > 0 and "bytes" not in event["args"], str(event))


@with_each(globals())
def a_call_that_was_left_by_a_jump_hides_no_others(folder, mpi):
    """The program's error handler jumps. What comes then lies deeper on the stack."""
    job(mpi, folder, 2, [compiled(folder, mpi), "jump"])
    for rank, events in by_rank(folder).items():
        expect_equal(sums(events).get("MPI_Allreduce"), (100, 800), f"rank {rank}")
        (left,) = [event for event in events if event["name"] == "MPI_Send"]
        expect("open" not in left["args"], f"rank {rank}: {left}")
        within = [event for event in events if event["args"]["p_idx"] == left["id"]]
        expect_equal(within, [], f"rank {rank}: calls inside of the one that was left")


@with_each(globals())
def the_stack_of_a_call_that_was_left_may_be_gone(folder, mpi):
    """As that of a coroutine whose error handler goes back to the main one."""
    job(mpi, folder, 2, [compiled(folder, mpi), "fiber"])
    for rank, events in by_rank(folder).items():
        expect_equal(sums(events).get("MPI_Allreduce"), (100, 800), f"rank {rank}")


@with_each(globals())
def a_handle_is_used_again_before_the_call_that_freed_it_returns(folder, mpi):
    program = compiled(folder, mpi)
    tool = mpi.compile(os.path.join(folder, "tool.so"), "tool.c", options=("-shared", "-fPIC"))
    traces = os.path.join(folder, "traces")
    os.mkdir(traces)
    env = environment(traces, DATA_DIR=traces) | {"LD_PRELOAD": f"{PRELOAD}:{tool}"}
    run(mpi.command(2, [program, "again"], env), untraced())
    for rank, events in by_rank(traces).items():
        ids = [event["args"]["comm"] for event in events if event["name"] == "MPI_Isend"]
        expect_equal((len(ids), len(set(ids))), (2, 1), f"rank {rank}: ids of one communicator: {ids}")


@with_each(globals(), ["Open MPI 4", "MPICH"])
def a_spawned_job_is_a_communicator_more(folder, mpi):
    job(mpi, folder, 2, [compiled(folder, mpi), "spawn"])
    ranks = by_rank(folder)
    expect_equal(sorted(ranks), [0, 1], "the children are not traced")
    for rank, events in ranks.items():
        merged = [event for event in events if event["name"] == "MPI_Allreduce"]
        expect_equal([event["args"]["comm_size"] for event in merged], [3, 3], f"rank {rank}")
        for name in ("MPI_Comm_spawn", "MPI_Comm_spawn_multiple"):
            expect_equal(sums(events).get(name), (1, 0), f"rank {rank}: {name}")


@with_each(globals())
def programs_that_call_PMPI_and_other_tools(folder, mpi):
    program = compiled(folder, mpi)
    tool = mpi.compile(os.path.join(folder, "tool.so"), "tool.c", options=("-shared", "-fPIC"))
    for how, preload in {"none": PRELOAD, "below": f"{PRELOAD}:{tool}", "above": f"{tool}:{PRELOAD}"}.items():
        traces = os.path.join(folder, how)
        env = environment(traces, DATA_DIR=traces) | {"LD_PRELOAD": preload}
        os.mkdir(traces)
        done = run(mpi.command(2, [program, "pmpi"], env), untraced())
        for events in by_rank(traces).values():
            expect_equal(sums(events)["MPI_Allreduce"], (5, 20), f"tool {how}")
        expect_equal(done.stderr.count("the tool saw 2"), 0 if how == "none" else 2, f"tool {how}: {done.stderr}")


@with_each(globals())
def MPI_may_be_initialised_before_us(folder, mpi):
    build = os.path.dirname(os.path.dirname(LIBRARY))
    options = (f"-I{SOURCE}/c/include", f"-I{build}/include", f"-Wl,-rpath,{os.path.dirname(LIBRARY)}")
    program = mpi.compile(os.path.join(folder, "late"), "late.c", LIBRARY, options=options)
    env = {"DFTRACER_ENABLE": "1"}
    run(mpi.command(2, [program, f"{folder}/trace", folder], env), untraced())
    ranks = set()
    for trace in read_folder(folder, small=True):
        expect_equal([event["name"] for event in calls(trace)], ["MPI_Allreduce"], "calls while bound")
        (around,) = trace.named("around")
        expect_equal(set(around["args"]) - {"hhash", "p_idx", "level"}, set(), "arguments of the program's own region")
        (rank,) = [event["args"]["value"] for event in trace.events
                   if event["name"] == "PR" and event["args"]["name"] == "rank"]
        ranks.add(int(rank))
    expect_equal(ranks, {0, 1}, "ranks")


@with_each(globals())
def a_second_trace_knows_nothing_of_the_handles_of_the_first(folder, mpi):
    build = os.path.dirname(os.path.dirname(LIBRARY))
    options = (f"-I{SOURCE}/c/include", f"-I{build}/include", f"-Wl,-rpath,{os.path.dirname(LIBRARY)}")
    program = mpi.compile(os.path.join(folder, "again"), "again.c", LIBRARY, options=options)
    run(mpi.command(4, [program, folder], {"DFTRACER_ENABLE": "1"}), untraced())
    traces = [trace for trace in read_folder(folder, small=True) if "/second" in trace.path]
    expect_equal(len(traces), 4, "second traces")
    for trace in traces:
        (rank,) = [int(event["args"]["value"]) for event in trace.events
                   if event["name"] == "PR" and event["args"]["name"] == "rank"]
        events = calls(trace)
        reduction, exchange, _, start, wait_kept, wait, _, _, wait_pair, *late = [event["args"] for event in events]
        expect_equal((reduction["comm_size"], exchange["peer"], exchange["source"]),
                     (4, (rank + 1) % 4, (rank + 3) % 4), f"rank {rank}: the new communicator")
        expect_equal([(args["bytes"], args.get("unmatched")) for args in (start, wait_kept, *late)], [(0, 1)] * 4,
                     f"rank {rank}: persistent requests that were made before")
        expect_equal((wait["bytes"], wait["start_1"]), (8, events[2]["id"]), f"rank {rank}: the first request")
        expect_equal((wait_pair["bytes"], wait_pair["start_1"], wait_pair["start_2"]),
                     (16, events[6]["id"], events[7]["id"]), f"rank {rank}: the last two")


def case_DISABLE_MPI_turns_it_off(folder):
    mpi = implementation("Open MPI 4")
    job(mpi, folder, 2, [compiled(folder, mpi), "abort"], expected=None, DISABLE_MPI=1, DATA_DIR="all")
    recover(folder)
    traces = read_folder(folder, small=True, dangling=True)
    expect(traces, "other calls are recorded")
    expect_equal(sum(len(calls(trace)) for trace in traces), 0, "MPI calls")


main(globals())
