"""test_allocator.py - handlers that interrupted malloc record, and nothing that they reach allocates memory.
SPDX-License-Identifier: MIT
"""

import os
import signal

from harness import environment, expect_equal, main, no_core_file, program, read_folder, recover, run

WAYS = ("plain", "nodefer", "masked", "stack")


def block_signal():
    no_core_file()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])


def record(folder, way, what, env):
    """How many events the program's handler has recorded."""
    prepare = block_signal if way == "masked" else no_core_file
    done = run([program("allocator"), way, what], env, cwd=folder, preexec_fn=prepare)
    expect_equal((done.returncode, done.stderr), (17, ""), f"allocator {way} {what}")
    return int(done.stdout)


def check(folder, what, preload="", children=0):
    for way in WAYS:
        inner = os.path.join(folder, way)
        os.mkdir(inner)
        env = environment(inner, SPOOL_LIMIT="1M")
        env["LD_PRELOAD"] = preload
        events = record(inner, way, what, env)
        traces = read_folder(inner)
        expect_equal([len(trace.named("event")) for trace in traces], [events] * (1 + children), f"{way}: events")


def case_the_first_event(folder):
    check(folder, "first")


def case_until_the_spool_is_full(folder):
    check(folder, "many")


def case_the_first_event_of_a_child(folder):
    check(folder, "child", children=1)


def case_the_first_event_of_a_thread_in_a_program_with_many_keys(folder):
    check(folder, "keys")


def case_calls(folder):
    check(folder, "calls", os.environ["DFT_TEST_PRELOAD"])


def case_a_dead_process_has_the_name(folder):
    """Recovering it would allocate."""
    for way in ("plain", "nodefer"):
        inner = os.path.join(folder, way)
        os.mkdir(inner)
        env = environment(inner, LOG_FILE=os.path.join(inner, "same.pfw.gz"))
        expect_equal(run([program("ender"), "kill"], env).returncode, -signal.SIGKILL, "the dead process")
        events = record(inner, way, "first", env)
        recover(inner)
        counts = sorted(len(trace.named("event")) for trace in read_folder(inner))
        expect_equal(counts, [0, events], f"{way}: events of the dead one, and of this one")


def case_a_sink_that_must_be_loaded_waits_for_a_call_outside_of_handlers(folder):
    for way in WAYS:
        inner = os.path.join(folder, way)
        os.mkdir(inner)
        env = environment(inner, SINK=program("sink_flaky.so"))
        record(inner, way, "first", env)
        expect_equal(os.listdir(inner), [], f"{way}: nothing is recorded")


main(globals())
