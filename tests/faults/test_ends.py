"""test_ends.py - programs that end without dft_stop: every event is there, and the end is the untraced one.

By itself where the process ends in an orderly way; else by dftracer recover, or by the next process in the folder.
SPDX-License-Identifier: MIT
"""

import os

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

EVENTS = 50000
ORDERLY = ("return", "exit", "thread", "late")


def run_same(folder, arguments, **settings):
    """Runs traced and untraced; the program must not show a difference. stderr stays empty too: nothing went wrong."""
    traced = run([program("ender"), *arguments], environment(folder, **settings))
    plain = run([program("ender"), *arguments], untraced())
    expect_equal((traced.returncode, traced.stdout, traced.stderr), (plain.returncode, plain.stdout, plain.stderr),
                 f"ender {arguments}: status, stdout, stderr")


def check_trace(trace, is_recovered):
    expect_once_each(trace.values("step", "n"), EVENTS, trace.path)
    (around,) = trace.named("around")
    expect_equal((around["args"]["open"], around["args"]["state"]), (1, "not ended"), f"{trace.path}: {around}")
    expect(all("open" not in event["args"] for event in trace.named("step")), f"{trace.path}: ended regions with open")
    expect_equal(trace.end["args"].get("recovered"), 1 if is_recovered else None, trace.path)
    expect("num_dropped" not in trace.end["args"], trace.end)


def check_end(folder, manner):
    run_same(folder, [manner])
    if manner not in ORDERLY:
        expect_equal(read_folder(folder), [], "published too early")
        recover(folder)
    (trace,) = read_folder(folder)
    check_trace(trace, manner not in ORDERLY)
    expect_equal(len(trace.named("late")), 1 if manner == "late" else 0, "the event after main ended")
    expect_equal(waiting(folder), [], "left over")
    recover(folder)
    expect_equal(len(os.listdir(folder)), 1, "files after a second recovery")


def case_return_from_main(folder):
    check_end(folder, "return")


def case_exit(folder):
    check_end(folder, "exit")


def case_exit_by_another_thread(folder):
    check_end(folder, "thread")


def case_main_thread_ends_before_the_others(folder):
    check_end(folder, "late")


def case_immediate_exit(folder):
    check_end(folder, "_exit")


def case_quick_exit(folder):
    check_end(folder, "quick_exit")


def case_abort(folder):
    check_end(folder, "abort")


def case_sigterm(folder):
    check_end(folder, "term")


def case_sigsegv(folder):
    check_end(folder, "segv")


def case_sigkill(folder):
    check_end(folder, "kill")


def case_exec_of_a_program_that_records_nothing(folder):
    run_same(folder, ["exec", "/bin/sh", "-c", "echo from the next image; exit 7"])
    recover(folder)
    (trace,) = read_folder(folder)
    check_trace(trace, True)


def check_images(trace, images, is_recovered):
    """One trace of all images of a process: each recorded the same events, and none of them ended its outer region."""
    expect_equal(sorted(trace.values("step", "n")), sorted(images * list(range(1, EVENTS + 1))), trace.path)
    expect_equal(trace.values("around", "open"), images * [1], f"{trace.path}: open regions")
    expect_equal(trace.end["args"].get("recovered"), 1 if is_recovered else None, trace.path)


def case_exec_of_a_traced_program(folder):
    run_same(folder, ["exec", program("ender"), "exec", program("ender"), "exit"])
    (trace,) = read_folder(folder)
    check_images(trace, 3, False)
    expect_equal(waiting(folder), [], "left over")


def case_exec_of_a_program_that_is_killed(folder):
    run_same(folder, ["exec", program("ender"), "kill"])
    recover(folder)
    (trace,) = read_folder(folder)
    check_images(trace, 2, True)


def case_exec_keeps_an_explicit_name(folder):
    run_same(folder, ["exec", program("ender"), "exit"], LOG_FILE=f"{folder}/named.pfw")
    (trace,) = read_folder(folder)
    expect_equal(os.path.basename(trace.path), "named.pfw.gz", "the file")
    check_images(trace, 2, False)


def case_exec_with_other_settings_is_another_trace(folder):
    run_same(folder, ["exec", "/usr/bin/env", "DFTRACER_COMPRESSION_LEVEL=3", program("ender"), "exit"])
    first, second = sorted(read_folder(folder), key=lambda trace: -trace.end["args"].get("recovered", 0))
    check_trace(first, True)
    check_trace(second, False)
    expect_equal(first.pid, second.pid, "exec keeps the pid")
    expect_equal(waiting(folder), [], "left over")


def case_the_next_process_publishes(folder):
    run_same(folder, ["kill"])
    run_same(folder, ["_exit"])
    run_same(folder, ["return"])
    traces = read_folder(folder)
    recovered = [trace.end["args"].get("recovered", 0) for trace in traces]
    expect_equal(sorted(recovered), [0, 1, 1], "published by the third process")
    for trace in traces:
        check_trace(trace, "recovered" in trace.end["args"])
    expect_equal(waiting(folder), [], "left over")


def case_plain_text_and_small_spool(folder):
    run_same(folder, ["abort"], TRACE_COMPRESSION=0, SPOOL_LIMIT="1M")
    recover(folder)
    (trace,) = read_folder(folder)
    check_trace(trace, True)


def case_without_metadata(folder):
    run_same(folder, ["kill"], INC_METADATA=0)
    recover(folder)
    (trace,) = read_folder(folder)
    check_trace(trace, True)


main(globals())
