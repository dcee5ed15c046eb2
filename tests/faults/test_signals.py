"""test_signals.py - handlers that record, jumps out of handlers, cancelled threads: counts are exact, nothing hangs.
SPDX-License-Identifier: MIT
"""

from harness import environment, expect, expect_equal, expect_once_each, main, program, read_folder, run

JUMPS = 1000


def signal(folder, way, dangling=False, **settings):
    """The trace, and how often the program says it has recorded each name."""
    done = run([program("signaller"), way], environment(folder, **settings))
    expect_equal((done.returncode, done.stderr), (0, ""), f"signaller {way}")
    (trace,) = read_folder(folder, dangling=dangling)
    expect("num_dropped" not in trace.end["args"], trace.end)
    return trace, {name: int(count) for name, count in (line.split() for line in done.stdout.splitlines())}


def check_handlers(folder, **settings):
    trace, counts = signal(folder, "handlers", **settings)
    expect_equal(len(trace.named("plain")), counts["plain"], "events of threads")
    expect_equal(len(trace.named("around")), counts["plain"], "regions around them")
    for name in ("handler", "named handler", "instant"):
        expect_equal(len(trace.named(name)), counts["handler"], f"{name} of handlers")
    names = {event["id"]: event["name"] for event in trace.events}
    for event in trace.named("plain"):
        expect_equal(names[event["args"]["p_idx"]], "around", f"the parent of {event}")
    for event in trace.named("instant"):
        expect_equal(names[event["args"]["p_idx"]], "named handler", f"the parent of {event}")


def case_handlers_record(folder):
    check_handlers(folder)


def case_handlers_record_while_the_spool_is_full(folder):
    check_handlers(folder, SPOOL_LIMIT="1M")


def check_jumps(folder, **settings):
    # The record of the region around may be the one that a jump has left.
    trace, counts = signal(folder, "jumps", dangling=True, **settings)
    plain = [event for event in trace.named("plain") if "open" not in event["args"]]
    least = counts["plain"]
    expect(least <= len(plain) <= least + JUMPS, f"{len(plain)} of {least}, and at most one more for each jump")
    expect_once_each(trace.values("later", "n"), counts["later"], trace.path)


def case_jumps_out_of_handlers(folder):
    check_jumps(folder)


def case_jumps_out_of_handlers_while_the_spool_is_full(folder):
    check_jumps(folder, SPOOL_LIMIT="1M")


def case_jumps_out_of_calls_that_keep_facts(folder):
    trace, _ = signal(folder, "facts", dangling=True)
    facts = {key: value for event in trace.events for key, value in event["args"].items() if key.startswith("app.")}
    expect_equal(facts.get("app.last"), 1, "the fact of another thread")


def case_cancelled_threads(folder):
    trace, counts = signal(folder, "cancel")
    expect_equal(len(trace.named("plain")), counts["plain"], "events of cancelled threads")
    expect_equal(len(trace.named("around")), counts["plain"], "regions around them")


main(globals())
