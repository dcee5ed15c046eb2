"""test_fork.py - forked children record into files of their own; nothing comes twice, the parent's file is complete.
SPDX-License-Identifier: MIT
"""

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
    waiting,
)

INSIDE = 20
AFTER = 500
THREAD_EVENTS = 60000


def fork(folder, way, leave="", **settings):
    """Runs forker and returns the parent's trace, its number of events, and the children's traces."""
    done = run([program("forker"), way, leave], environment(folder, **settings))
    expect_equal((done.returncode, done.stderr), (0, ""), f"forker {way} {leave}")
    recover(folder)
    expect_equal(waiting(folder), [], "left over")
    pid, events, *children = map(int, done.stdout.split())
    traces = {trace.pid: trace for trace in read_folder(folder, dangling=True)}
    expect_equal(sorted(traces), sorted([pid, *children]), "one file a process")
    return traces.pop(pid), events, list(traces.values())


def check(parent, events, children, around=False, interrupted=0, with_after=True):
    """interrupted: so many events of the parent's may be finished by a child that was made in the middle of them."""
    expect_once_each(parent.values("main", "n"), events, parent.path)
    expect_equal([parent.named("inside"), parent.named("after")], [[], []], f"{parent.path}: events of children")
    if around:
        (region,) = parent.named("around")
        expect("open" not in region["args"], f"{parent.path}: {region}")
    for child in children:
        expect_once_each(child.values("inside", "n"), INSIDE, child.path)
        expect_once_each(child.values("after", "n"), AFTER if with_after else 0, child.path)
        strange = len(child.named("main")) + len(child.named("thread")) + len(child.named("around"))
        expect(strange <= interrupted, f"{child.path}: {strange} events of the parent")
        expect("num_dropped" not in child.end["args"], child.end)


def case_plain(folder):
    check(*fork(folder, "plain"), around=True)


def case_an_explicit_name_is_the_parents(folder):
    parent, events, children = fork(folder, "plain", LOG_FILE=f"{folder}/named.pfw", TRACE_COMPRESSION=0)
    check(parent, events, children, around=True)
    expect_equal(parent.path, f"{folder}/named.pfw", "the parent's name")
    expect_equal(children[0].path, f"{folder}/named-{children[0].pid}.pfw", "the child's name")


def case_without_the_librarys_fork(folder):
    check(*fork(folder, "plain-raw"), around=True)


def case_before_the_first_event(folder):
    check(*fork(folder, "before"))


def case_start_after_fork(folder):
    check(*fork(folder, "before-start"))


def case_stop_and_start_in_the_child(folder):
    check(*fork(folder, "restart"))


def check_threads(folder, way):
    parent, events, children = fork(folder, way)
    check(parent, events, children)
    expect_once_each(parent.values("thread", "n"), THREAD_EVENTS, parent.path)


def case_from_several_threads(folder):
    check_threads(folder, "threads")


def case_from_several_threads_without_the_librarys_fork(folder):
    check_threads(folder, "threads-raw")


def case_in_a_signal_handler(folder):
    check(*fork(folder, "handler"), with_after=False)


def case_in_a_signal_handler_and_return_from_it(folder):
    check(*fork(folder, "handler", "return"), interrupted=1)


def case_in_a_signal_handler_while_the_spool_is_full(folder):
    check(*fork(folder, "handler", "return", SPOOL_LIMIT="1M"), interrupted=1)


def case_in_a_signal_handler_without_the_librarys_fork(folder):
    check(*fork(folder, "handler-raw"), with_after=False)


main(globals())
