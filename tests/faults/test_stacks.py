"""test_stacks.py - how much of the stack calls take, measured by painting it; docs/promises.md quotes the limits.
SPDX-License-Identifier: MIT
"""

import os

from harness import environment, expect, expect_equal, main, program, read_folder, run

EVENT_MOST = 1 << 10
OPENING_MOST = 2 << 10
STREAM_MOST = 3 << 9  # of which the C library takes 552 bytes
ASSISTING_MOST = 2 << 10


def measured(folder, way, preload="", **settings):
    """The bytes that each call has touched. The program's own binding of functions at their first call is not ours."""
    env = environment(folder, SPOOL_LIMIT="1M", **settings)
    env.update(LD_BIND_NOW="1", LD_PRELOAD=preload)
    done = run([program("shallow"), way], env, cwd=folder)
    expect_equal((done.returncode, done.stderr), (17, ""), f"shallow {way}")
    print(f"  {way}: {', '.join(done.stdout.splitlines())}")
    return {name: int(depth) for name, depth in (line.rsplit(" ", 1) for line in done.stdout.splitlines())}


def expect_at_most(depths, limits):
    deep = {name: depths[name] for name, limit in limits.items() if depths[name] > limit}
    expect(not deep, f"deeper than {limits}: {deep}")


def case_events(folder):
    depths = measured(folder, "depth")
    rare = {"first", "joining", "entities", "new function", "new lane"}
    expect_at_most(depths, dict.fromkeys(depths, OPENING_MOST))
    expect_at_most(depths, dict.fromkeys(set(depths) - rare, EVENT_MOST))


def case_calls(folder):
    preload = os.environ["DFT_TEST_PRELOAD"]
    depths = measured(folder, "depth", preload)
    expect_at_most(depths, {"calls": EVENT_MOST, "streams": STREAM_MOST, "new calls": OPENING_MOST})
    depths = measured(folder, "call", preload)
    expect_at_most(depths, {"first call": OPENING_MOST})


def case_rare_calls(folder):
    """New processes, long paths and paths with "..", and a file that left the recorded folder while it was open."""
    os.mkdir(f"{folder}/in")
    for recorded in (f"{folder}/in", "all"):
        depths = measured(folder, "rare", os.environ["DFT_TEST_PRELOAD"], DATA_DIR=recorded)
        expect_at_most(depths, dict.fromkeys(depths, OPENING_MOST))
        expect_at_most(depths, {"exec": EVENT_MOST})


def case_binding_and_recovering(folder):
    depths = measured(folder, "bind", DATA_DIR="all")
    expect_at_most(depths, dict.fromkeys(depths, OPENING_MOST))


def case_assisting_and_stopping(folder):
    for level in (0, 9):
        inner = os.path.join(folder, str(level))
        os.mkdir(inner)
        depths = measured(inner, "assisting", COMPRESSION_LEVEL=level)
        expect_at_most(depths, {"assisting": ASSISTING_MOST, "stop": EVENT_MOST})


def check_small(folder, way, *events):
    """events: of each trace."""
    done = run([program("shallow"), way], environment(folder, SPOOL_LIMIT="1M"))
    expect_equal((done.returncode, done.stderr), (17, ""), f"shallow {way}")
    expect_equal([len(trace.named("event")) for trace in read_folder(folder)], list(events), "events")


def case_the_smallest_thread_records_first(folder):
    check_small(folder, "thread", 1)


def case_the_smallest_thread_exits_and_recovers_a_dead_process(folder):
    check_small(folder, "exit", 1, 1)


def case_a_handler_on_a_small_stack_records_first(folder):
    check_small(folder, "handler", 1)


def case_small_stacks_drain_a_full_spool(folder):
    check_small(folder, "assist", 80000)


main(globals())
