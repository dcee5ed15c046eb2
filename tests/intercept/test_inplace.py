"""test_inplace.py - I/O calls bound in place: late libraries, sealed slots, pointers in data; everything given back.
SPDX-License-Identifier: MIT
"""

import os
import subprocess

from io_harness import LIBRARY, SOURCE, events_by_path, expect, expect_equal, main, read_folder, run, traced, untraced

FLAVOURS = {
    "lazy": ["-Wl,-z,lazy"],
    "full_relro": ["-fPIE", "-pie", "-Wl,-z,relro,-z,now"],
    "no_plt": ["-fno-plt", "-fPIE", "-pie", "-Wl,-z,relro,-z,now"],
    "no_pie": ["-fno-pie", "-no-pie", "-Wl,-z,lazy"],
}
WRITTEN = ["open", "write", "close"]


def compiled(folder, name, *flags):
    out = os.path.join(folder, name)
    library = os.path.dirname(LIBRARY)
    subprocess.run(
        [
            "cc",
            "-O1",
            f"-I{SOURCE}/c/include",
            f"{SOURCE}/tests/intercept/programs/{name.split('.')[0]}.c",
            "-o",
            out,
            *flags,
            *([] if name.endswith(".so") else [f"-L{library}", "-ldftracer_core", f"-Wl,-rpath,{library}"]),
        ],
        check=True,
    )
    return out


def run_inplace(folder, flags, *words, **settings):
    data, traces = os.path.join(folder, "data"), os.path.join(folder, "traces")
    os.mkdir(data)
    os.mkdir(traces)
    program = compiled(folder, "inplace", *flags)
    plugin = compiled(folder, "plugin.so", "-shared", "-fPIC", *(f for f in flags if f.startswith("-Wl")))
    env = {key: value for key, value in traced(traces, **settings).items() if key != "LD_PRELOAD"}
    done = run([program, data, plugin, traces, *words], env)
    expect_equal((done.returncode, done.stderr), (0, ""), "inplace")
    return [int(word) for word in done.stdout.split()], data, read_folder(traces)


def check(folder, flags, **settings):
    (before, bound, after), data, traces = run_inplace(folder, flags, **settings)
    expect(bound > before, f"{bound - before} slots are bound")
    expect_equal(after, before, "every slot is given back")
    expect_equal(len(traces), 2, "traces")
    for trace in traces:
        found = {
            os.path.relpath(path, data): [e["name"] for e in events] for path, events in events_by_path(trace).items()
        }
        expect_equal(
            found, dict.fromkeys(["direct", "sealed", "table", "late", "after", "late_again"], WRITTEN), trace.path
        )
        (work,) = trace.named("work")
        inside = [e for e in trace.events if e["cat"] == "POSIX"]
        expect(
            all(e["args"]["p_idx"] == work["id"] and e["args"]["level"] == 2 for e in inside), "nested in the region"
        )


def case_lazy_binding(folder):
    check(folder, FLAVOURS["lazy"])


def case_full_relro(folder):
    check(folder, FLAVOURS["full_relro"])


def case_no_plt(folder):
    check(folder, FLAVOURS["no_plt"])


def case_position_dependent(folder):
    check(folder, FLAVOURS["no_pie"])


def case_forked_child(folder):
    _, data, traces = run_inplace(folder, FLAVOURS["full_relro"], "fork")
    found = {
        os.path.relpath(path, data): [e["name"] for e in events]
        for trace in traces
        if not os.path.basename(trace.path).startswith(("first", "second"))
        for path, events in events_by_path(trace).items()
    }
    expect_equal(found, dict.fromkeys(["child", "child_again", "parent"], WRITTEN), "of the child and its parent")


def case_both_at_once_record_each_call_once(folder):
    data, traces = os.path.join(folder, "data"), os.path.join(folder, "traces")
    os.mkdir(data)
    os.mkdir(traces)
    program = compiled(folder, "inplace")
    plugin = compiled(folder, "plugin.so", "-shared", "-fPIC")
    done = run([program, data, plugin, traces], traced(traces, DATA_DIR=data))
    expect_equal((done.returncode, done.stderr), (0, ""), "inplace under the preload library")
    for trace in read_folder(traces):
        for path, events in events_by_path(trace).items():
            expect_equal([e["name"] for e in events], WRITTEN, path)


def case_nothing_is_bound_when_it_should_not(folder):
    source = os.path.join(folder, "ask.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(
            "#include <dftracer/dft.h>\n#include <stdio.h>\n"
            'int main(void) { dft_start(NULL); printf("%d\\n", dft_bind_io()); return 0; }\n'
        )
    library = os.path.dirname(LIBRARY)
    ask = os.path.join(folder, "ask")
    subprocess.run(
        ["cc", source, f"-I{SOURCE}/c/include", f"-L{library}", "-ldftracer_core", f"-Wl,-rpath,{library}", "-o", ask],
        check=True,
    )
    plain = {key: value for key, value in traced(folder).items() if key != "LD_PRELOAD"}
    answers = {}
    for settings in (
        {},
        {"DATA_DIR": "all"},
        {"DATA_DIR": "all", "INIT": "PRELOAD"},
        {"DATA_DIR": "all", "DISABLE_IO": "1"},
        {"DATA_DIR": "all", "ENABLE": "0"},
    ):
        env = plain | {f"DFTRACER_{key}": value for key, value in settings.items()}
        answers[str(settings)] = run([ask], env).stdout.strip()
    expect_equal(list(answers.values()), ["1", "0", "1", "1", "1"], str(answers))
    expect_equal(run([ask], untraced()).stdout.strip(), "1", "untraced")


def case_libraries_loaded_by_another_thread_meanwhile(folder):
    program = compiled(folder, "loading", "-pthread")
    plugin = compiled(folder, "plugin.so", "-shared", "-fPIC")
    env = {key: value for key, value in traced(folder).items() if key != "LD_PRELOAD"}
    for number in range(10):
        done = run([program, plugin, f"{folder}/loading{number}.pfw"], env)
        expect_equal((done.returncode, done.stderr), (0, ""), "loading")
    for trace in read_folder(folder):
        expect_equal(len(trace.named("access")), 1, "calls while it was bound")


def case_traces_that_end_and_begin_again(folder):
    """The preload library steps aside in between: only what was written while there was a trace is there."""
    data, traces = os.path.join(folder, "data"), os.path.join(folder, "traces")
    os.mkdir(data)
    os.mkdir(traces)
    program = compiled(folder, "again", "-pthread")
    done = run([program, data, traces, folder], traced(traces, DATA_DIR=data))
    expect_equal((done.returncode, done.stderr), (0, ""), "again")
    found = {"first": 0, "on": 0, "off": 0}
    for trace in read_folder(traces):
        for path, events in events_by_path(trace).items():
            found[os.path.basename(path)] += len(events)
    expect_equal(found, {"first": len(WRITTEN), "on": 100 * len(WRITTEN), "off": 0}, "calls on each file")


main(globals())
