"""test_heat.py - the solver of examples/03_heat on 4 ranks, with its I/O bound in place and by the preload library.

The traces of the ranks make one picture: who they are, what they computed, what they sent, and each I/O call inside the
region that made it.
SPDX-License-Identifier: MIT
"""

import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))

from harness import environment, expect, expect_equal, main, read_folder, run, untraced

SOURCE = Path(os.environ["DFT_TEST_SOURCE"])
BUILD = Path(os.environ["DFT_TEST_BUILD"])
NAMELIST = "&heat nx = 200, ny = 160, steps = 20, checkpoint_every = 10, folder = 'checkpoints' /\n"
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "2",
       "OMP_WAIT_POLICY": "passive"}


def built():
    """Installs, and builds the examples against that, once: where both are."""
    folder = Path(tempfile.mkdtemp(prefix="dft-heat-"))
    for command in (
        ["cmake", "--install", BUILD, "--prefix", folder / "prefix"],
        ["cmake", "-S", SOURCE / "examples", "-B", folder / "examples", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}"],
        ["cmake", "--build", folder / "examples"],
    ):
        done = run([str(word) for word in command], untraced())
        expect_equal(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        if "03_heat is left out" in done.stdout:
            print("SKIP: no Fortran compiler with OpenMP, or no MPI or HDF5 for it")
            sys.exit(77)
    return folder


def solve(folder, ranks, *options, **settings):
    """Runs the solver on that many ranks: its mean temperature, and the traces."""
    data = Path(folder, "data")
    (data / "checkpoints").mkdir(parents=True, exist_ok=True)
    (data / "heat.nml").write_text(NAMELIST)
    env = environment(folder, DATA_DIR=data, **settings) | MPI
    command = ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", *options, "-n", str(ranks),
               str(PLACE / "examples/03_heat"), "heat.nml"]
    done = run(command, env, cwd=data)
    expect_equal((done.returncode, done.stderr), (0, ""), f"{command}")
    (mean,) = re.findall(r"^mean temperature (\S+)$", done.stdout, re.MULTILINE)
    return mean, read_folder(folder)


def io_inside(trace):
    """The I/O calls inside each region, by the region's name."""
    names = {event["id"]: event["name"] for event in trace.events}
    inside = {}
    for event in trace.events:
        if event["cat"] in ("POSIX", "STDIO"):
            inside.setdefault(names.get(event["args"]["p_idx"]), set()).add(event["name"])
    return inside


def expect_picture(traces, ranks):
    who = sorted(trace.named("process_name")[0]["args"]["name"] for trace in traces)
    expect_equal(who, [f"Rank {rank}" for rank in range(ranks)], "ranks")
    for trace in traces:
        expected = {"time": 1, "time.iter": 20, "advance": 20, "rows": 40}  # annotated; the rest is intercepted
        expected |= {"MPI_Init_thread": 1, "MPI_Finalize": 1, "MPI_Sendrecv": 80, "MPI_Allreduce": 3}
        expect_equal({name: len(trace.named(name)) for name in expected}, expected, trace.path)
        # Of the four messages in a step two go to MPI_PROC_NULL: a row of 100 cells and a column of 80 are sent.
        expect_equal(sum(trace.values("MPI_Sendrecv", "bytes")), 20 * (100 + 80) * 8, "bytes sent")
        expect_equal(trace.values("time.iter", "step"), list(range(1, 21)), "steps")
        expect_equal(trace.values("checkpoint", "step"), [10, 20], "checkpoints")
        names = {event["tid"]: event["args"]["name"] for event in trace.named("thread_name")}
        workers = {event["tid"] for event in trace.named("rows")} - {trace.pid}
        expect_equal([names[tid] for tid in workers], ["OpenMP 1"], "threads that computed, besides the main thread")
        inside = io_inside(trace)
        expect({"open", "write", "close"} <= inside["checkpoint.stream"], inside)
        expect({"open", "close"} <= inside["checkpoint.hdf5"], inside)
        expect(inside["checkpoint.hdf5"] & {"write", "pwrite"}, inside)
        expect({"open", "read", "close"} <= inside["read_input"], inside)
        expect({"open", "read", "close"} <= inside["verify checkpoint"], inside)
        written = sum(event["args"]["ret"] for event in trace.named("write"))
        expect_equal(written, sum(trace.values("checkpoint.stream", "bytes")), "bytes of the stream checkpoints")


def case_one_rank_and_four_compute_the_same(folder):
    one, traces = solve(f"{folder}/one", 1, ENABLE=0)
    expect_equal(traces, [], "switched off")
    four, _ = solve(f"{folder}/four", 4)
    expect_equal(four, one, "mean temperature")


def case_four_ranks_bound_in_place(folder):
    _, traces = solve(folder, 4)
    expect_picture(traces, 4)


def case_the_summary_names_what_bounds_the_run(folder):
    """The event with the most time of its own comes first; one of the solver's, or of its I/O calls."""
    solve(folder, 4)
    done = run([str(PLACE / "prefix/bin/dftracer"), "summary", "--json", folder], untraced())
    expect_equal((done.returncode, done.stderr), (0, ""), "summary")
    table = json.loads(done.stdout)["groups"]
    own = {row["name"]: row["self_ns"] for row in table}
    expect_equal(table[0]["name"], max(own, key=own.get), "the first row")
    expect({"MPI_Sendrecv", "advance", "rows", "checkpoint.stream", "checkpoint.hdf5", "write"} <= set(own), own)


def case_all_ranks_are_one_picture(folder):
    _, traces = solve(folder, 4)
    merged = os.path.join(folder, "heat.json")
    done = run([str(PLACE / "prefix/bin/dftracer"), "merge", "--quiet", folder, "-o", merged], untraced())
    expect_equal((done.returncode, done.stderr), (0, ""), "merge")
    events = json.loads(Path(merged).read_text(encoding="utf-8"))["traceEvents"]
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    expect_equal(sorted(re.findall(r"[Rr]ank (\d)", " ".join(names))), ["0", "1", "2", "3"], "tracks")
    count = sum(len(trace.named("advance")) for trace in traces)
    expect_equal(sum(event["name"] == "advance" for event in events), count, "events in it")


def case_four_ranks_with_the_preload_library(folder):
    (preload,) = (PLACE / "prefix").rglob("libdftracer_preload.so")
    _, traces = solve(folder, 4, "-x", f"LD_PRELOAD={preload}", INIT="PRELOAD")
    expect_picture(traces, 4)


def case_a_program_without_mpi_has_its_rank_too(folder):
    """Found from the launcher's environment: nothing of ours links MPI."""
    env = environment(folder) | MPI
    done = run(["mpirun", "--oversubscribe", "-n", "2", str(PLACE / "examples/01_regions")], env)
    expect_equal((done.returncode, done.stderr), (0, ""), "01_regions")
    names = [trace.named("process_name")[0]["args"]["name"] for trace in read_folder(folder)]
    expect_equal(sorted(names), ["Rank 0", "Rank 1"], "process_name")


if __name__ == "__main__":
    PLACE = built()
    try:
        main(globals())
    finally:
        shutil.rmtree(PLACE)
