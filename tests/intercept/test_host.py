"""test_host.py - a program under the preload library is unchanged, and what its calls did survives whatever ends it.
SPDX-License-Identifier: MIT
"""

import os
import re
import signal
import struct
import subprocess
import time

from io_harness import (
    LIBRARY,
    SOURCE,
    Skip,
    events_by_path,
    expect,
    expect_equal,
    main,
    read_folder,
    recover,
    run,
    traced,
    untraced,
    waiting,
)
from witness import traced_bytes

THREADS = 4


def compiled(folder):
    program = os.path.join(folder, "host")
    subprocess.run(
        ["cc", "-O1", "-w", f"{SOURCE}/tests/intercept/programs/host.c", "-o", program, "-pthread"], check=True
    )
    os.mkdir(os.path.join(folder, "data"))
    os.mkdir(os.path.join(folder, "traces"))
    return program, os.path.join(folder, "data"), os.path.join(folder, "traces")


def both(folder, way, **settings):
    """Runs untraced and traced: the same status and output. Returns what it told on stderr, and its traces."""
    program, data, traces = compiled(folder)
    plain = run([program, way, data], untraced())
    for name in os.listdir(data):
        os.unlink(os.path.join(data, name))
    ours = run([program, way, data], traced(traces, **{"DATA_DIR": data} | settings))
    expect_equal((ours.returncode, ours.stdout), (plain.returncode, plain.stdout), "status and output")
    recover(traces)
    expect_equal(waiting(traces), [], "everything is published")
    return dict(line.split() for line in ours.stderr.splitlines()), read_folder(traces)


def calls(traces, name, call):
    """How many of a call on the file of that name."""
    return sum(
        event["name"] == call
        for trace in traces
        for path, events in events_by_path(trace).items()
        if os.path.basename(path) == name
        for event in events
    )


def case_signal_handlers(folder):
    told, traces = both(folder, "signals")
    expect_equal(calls(traces, "handler", "write"), int(told["handler"]), "writes of the handler")
    expect_equal(calls(traces, "main", "pwrite"), int(told["main"]), "writes of the program")


def case_jumps_out_of_handlers(folder):
    """A call that a jump leaves has not returned, and may be there or not."""
    told, traces = both(folder, "jumps")
    found = calls(traces, "main", "pwrite")
    expect(int(told["main"]) <= found <= int(told["main"]) + 300, f"{found} writes, {told['main']} returned")


def case_cancelled_threads_and_small_stacks(folder):
    told, traces = both(folder, "cancel")
    expect_equal(calls(traces, "small", "pwrite"), int(told["small"]), "writes that returned")


def case_numbers_of_descriptors(folder):
    both(folder, "numbers", DATA_DIR="all")


def case_images(folder):
    told, traces = both(folder, "images")
    expect_equal(told, {}, "stderr")
    sums = {os.path.basename(path): count for (path, way), count in traced_bytes(traces).items() if way == "written"}
    expect_equal(sums, {"before": 5, "leaf": 16}, "bytes")
    failed = [
        event["args"].get("errno") for trace in traces for event in trace.named("execv") if "errno" in event["args"]
    ]
    expect_equal(failed, [2, 2], "what failed in the children of fork")
    replaced = [event for trace in traces for event in trace.named("execv") if event["args"].get("open")]
    expect(len(replaced) >= 1, "the image that was replaced was in execv")


def case_abort(folder):
    _, traces = both(folder, "abort")
    expect_equal(calls(traces, "leaf", "write"), 1, "the write before")


def case_exit_without_ceremony(folder):
    _, traces = both(folder, "_exit")
    expect_equal(calls(traces, "leaf", "write"), 1, "the write before")


def libraries(folder, *command):
    """Our libraries, and those that compress, that a traced program looks for: name, and whether it was there."""
    logs, traces, out = (os.path.join(folder, name) for name in ("straces", "traces", "out"))
    os.mkdir(traces)
    os.mkdir(logs)
    preload = traced(traces)
    # -ff: a file for each thread. In a file they share, a call is cut in two where another thread's comes between.
    strace = ["strace", "-f", "-ff", "--seccomp-bpf", "-qq", "-s", "4096", "-e", "trace=openat,newfstatat,stat"]
    strace += ["-o", f"{logs}/strace"]
    with open(out, "wb") as file:
        subprocess.run(
            [*strace, "-E", f"LD_PRELOAD={preload.pop('LD_PRELOAD')}", *command], env=preload, stdout=file, check=True
        )
    expect_equal(len(read_folder(traces)), 1, "it is traced")
    found = []
    for name in sorted(os.listdir(logs)):
        with open(os.path.join(logs, name), encoding="utf-8") as lines:
            found += [re.search(r'"([^"]*/(?:lib(?:dftracer|isal|z|deflate)[^"/]*))".* = (-?)', line) for line in lines]
    return [(os.path.basename(one[1]), one[2] == "") for one in found if one]


def case_a_short_process_looks_for_two_libraries(folder):
    found = [one for one in libraries(folder, "cat", "/etc/passwd") if not one[0].startswith(("libz", "libdeflate"))]
    expect_equal(found, [("libdftracer_preload.so", True), ("libdftracer_core.so.5", True)], "libraries")


def case_a_long_process_compresses_by_the_fast_library(folder):
    with open(LIBRARY, "rb") as file:
        if b"libisal.so" not in file.read():
            raise Skip("another library compresses, and is linked")
    data = os.path.join(folder, "data")
    found = libraries(folder, "dd", "if=/dev/zero", f"of={data}", "bs=1", "count=100000", "status=none")
    expect(("libisal.so.2", True) in found, f"{found}")


def case_killed_at_any_moment(folder):
    program, data, traces = compiled(folder)
    for number in range(4):
        env = traced(os.path.join(traces, str(number)), DATA_DIR=data)
        os.mkdir(os.path.join(traces, str(number)))
        process = subprocess.Popen([program, "kill", data], env=env)
        time.sleep(0.05 + 0.03 * number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        recover(os.path.join(traces, str(number)))
        found = read_folder(os.path.join(traces, str(number)), dangling=True)
        with open(os.path.join(folder, "counts"), "rb") as file:
            page = file.read()
        for thread in range(THREADS if found else 0):
            (done,) = struct.unpack_from("q", page, thread * 128)
            recorded = calls(found, f"thread{thread}", "pwrite")
            expect(done <= recorded <= done + 1, f"thread {thread}: {recorded} of {done}")
        os.unlink(os.path.join(folder, "counts"))


main(globals())
