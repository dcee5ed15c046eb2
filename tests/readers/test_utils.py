"""dftracer-utils 0.0.14 finds every event of ours, by name, category, file and host."""

import collections
import json
import re
import tempfile

from traces import make_traces, run, tool

BIN = tool("utils", "bin", "dftracer_stats").rsplit("/", 1)[0]


def rows(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def check(trace_set, index):
    where = ["-d", trace_set.folder, "--log-level", "off"]
    indexed = [*where, "--index-dir", index]
    out = run([f"{BIN}/dftracer_validate", *where])
    count = len(trace_set.paths)
    expected = f"Validated {count} file(s): {count} passed, 0 failed, {trace_set.lines - count} lines"
    assert expected in out, (trace_set.name, out, expected)

    out = run([f"{BIN}/dftracer_event_count", *indexed])
    assert out.split()[-1] == str(len(trace_set.events)), (trace_set.name, out)

    # Its JSON does not escape quotes inside names, so it is not read as JSON.
    out = run([f"{BIN}/dftracer_stats", *indexed, "--json", "--report", "names"])
    names = collections.Counter()
    for name, number in re.findall(r'\{"name":"(.*?)","count":(\d+)\}', out):
        names[name] += int(number)
    assert names == trace_set.names, (trace_set.name, names, trace_set.names)

    view = [f"{BIN}/dftracer_view", *indexed]
    grouped = rows(run([*view, "--group-by", "name,cat", "--agg", "count"]))
    by_name = collections.Counter()
    for row in grouped:
        by_name[row["name"]] += row["count"]
    assert by_name == trace_set.names, (trace_set.name, by_name)
    seen = rows(run([*view, "--query", 'cat == "POSIX"']))
    reads = [event for event in trace_set.events if event["name"] == "read"]
    assert sorted(row["id"] for row in seen) == sorted(event["id"] for event in reads), trace_set.name
    files = rows(run([*view, "--query", 'cat == "POSIX"', "--group-by", "file_path,host_name", "--agg", "count"]))
    assert {row["file_path"] for row in files} == trace_set.files, (trace_set.name, files)
    assert {row["host_name"] for row in files} == trace_set.hosts, (trace_set.name, files)
    assert sum(row["count"] for row in files) == len(reads), (trace_set.name, files)


with make_traces() as traces:
    for one in traces:
        with tempfile.TemporaryDirectory() as index:
            check(one, index)
