"""test_everything.py - every public entity of the module, with every type, is in the trace as it should be.

SPDX-License-Identifier: MIT
"""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults"))

from harness import Skip, environment, expect, expect_equal, main, program, read_folder, run, untraced

HIDDEN = ("hhash", "p_idx", "level")


def record(folder, **settings):
    done = run([program("everything")], environment(folder, **settings))
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "everything")
    (trace,) = read_folder(folder, overlap=True)
    return trace


def seen(trace, name):
    """Category, arguments and the name of the event around it, of every event of that name."""
    names = {event["id"]: event["name"] for event in trace.events}
    return [
        (event["cat"], {key: value for key, value in event["args"].items() if key not in HIDDEN},
         names.get(event["args"].get("p_idx")))
        for event in trace.named(name)
    ]


def case_regions_by_name_with_all_types(folder):
    trace = record(folder)
    arguments = {"int32": -2147483647, "int64": 9223372036854775807, "real32": 0.5, "real64": 1e-300, "true": 1,
                 "false": 0, "text": "padded value", "twice": 2}
    expect_equal(seen(trace, "named"), [("cat", arguments, None)], "named")
    expect_equal(seen(trace, "default category"), [("fortran", {}, None)], "default category")


def case_regions_by_handle_and_by_variable(folder):
    trace = record(folder)
    kernels = [("compute", {}, None)] * 3 + [("fortran", {}, None), ("fortran", {"of": "inner"}, "outer")]
    expect_equal(seen(trace, "kernel"), kernels, "kernel")
    expect_equal(seen(trace, "outer"), [("cat", {"of": "outer"}, None)], "outer")
    expect_equal(seen(trace, "first") + seen(trace, "second"), [("fortran", {}, "outer")] * 2, "begun twice")
    expect_equal(len(trace.named("(unnamed)")), 2, "a site that was not set, and an empty name")


def case_functions_steps_and_loops(folder):
    trace = record(folder)
    expect_equal(seen(trace, "procedure"), [("function", {}, None)], "procedure")
    expect_equal(seen(trace, "step"),
                 [("cat", {"step": 7}, "procedure"), ("fortran", {"step": 8}, "procedure")], "step")
    expect_equal(seen(trace, "time"), [("cat", {"count": 4}, None)], "the loop")
    expect_equal(seen(trace, "time.iter"), [("cat", {"step": n}, "time") for n in (1, 2, 3, 4)], "its steps")
    expect_equal(seen(trace, "body"), [("fortran", {}, "time.iter")] * 3, "what is in them")


def case_events_of_one_call(folder):
    trace = record(folder)
    arguments = {"int32": 1, "int64": 2, "real32": 0.25, "real64": 0.125, "logical": 1, "text": "abc", "empty": ""}
    arguments |= {f"many{n}": "x" * (n * 1000) for n in range(1, 6)}
    expect_equal(seen(trace, "instant"), [("fortran", {}, None), ("cat", arguments, None)], "instant")
    expect_equal([(event["cat"], event["args"]["counter"]) for event in trace.named("counter")],
                 [("cat", 1.0), ("cat", 2.0), ("cat", 0.5), ("fortran", 0.25)], "counter")
    explicit = trace.named("explicit")
    expect_equal([(event["dur"], event["args"].get("bytes")) for event in explicit], [(1000, 4096), (2000, None)],
                 "explicit times")
    expect_equal(explicit[1]["ts"] - explicit[0]["ts"], 2000, "explicit starts")
    facts = {event["args"]["name"]: event["args"]["value"] for event in trace.named("CM")}
    expect_equal((facts["meta.text"], facts["meta.int32"], facts["meta.int64"], facts["meta.logical"]),
                 ("solver", "12", "-12", "true"), "metadata")
    expect_equal((float(facts["meta.real32"]), float(facts["meta.real64"])), (0.5, 0.25), "metadata, reals")


def case_strings_of_any_kind(folder):
    trace = record(folder)
    expect_equal(seen(trace, "quo\"te 'n' \\ back"), [("fortran", {"grün": "Wärme ∂T", "newline": "a\nb"}, None)],
                 "quotes, other letters")
    expect_equal(seen(trace, "long"), [("fortran", {"long": "0123456789" * 5000}, None)], "50,000 characters")


def case_the_rank_that_was_told(folder):
    trace = record(folder)
    expect_equal([event["args"]["name"] for event in trace.named("process_name")], ["Rank 3"], "process_name")
    facts = {event["args"]["name"]: event["args"]["value"] for event in trace.named("PR")}
    expect_equal(facts.get("rank"), "3", "PR")


def case_nothing_after_the_end_or_while_paused(folder):
    trace = record(folder)
    expect_equal(trace.named("paused") + trace.named("after the end"), [], "not recorded")


def initialize(folder, log_file, data_dir, **settings):
    """The trace, and the I/O calls in it that are inside the region `output`."""
    os.mkdir(os.path.join(folder, "data"))
    done = run([program("initializer"), log_file, data_dir], environment(folder, **settings), cwd=folder)
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "initializer")
    (trace,) = read_folder(folder)
    (output,) = trace.named("output")
    io = [event for event in trace.events if event["cat"] == "POSIX"]
    return trace, {event["name"] for event in io if event["args"]["p_idx"] == output["id"]}


def case_the_program_says_where_and_whose_io(folder):
    trace, calls = initialize(folder, "out/mine.pfw", "data")
    expect_equal(trace.path, os.path.join(folder, "out/mine.pfw.gz"), "the name of the trace")
    expect({"open", "write", "close"} <= calls, calls)


def case_blank_names_are_not_given(folder):
    trace, calls = initialize(folder, "  ", " ", DATA_DIR=os.path.join(folder, "data"))
    expect(trace.path.startswith(os.path.join(folder, "trace-")), trace.path)
    expect({"open", "write", "close"} <= calls, calls)


def case_without_folders_no_io_is_recorded(folder):
    _, calls = initialize(folder, "", "")
    expect_equal(calls, set(), "calls")


def case_no_memory_is_lost_or_misread(folder):
    """By valgrind: compilers forget to free temporaries that hold allocatable components."""
    if not shutil.which("valgrind"):
        raise Skip("no valgrind")
    check = ["valgrind", "--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite", "--error-exitcode=9"]
    done = run([*check, program("everything")], environment(folder))
    expect_equal((done.returncode, done.stderr), (0, ""), "valgrind")


def case_off_it_leaves_nothing(folder):
    done = run([program("switched_off")], untraced(), cwd=folder)
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "switched off")
    expect_equal(os.listdir(folder), [], "files")


def case_a_folder_that_cannot_be_made_is_told_once(folder):
    """Without stat the program goes on, and one line says what is wrong."""
    blocked = os.path.join(folder, "file")
    with open(blocked, "w", encoding="ascii"):
        pass
    done = run([program("ender"), "return"], environment(os.path.join(blocked, "below")))
    expect_equal(done.returncode, 0, "status")
    expect_equal(done.stdout, "", "stdout")
    lines = done.stderr.splitlines()
    expect(len(lines) == 1 and lines[0].startswith("dftracer: ") and blocked in lines[0], f"stderr: {done.stderr}")


if __name__ == "__main__":
    main(globals())
