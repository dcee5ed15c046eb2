"""test_ranges.py - a C program with NVIDIA's headers: what it calls is what its trace holds.
SPDX-License-Identifier: MIT
"""

import glob
import os

from nvtx_harness import (
    CORE,
    LIBRARY,
    SOURCE,
    compile_c,
    environment,
    expect,
    expect_equal,
    headers,
    main,
    only_trace,
    own_args,
    run,
    tally,
    traced,
    traces_of,
    untraced,
)

INT64_MIN = -(2**63)
UNNAMED = "(unnamed)"
THREADS, ROUNDS, DEEP, MANY, ROOM, UNIQUE = 4, 200, 70_000, 35_000, 32_768, 70_000


def case_the_interface_is_that_of_each_version_of_the_headers(folder):
    expect(len(headers()) >= 2, headers())
    for include in headers():
        options = ("-c", f"-I{SOURCE}/c", "-Wall", "-Werror=incompatible-pointer-types")
        compile_c(folder, "abi.c", include, options)


def case_every_call_with_each_version_of_the_headers(folder):
    for number, include in enumerate(headers()):
        place = os.path.join(folder, str(number))
        os.mkdir(place)
        done = traced(place, [compile_c(place, "ranges.c", include), "every"])
        expect_equal(done.stdout, "0 1 2 0 1 | 1 0 2 1 0\n", "levels, within their domain")
        check_every(only_trace(place))


def case_every_call_with_the_library_of_NVTX_2(folder):
    (library,) = (path for include in headers() for path in glob.glob(f"{include}/../lib/libnvToolsExt.so.1"))
    place = os.path.dirname(library)
    options = ("-DWITH_NVTX_2", library, f"-Wl,-rpath,{place}")
    done = traced(folder, [compile_c(folder, "ranges.c", f"{place}/../include", options), "every"])
    expect_equal(done.stdout, "0 1 2 0 1 | 1 0 2 1 0\n", "levels, within their domain")
    check_every(only_trace(folder))


def check_every(trace):
    wanted = {
        ("NVTX", "ascii"): 1, ("NVTX", "wide é"): 1, ("NVTX", "ex"): 1, ("solver", "wïde € \U0001f600"): 1,
        ("solver", "registered"): 1, ("solver", "payload"): 6, ("NVTX", "default"): 1, ("NVTX", "mark"): 1,
        ("NVTX", "mark w"): 1, ("solver", "mark ex"): 1, ("NVTX", "first"): 1, ("NVTX", "second"): 1,
        ("solver", "third"): 1,
    }
    expect_equal(tally(trace), wanted, "events")
    nested = [trace.named(name)[0] for name in ("ascii", "wide é", "ex", "wïde € \U0001f600", "registered")]
    for outer, inner in zip(nested, nested[1:]):
        expect_equal(inner["args"]["p_idx"], outer["id"], f"{inner['name']} is in {outer['name']}")
    payloads = [own_args(event) for event in trace.named("payload")]
    expect_equal(payloads, [
        {"payload": 2**64 - 1}, {"payload": INT64_MIN, "category": "input"}, {"payload": 0.1, "category": "übergabe"},
        {"payload": 2**32 - 1, "category": 3}, {"payload": -7, "category": 4}, {"payload": 0.25, "category": 5},
    ], "payloads and categories")
    expect_equal(own_args(trace.named("default")[0]), {"category": "of the default domain"}, "default")
    expect_equal(own_args(trace.named("third")[0]), {"payload": 3}, "third")
    expect_equal(trace.named("mark")[0]["dur"], 0, "duration of a mark")
    names = [event["args"]["name"] for event in trace.named("thread_name") if event["tid"] == trace.pid]
    expect_equal(names, ["captain"], "name of the thread")
    expect_equal(trace.end["args"].get("unmatched_ends"), None, "unmatched ends")


def case_what_is_wrong_is_recorded_as_far_as_it_goes(folder):
    done = traced(folder, [compile_c(folder, "ranges.c"), "wrong"])
    expect_equal(done.stdout, "-2 0 -2\n", "pops")
    trace = only_trace(folder)
    events = trace.user_events()
    wanted = {
        ("NVTX", "ended twice"): 1, ("NVTX", UNNAMED): 4 + 9, ("NVTX", "whole"): 3, ("other", UNNAMED): 5,
        ("other", "of one"): 1, ("NVTX", "wrong domain"): 1, ("NVTX", "a string for a domain"): 1,
        ("NVTX", "no domain"): 1, ("NVTX", "outer"): 1, ("NVTX", "last"): 1,
    }
    found = {key: count for key, count in tally(trace).items() if "UTF-8" not in key[1]}
    expect_equal(found, wanted, "events")
    expect_equal(len(events), sum(wanted.values()) + 1, "events, with the one that is not UTF-8")
    cut = [own_args(event) for event in events if event["args"].get("category") == 5 or "payload" in event["args"]]
    expect_equal(cut, 4 * [{"category": 5}] + 6 * [{"category": 5, "payload": 6}], "what the sizes cover")
    expect_equal(trace.end["args"]["unmatched_ends"], 2, "pops without a push")


def case_categories_choose_among_domains(folder):
    done = traced(folder, [compile_c(folder, "ranges.c"), "every"], DFTRACER_CATEGORIES="solver")
    expect_equal(done.stdout, "0 1 2 0 1 | 1 0 2 1 0\n", "levels, of all ranges")
    wanted = {"wïde € \U0001f600": 1, "registered": 1, "payload": 6, "mark ex": 1, "third": 1}
    expect_equal(tally(only_trace(folder)), {("solver", name): count for name, count in wanted.items()}, "events")


def case_ranges_of_two_domains_overlap(folder):
    traced(folder, [compile_c(folder, "ranges.c"), "interleaved"])
    trace = only_trace(folder)  # which checks that events of a track nest
    names = [event["name"] for event in trace.user_events()]
    expect_equal(names, 100 * ["a", "b", "c"], "in the order of their ends")


def case_threads_and_ranges_that_end_on_another_one(folder):
    traced(folder, [compile_c(folder, "ranges.c"), "threads"])
    trace = only_trace(folder)
    every = list(range(THREADS * ROUNDS))
    expect_equal(sorted(trace.values("outer", "payload")), every, "pushed ranges, each once")
    expect_equal(sorted(trace.values("handed over", "payload")), every, "started ranges, each once")
    outer = {event["id"]: event for event in trace.named("outer")}
    for number in range(THREADS):
        inner = trace.named(f"inner {number}")
        expect_equal(len(inner), ROUNDS, f"ranges of thread {number}")
        parents = {outer[event["args"]["p_idx"]]["args"]["payload"] // ROUNDS for event in inner}
        expect_equal(parents, {number}, "parents")
    expect_equal(len(trace.named("open at the thread's end")), THREADS, "open ranges")


def case_a_fork(folder):
    traced(folder, [compile_c(folder, "ranges.c"), "fork"])
    child, parent = sorted(traces_of(folder), key=lambda trace: len(trace.named("before")))
    expect_equal(tally(parent), {("one", "before"): 1, ("NVTX", "started before"): 1}, "parent")
    expect_equal(tally(child), {("two", "in the child"): 1, ("NVTX", "after the pop"): 1}, "child")
    around = child.named("in the child")[0]["id"]
    expect_equal(child.named("after the pop")[0]["args"]["p_idx"], around, "the range is still open")


def case_more_ranges_than_there_is_room_for(folder):
    program = compile_c(folder, "ranges.c")
    done = traced(folder, [program, "deep"])
    expect_equal(done.stdout, "-2\n", "one pop more")
    deep = only_trace(folder)
    expect_equal(tally(deep), {("NVTX", "deep"): DEEP}, "pushed ranges")
    expect_equal([event for event in deep.named("deep") if "open" in event["args"]], [], "ranges that did not end")
    place = os.path.join(folder, "many")
    os.mkdir(place)
    traced(place, [program, "many"])
    many = only_trace(place)
    expect_equal(tally(many), {("NVTX", "many"): 2 * ROOM}, "started ranges")
    expect_equal(many.end["args"]["app.nvtx_ranges_dropped"], 2 * (MANY - ROOM), "dropped ones")


def case_more_names_than_a_trace_registers(folder):
    traced(folder, [compile_c(folder, "ranges.c"), "unique"])
    wanted = {("NVTX", f"{kind} {number}"): 1 for kind in ("pushed", "started", "mark") for number in range(UNIQUE)}
    found = tally(only_trace(folder))
    expect_equal(len(found), len(wanted), "names")
    expect(found == wanted, "names and how often")


def case_names_that_are_registered_again_take_no_memory(folder):
    done = traced(folder, [compile_c(folder, "ranges.c"), "again"])
    expect(int(done.stdout) < 2048, f"a million times took {done.stdout} KiB")


def case_together_with_annotations_and_the_preload_library(folder):
    """One core: one trace, in which each kind of event has its place."""
    build = os.path.dirname(CORE)
    options = (f"-I{SOURCE}/c/include", f"-L{build}", "-ldftracer_core", f"-Wl,-rpath,{build}")
    program = compile_c(folder, "mixed.c", options=options)
    for kind in ([], ["--io"]):
        place = os.path.join(folder, "with" + "".join(kind))
        os.mkdir(place)
        traced(place, [program], *kind)
        trace = only_trace(place)
        outer, inner, innermost = (trace.named(name)[0] for name in ("nvtx outside", "dft inside", "nvtx inside"))
        expect_equal(inner["args"]["p_idx"], outer["id"], "the region's place")
        expect_equal(innermost["args"]["p_idx"], inner["id"], "the range's place")
        expect_equal(inner["args"]["still open"], 1, "the region")
        expect_equal(trace.end["args"]["unmatched_ends"], 2, "pops without a push")
        expect_equal(trace.named("mmap") + trace.named("munmap"), [], "our own calls")


def case_nothing_happens_while_tracing_is_off(folder):
    program = compile_c(folder, "ranges.c")
    plain = run([program, "every"], untraced())
    for own in ({}, {"DFTRACER_ENABLE": "0"}):
        variables = {"NVTX_INJECTION64_PATH": LIBRARY, "DFTRACER_LOG_FILE": os.path.join(folder, "out/trace")}
        done = run([program, "every"], untraced() | variables | own)
        expect_equal((done.returncode, done.stdout, done.stderr), (0, plain.stdout, ""), f"with {own}")
    expect_equal(plain.stdout, "-2 -2 -2 -2 -2 | -2 -2 -2 -2 -2\n", "levels, when nobody keeps them")
    expect(not os.path.exists(os.path.join(folder, "out")), "a trace")
    done = run([program, "every"], environment(folder) | {"NVTX_INJECTION64_PATH": LIBRARY})
    expect_equal(done.stdout, "0 1 2 0 1 | 1 0 2 1 0\n", "the same by hand, and switched on")


main(globals())
