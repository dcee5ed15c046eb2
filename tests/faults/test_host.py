"""test_host.py - the traced program is unchanged: its output, status, signals, descriptors, errno, and its limits.
SPDX-License-Identifier: MIT
"""

import os
import resource
import stat

from harness import (
    environment,
    expect,
    expect_equal,
    expect_once_each,
    main,
    program,
    read_folder,
    recover,
    run,
    untraced,
    waiting,
)


def check_probe(folder, mask="", **settings):
    env = environment(folder, **settings)
    traced = run([program("probe"), mask], env, cwd=folder)
    plain = run([program("probe"), mask], untraced(), cwd=folder)
    expect_equal(plain.returncode, 17, "the untraced run")
    different = [pair for pair in zip(traced.stdout.splitlines(), plain.stdout.splitlines()) if pair[0] != pair[1]]
    expect_equal(different[:5], [], "lines of the traced and the untraced run")
    expect_equal((traced.stdout, traced.returncode), (plain.stdout, plain.returncode), "output and status")
    expect_equal(traced.stderr, "", "stderr")
    return read_folder(folder, overlap=True)


def case_probe_sees_no_difference(folder):
    traces = check_probe(folder)
    expect_equal(len(traces), 2, "traces")
    for trace in traces:
        expect_equal(stat.S_IMODE(os.stat(trace.path).st_mode), 0o640, "the umask applies to published traces")


def case_probe_sees_no_difference_with_a_full_spool(folder):
    check_probe(folder, SPOOL_LIMIT="1M")


def case_probe_sees_no_difference_with_blocked_signals(folder):
    check_probe(folder, "masked", SPOOL_LIMIT="1M")


def case_probe_sees_no_difference_with_plain_text_and_a_spool_elsewhere(folder):
    check_probe(folder, TRACE_COMPRESSION=0, SPOOL_DIR="/dev/shm")


def case_probe_sees_no_difference_when_nothing_can_be_written(folder):
    env = environment("/proc/nowhere")
    traced = run([program("probe")], env, cwd=folder)
    plain = run([program("probe")], untraced(), cwd=folder)
    expect_equal((traced.stdout, traced.returncode), (plain.stdout, plain.returncode), "output and status")
    expect_equal(traced.stderr.count("\n"), 1, f"one message: {traced.stderr}")
    expect("/proc/nowhere" in traced.stderr, f"the message names the place: {traced.stderr}")


def case_a_program_that_closes_every_descriptor(folder):
    rounds = 200
    done = run([program("closer"), str(rounds)], environment(folder))
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "closer")
    (trace,) = read_folder(folder)
    expect_once_each(trace.values("step", "n"), rounds * 500, trace.path)


def case_a_program_without_descriptors_when_it_starts(folder):
    process = os.fork()
    if process == 0:
        os.closerange(0, 64)
        os.execve(program("closer"), ["closer", "20"], environment(folder))
    expect_equal(os.waitpid(process, 0)[1], 0, "closer")
    (trace,) = read_folder(folder)
    expect_once_each(trace.values("step", "n"), 20 * 500, trace.path)


def case_traces_end_and_begin_while_threads_record(folder):
    times = 25
    for limit in ("1M", "64M"):
        inner = os.path.join(folder, limit)
        done = run([program("restarter"), inner, str(times)], environment(inner, SPOOL_LIMIT=limit))
        expect_equal((done.returncode, done.stdout), (0, ""), f"restarter: {done.stderr}")
        expect(len(read_folder(inner, dangling=True)) >= times / 2, "traces")
        expect_equal(waiting(inner), [], "left over")


def run_with_file_limit(folder, limit):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    traced = run([program("ender"), "return"], environment(folder), preexec_fn=set_limit)
    expect_equal((traced.returncode, traced.stdout), (42, ""), "no SIGXFSZ, the same status")
    return traced.stderr


def case_no_file_may_grow_to_the_size_of_a_spool(folder):
    message = run_with_file_limit(folder, 16 << 10)
    expect_equal(message.count("\n"), 1, f"one message: {message}")
    expect_equal((read_folder(folder), waiting(folder)), ([], []), "nothing is left")


def case_no_file_may_grow_to_the_size_of_the_trace(folder):
    """The spool holds what it can, and the trace too; the rest is counted."""
    message = run_with_file_limit(folder, 200 << 10)
    expect(1 <= message.count("\n") <= 3, f"messages: {message}")
    recover(folder)
    (trace,) = read_folder(folder, small=True)
    steps = len(trace.named("step"))
    expect_equal(steps + trace.end["args"].get("num_dropped", 0), 50000, "recorded and dropped events")


main(globals())
