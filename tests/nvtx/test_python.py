"""test_python.py - a Python program with the package nvtx, and the options of the command.
SPDX-License-Identifier: MIT
"""

import os
import shutil

from nvtx_harness import (
    COMMAND,
    LIBRARY,
    PROGRAMS,
    PYTHON,
    Skip,
    expect,
    expect_equal,
    main,
    only_trace,
    own_args,
    run,
    tally,
    traced,
    traces_of,
    untraced,
)

PROGRAM = os.path.join(PROGRAMS, "annotated.py")
LOOP = {("solver", "step"): 10, ("solver", "exchange"): 10, ("solver", "halo"): 10, ("NVTX", "update"): 10}


def python(*words):
    if not os.path.exists(PYTHON):
        raise Skip(f"{PYTHON} is not there; ./dev test nvtx installs it")
    return [PYTHON, PROGRAM, *words]


def twice_and_more(loop):
    return {**{key: 2 * count for key, count in loop.items()}, ("writer", "checkpoint"): 1, ("quick", "ready made"): 5}


def case_a_program_of_two_threads(folder):
    traced(folder, python())
    trace = only_trace(folder)
    expect_equal(tally(trace), twice_and_more(LOOP), "events")
    steps = {event["id"]: event for event in trace.named("step")}
    for event in trace.named("exchange") + trace.named("update"):
        expect_equal(steps[event["args"]["p_idx"]]["tid"], event["tid"], "thread of the parent")
    expect_equal([own_args(event) for event in trace.named("step")], 20 * [{"category": "time loop"}], "categories")
    expect_equal(sorted(trace.values("exchange", "payload")), list(range(20)), "payloads")
    expect_equal(sorted(trace.values("halo", "payload")), [number / 2 for number in range(20)], "payloads of marks")
    expect_equal({own_args(event)["payload"] for event in trace.named("ready made")}, {1.5}, "ready made")
    (checkpoint,) = trace.named("checkpoint")
    for event in steps.values():
        expect(checkpoint["ts"] <= event["ts"] <= checkpoint["ts"] + checkpoint["dur"], "steps are in the checkpoint")
    expect_equal(trace.end["args"]["unmatched_ends"], 1, "pops without a push")


def case_a_forked_child(folder):
    traced(folder, python("fork"))
    child, parent = sorted(traces_of(folder), key=lambda trace: len(trace.named("step")))
    expect_equal(tally(parent), twice_and_more(LOOP), "parent")
    expect_equal(tally(child), LOOP, "child")
    expect_equal(sorted(child.values("exchange", "payload")), list(range(20, 30)), "payloads of the child")


def case_another_tool_stays(folder):
    """Without NVTX in the program: only the command is looked at."""
    other = {"NVTX_INJECTION64_PATH": "/opt/profiler.so"}
    words = [COMMAND, "run", "-q", "--nvtx", "--out", folder, "--", "printenv", "NVTX_INJECTION64_PATH"]
    done = run(words, untraced() | other)
    expect_equal(done.stdout, "/opt/profiler.so\n", "the library")
    expect("--nvtx has no effect: NVTX_INJECTION64_PATH is set to /opt/profiler.so" in done.stderr, done.stderr)
    expect_equal(run(words, untraced() | other | {"PMI_RANK": "1", "PMI_SIZE": "2"}).stderr, "", "of rank 1")
    for own in ({}, {"NVTX_INJECTION64_PATH": LIBRARY}, {"NVTX_INJECTION64_PATH": ""}):
        done = run(words, untraced() | own)
        expect_equal((done.stdout, done.stderr), (f"{LIBRARY}\n", ""), f"with {own}")
    words.remove("--nvtx")
    expect_equal(run(words, untraced()).stdout, "", "without the option")


def case_a_program_without_ranges(folder):
    words = [COMMAND, "run", "--nvtx", "--out", folder, "--", "true"]
    wanted = "dftracer: recorded no events: the program made no NVTX range or mark, and called nothing of dftracer\n"
    expect_equal(run(words, untraced()).stderr, wanted, "the line")
    words.insert(3, "--io=/nowhere")
    line = run(words, untraced()).stderr
    expect("the program made no NVTX range or mark, and no I/O call on the chosen files: /nowhere\n" in line, line)


def case_a_missing_library(folder):
    for library in ("libdftracer_core.so.5", "libdftracer_reader.so.5"):
        shutil.copy(os.path.join(os.path.dirname(LIBRARY), library), folder)
    alone = untraced() | {"LD_LIBRARY_PATH": folder}
    done = run([COMMAND, "run", "--nvtx", "--out", folder, "--", "true"], alone)
    expect(done.returncode == 125 and "--nvtx needs libdftracer_nvtx.so" in done.stderr, done)
    done = run([COMMAND, "doctor", "--nvtx"], alone)
    expect(done.returncode == 1 and "BAD   libdftracer_nvtx.so is missing" in done.stdout, done)


def case_the_doctor_knows_it(_folder):
    def doctor(*words, **variables):
        done = run([COMMAND, "doctor", *words], untraced() | variables)
        return done.returncode, done.stdout

    status, out = doctor()
    expect(status == 0 and f"ok    libdftracer_nvtx.so, for run --nvtx: {LIBRARY}" in out, out)
    status, out = doctor(NVTX_INJECTION64_PATH="/opt/profiler.so")
    expect(status == 0 and "note  NVTX ranges go to another tool: NVTX_INJECTION64_PATH is set to /opt" in out, out)
    status, out = doctor("--nvtx", NVTX_INJECTION64_PATH="/opt/profiler.so")
    expect(status == 1 and "BAD   NVTX ranges go to another tool" in out, out)
    status, out = doctor("--", "printenv")
    expect(status == 1 and "nothing is recorded without --io or --nvtx" in out, out)
    status, out = doctor("--nvtx", "--", "printenv")
    expect(status == 0 and "only its NVTX ranges will be recorded" in out, out)
    expect("traced by: dftracer run --nvtx -- printenv" in out, out)


main(globals())
