"""dftracer merge and convert: one valid JSON timeline, with everything in its place."""

import collections
import csv
import gzip
import io
import json
import os
import subprocess
import tempfile
from pathlib import Path

from harness import DIE, dftracer, read_folder, traced

BASE_NS = 1767139200 * 10**9  # torch.profiler counts from a moment of its own
START_US = 1767225600000000  # the first event of what generate makes

SHOWN = {"path2_hash": "file2", "cmd_hash": "command", "exec_hash": "executable", "cwd": "cwd"}


def load(path):
    data = Path(path).read_bytes()
    whole = json.loads(gzip.decompress(data) if str(path).endswith(".gz") else data)
    base = whole["baseTimeNanoseconds"] // 1000
    events = whole["traceEvents"]
    for event in events:
        if "ts" in event:
            event["ts"] += base
    return whole, events


def in_a_folder(check):
    def inside():
        with tempfile.TemporaryDirectory() as folder:
            check(folder)

    return inside


def torch_trace(path, pid, rank=0, form="object", ts=None):
    """As torch.profiler writes it: its own base, names for processes, flows, a second device, much white space."""
    ts = (START_US * 1000 - BASE_NS) / 1000 if ts is None else ts
    events = [
        {"ph": "M", "name": "process_name", "ts": ts, "pid": pid, "tid": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_name", "ts": ts, "pid": 0, "tid": 0, "args": {"name": "GPU 0"}},
        {"ph": "M", "name": "thread_name", "ts": ts, "pid": pid, "tid": pid, "args": {"name": f"thread {pid} (py)"}},
        {"ph": "X", "cat": "cpu_op", "name": 'aten::mm "[{\\', "pid": pid, "tid": pid, "ts": ts + 5.125, "dur": 7.25,
         "args": {"Input Dims": [[2, 3], []], "nested": {"a": "}"}}},
        {"ph": "s", "id": 7, "pid": pid, "tid": pid, "ts": ts + 6, "cat": "ac2g", "name": "ac2g"},
        {"ph": "f", "id": 7, "pid": 0, "tid": 7, "ts": ts + 9, "cat": "ac2g", "name": "ac2g", "bp": "e"},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": ts + 9, "dur": 1, "args": {}},
        {"ph": "X", "cat": "Trace", "name": "span", "pid": "Spans", "tid": "PyTorch Profiler", "ts": ts, "dur": 50},
    ]  # fmt: skip
    whole = {"schemaVersion": 1, "distributedInfo": {"backend": "gloo", "rank": rank}, "traceEvents": events}
    whole["baseTimeNanoseconds"] = BASE_NS  # after the events
    text = json.dumps(whole if form == "object" else events, indent=2)
    if form == "open array":
        text = text.rstrip("]").rstrip()
    with gzip.open(path, "wt") if path.endswith(".gz") else open(path, "w") as file:
        file.write(text)
    return events


@in_a_folder
def every_event_is_there_once_with_its_values(folder):
    dftracer("generate", "-n", "20K", "-p", 3, "--nodes", 2, f"{folder}/in")
    for name in ("all.json", "all.json.gz"):
        out, err = dftracer("merge", f"{folder}/in", "-o", f"{folder}/{name}")
        assert not out and "20,000 events of 3 processes" in err, err
        whole, events = load(f"{folder}/{name}")
        assert whole["otherData"]["clocks"] == "clock" and not list(Path(folder).glob("*.part*"))
        texts = {}
        expected = collections.Counter()
        for trace in read_folder(f"{folder}/in"):
            for event in trace.events:
                if event["name"] in ("FH", "SH"):
                    texts[event["args"]["value"]] = event["args"]["name"]
            for event in trace.events:
                if event["ph"] == "M":
                    continue
                args = {k: v for k, v in event["args"].items() if k not in ("hhash", "fhash", "level", "p_idx")}
                if "fhash" in event["args"]:
                    args["file"] = texts[event["args"]["fhash"]]
                for hashed, shown in SHOWN.items():
                    if hashed in args:
                        args[shown] = texts[args.pop(hashed)]
                key = [
                    event["name"],
                    event["cat"],
                    event["ph"],
                    event["pid"],
                    event["tid"],
                    event["ts"],
                    event.get("dur"),
                ]
                expected[json.dumps([*key, sorted(args.items())])] += 1
        got = collections.Counter()
        for event in events:
            if event["ph"] != "M":
                key = [
                    event["name"],
                    event["cat"],
                    event["ph"],
                    event["pid"],
                    event["tid"],
                    event["ts"],
                    event.get("dur"),
                ]
                got[json.dumps([*key, sorted(event["args"].items())])] += 1
        assert got == expected, (list(got - expected)[:2], list(expected - got)[:2])
        names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
        assert names == {"Rank 0 (node000)", "Rank 1 (node000)", "Rank 2 (node001)"}, names


@in_a_folder
def a_worker_is_listed_after_its_rank(folder):
    dftracer("generate", "-n", 100, "-p", 2, folder)
    path = sorted(Path(folder).glob("*.pfw.gz"))[1]  # of rank 1: a worker of rank 0
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    lines[2] = lines[2].replace("Rank 1", "DataLoader worker 0")
    text = "\n".join([*lines, ""]).replace('"Rank 1"', '"Rank 0"').replace('"rank","value":"1"', '"rank","value":"0"')
    path.write_bytes(gzip.compress(text.encode()))
    dftracer("merge", folder, "-o", f"{folder}/out.json")
    _, events = load(f"{folder}/out.json")
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert names == ["Rank 0", "Rank 0, DataLoader worker 0"], names
    places = [event["args"]["sort_index"] for event in events if event["name"] == "process_sort_index"]
    assert places == [0, 1], places


@in_a_folder
def the_same_process_id_on_two_nodes_is_two_tracks(folder):
    for node in ("a", "b"):
        dftracer("generate", "-n", 100, "-s", ord(node), f"{folder}/{node}")
    path = next(Path(folder, "b").iterdir())  # another host of the same process id
    text = gzip.decompress(path.read_bytes()).replace(b'"name":"node000"', b'"name":"other00"')
    path.write_bytes(gzip.compress(text.replace(b"7d9221eb025d7a5a", b"0123456789abcdef")))
    dftracer("merge", f"{folder}/a", f"{folder}/b", "-o", f"{folder}/out.json")
    _, events = load(f"{folder}/out.json")
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert sorted(names.values()) == ["Rank 0 (node000)", "Rank 0 (other00)"] and len(names) == 2, names
    counts = collections.Counter(event["pid"] for event in events if event["ph"] != "M")
    assert set(counts.values()) == {103}, counts  # 100 events, start, end, a counter value


@in_a_folder
def torch_profiler_goes_to_its_process(folder):
    dftracer("generate", "-n", 1000, "-p", 2, f"{folder}/in")
    torch_trace(f"{folder}/torch-0.json", 100000, 0)
    torch_trace(f"{folder}/torch-1.json.gz", 100001, 1)
    paths = [f"{folder}/in", f"{folder}/torch-0.json", f"{folder}/torch-1.json.gz"]
    _, err = dftracer("merge", *paths, "-o", f"{folder}/out.json.gz")
    assert err.startswith("dftracer merge: wrote 1,006 events"), err
    _, events = load(f"{folder}/out.json.gz")
    ours = {event["pid"]: event["tid"] for event in events if event["name"] == "step"}
    ops = [event for event in events if event.get("cat") == "cpu_op"]
    assert sorted(event["pid"] for event in ops) == [100000, 100001]
    for op in ops:
        assert op["tid"] != ours[op["pid"]], "events of two profilers do not nest on one track"
        assert op["name"] == 'aten::mm "[{\\' and op["args"] == {"Input Dims": [[2, 3], []], "nested": {"a": "}"}}
        assert abs(op["ts"] - (START_US + 5.125)) < 1e-3 and op["dur"] == 7.25, op
        names = [event for event in events if event["name"] == "thread_name" and event["tid"] == op["tid"]]
        assert names and names[0]["args"]["name"].startswith("thread "), names
    kernels = [event["pid"] for event in events if event.get("cat") == "kernel"]
    assert len(set(kernels)) == 2, "the GPUs 0 of two files are two"
    flows = collections.Counter(event["id"] for event in events if event["ph"] in "sf")
    assert len(flows) == 2 and set(flows.values()) == {2}, flows
    assert all(type(event["pid"]) is int and type(event.get("tid", 0)) is int for event in events)
    names = collections.Counter(event["args"]["name"] for event in events if event["name"] == "process_name")
    assert names == {"Rank 0": 1, "Rank 1": 1, "GPU 0": 2, "Spans": 2}, names


@in_a_folder
def both_forms_and_its_own_output_are_read(folder):
    dftracer("generate", "-n", 100, f"{folder}/in")
    for form, count in (("object", 5), ("array", 5), ("open array", 5)):
        absolute = None if form == "object" else START_US
        torch_trace(f"{folder}/t.json", 4242, form=form, ts=absolute)
        dftracer("merge", f"{folder}/t.json", "-o", f"{folder}/out.json")
        _, events = load(f"{folder}/out.json")
        assert sum(event["ph"] != "M" for event in events) == count, (form, events)
        (op,) = [event for event in events if event.get("cat") == "cpu_op"]
        assert abs(op["ts"] - (START_US + 5.125)) < 0.26, (form, op)  # a double cannot hold 1.7e15 with its fractions
    dftracer("merge", f"{folder}/out.json", f"{folder}/in", "-o", f"{folder}/again.json")
    _, events = load(f"{folder}/again.json")
    assert sum(event["ph"] != "M" for event in events) == 5 + 103


@in_a_folder
def clocks_are_aligned_as_asked_for(folder):
    dftracer("generate", "-n", 2000, "-p", 2, "--nodes", 2, f"{folder}/in")
    (moved,) = Path(folder, "in").glob("*node001*")
    lines = gzip.decompress(moved.read_bytes()).decode().splitlines()
    for i, line in enumerate(lines[1:], 1):  # this node's clock is 5.25 s fast
        event = json.loads(line)
        if "ts" in event:
            event["ts"] += 5250000
        lines[i] = json.dumps(event, separators=(",", ":"))
    moved.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))

    def offset(*words):
        dftracer("merge", "-q", f"{folder}/in", *words, "-o", f"{folder}/out.json")
        whole, events = load(f"{folder}/out.json")
        first = {}
        for event in events:
            if event["name"] == "step":
                first.setdefault(event["pid"], event["ts"])
        return first[100001] - first[100000], whole["otherData"]

    assert offset()[0] == 5250000
    by, facts = offset("--align", "start")
    assert by == 0 and facts["clocks"] == "start" and facts["moved_ns node001"] == -5250000000, facts
    by, facts = offset("--align=event:all_reduce")
    assert abs(by) < 1000 and abs(facts["moved_ns node001"] + 5250000000) < 1000000, (by, facts)
    _, err = dftracer("merge", f"{folder}/in", "--align", "event:nothing", "-o", f"{folder}/x.json")
    assert err.count("its clock is not moved") == 2, err
    _, err = dftracer("merge", f"{folder}/in", "--align", "sundial", "-o", f"{folder}/y.json", status=1)
    assert "sundial" in err and not Path(folder, "y.json").exists()


@in_a_folder
def nanoseconds_keep_their_fractions(folder):
    done = subprocess.run([DIE, "later"], env=traced(folder, DFTRACER_TIME_METRIC="NS"), input=b"", capture_output=True)
    assert done.returncode == 0
    dftracer("merge", "-q", folder, "-o", f"{folder}/out.json")
    whole, _ = load(f"{folder}/out.json")
    (trace,) = read_folder(folder)
    starts = {event["name"]: event["ts"] for event in trace.events if event["ph"] == "X"}
    base = whole["baseTimeNanoseconds"]
    for event in json.loads(Path(folder, "out.json").read_text())["traceEvents"]:
        if event["ph"] == "X":
            assert round(event["ts"] * 1000) + base == starts[event["name"]], event


@in_a_folder
def unreadable_inputs_are_reported_and_the_rest_is_merged(folder):
    dftracer("generate", "-n", 100, f"{folder}/in")
    event = '{"ph":"X","name":"whole","pid":1,"tid":1,"ts":1,"dur":1}'
    Path(folder, "bad.json").write_text('{"traceEvents":[' + event + ',{"ph":"X","na')
    Path(folder, "odd.json").write_bytes(f'[{event},{{"a":nan}},{{"b":"\xff"}},{{"c":[1,]}}]'.encode("latin1"))
    Path(folder, "none.json").write_text("hello")
    Path(folder, "empty.json").write_text("")
    words = [f"{folder}/in", *(f"{folder}/{name}.json" for name in ("bad", "odd", "none", "empty", "missing"))]
    _, err = dftracer("merge", *words, "-o", f"{folder}/out.json", status=3)
    assert "bad.json: the file ends in the middle" in err and "none.json: not a trace" in err, err
    assert "missing.json: No such file" in err and "odd.json: skipped 3 events" in err, err
    _, events = load(f"{folder}/out.json")
    assert sum(event["ph"] != "M" for event in events) == 105 and any(event["name"] == "whole" for event in events)
    _, err = dftracer("merge", f"{folder}/nothing", "-o", f"{folder}/x.json", status=1)
    assert "nothing" in err and not Path(folder, "x.json").exists(), err
    _, err = dftracer("merge", f"{folder}/in", "-o", f"{folder}/no/x.json", status=1)
    assert "No such file" in err
    for words in ([f"{folder}/in"], ["-o", "x"], []):
        dftracer("merge", *words, status=2)
    _, err = dftracer("merge", f"{folder}/in", "-o", "/dev/full", status=1)
    assert err


# ---- Convert ---------------------------------------------------------------------------------------------------------


@in_a_folder
def csv_has_a_line_for_every_event(folder):
    env = traced(f"{folder}/in")
    subprocess.run([DIE, "later"], env=env, input=b"", capture_output=True, check=True)
    dftracer("generate", "-n", 5000, f"{folder}/in")
    _, err = dftracer("convert", f"{folder}/in", "-o", f"{folder}/t.csv.gz")
    assert "5,003 events" in err, err
    text = gzip.decompress(Path(folder, "t.csv.gz").read_bytes()).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    events = [event for trace in read_folder(f"{folder}/in") for event in trace.events if event["ph"] != "M"]
    assert len(rows) == len(events) == 5007 + sum(event["ph"] == "C" for event in events)
    hashes = {
        event["args"]["name"]: event["args"]["value"]
        for trace in read_folder(f"{folder}/in")
        for event in trace.events
        if event["name"] in ("FH", "SH")
    }
    by_id = {(row["pid"], row["id"]): row for row in rows}
    for event in events:
        row = by_id[str(event["pid"]), str(event["id"])]
        assert (row["name"], row["cat"], row["ph"]) == (event["name"], event["cat"], event["ph"])
        assert row["start_us"] == str(event["ts"]) and row["dur_us"] == str(event.get("dur", 0))
        assert row["level"] == str(event["args"].get("level", 0))
        assert row["host"] or event["ph"] == "C"
        args = json.loads(row["args"])
        for hashed, shown in SHOWN.items():
            if shown in args:
                args[hashed] = hashes[args.pop(shown)]
        assert all(event["args"][key] == value for key, value in args.items()), row
        assert bool(row["file"]) == ("fhash" in event["args"]), row


@in_a_folder
def a_second_file_has_its_name(folder):
    event = {"id": 1, "name": "FH", "cat": "dftracer", "pid": 7, "tid": 7, "ph": "M"}
    lines = [event | {"args": {"name": "/data/new", "value": "557466652c169c22"}}]
    for number, second in enumerate(("557466652c169c22", "0000000000000001", 5)):
        call = event | {"id": 2 + number, "name": "rename", "cat": "POSIX", "ph": "X", "ts": START_US, "dur": 1}
        lines.append(call | {"args": {"path2_hash": second, "ret": 0}})
    Path(folder, "a.pfw").write_text("[\n" + "".join(json.dumps(line) + "\n" for line in lines))
    dftracer("merge", "-q", f"{folder}/a.pfw", "-o", f"{folder}/t.json")
    args = [event["args"] for event in load(f"{folder}/t.json")[1] if event["ph"] == "X"]
    unknown = [{"path2_hash": "0000000000000001", "ret": 0}, {"path2_hash": 5, "ret": 0}]
    assert args == [{"file2": "/data/new", "ret": 0}, *unknown], args


@in_a_folder
def formats_are_chosen_by_name(folder):
    dftracer("generate", "-n", 10, f"{folder}/in")
    dftracer("convert", "-q", f"{folder}/in", "-o", f"{folder}/t.json")
    assert sum(event["ph"] != "M" for event in load(f"{folder}/t.json")[1]) == 12
    out, _ = dftracer("convert", "-q", f"{folder}/in", "-o", "-", "--to", "csv")
    assert out.startswith("name,cat,ph,") and out.count("\n") == 13
    for words in (["-o", "t.xyz"], ["-o", "t.csv", "--to", "xyz"]):
        dftracer("convert", f"{folder}/in", *words, status=2, cwd=folder)
    for name in ("x.csv", "x.h5"):
        _, told = dftracer("convert", f"{folder}/in", "-o", f"{folder}/none/{name}", status=1)
        assert told == f"dftracer convert: {folder}/none/{name}: No such file or directory\n", told
    assert sorted(os.listdir(folder)) == ["in", "t.json"]


@in_a_folder
def an_input_is_never_overwritten(folder):
    dftracer("generate", "-n", 10, f"{folder}/in")
    (trace,) = (str(path) for path in Path(folder, "in").glob("*.pfw*"))
    dftracer("merge", "-q", trace, "-o", f"{folder}/t.json")
    before = Path(trace).read_bytes(), Path(folder, "t.json").read_bytes()
    for words in (
        ["merge", trace, "-o", trace],
        ["merge", f"{folder}/in", "-o", trace],
        ["merge", trace, f"{folder}/t.json", "-o", f"{folder}/in/../t.json"],
        ["convert", "--to", "csv", trace, "-o", trace],
    ):
        _, told = dftracer(*words, status=2)
        assert "is also an input and would be overwritten" in told, told
    assert (Path(trace).read_bytes(), Path(folder, "t.json").read_bytes()) == before


for check in (
    every_event_is_there_once_with_its_values,
    a_worker_is_listed_after_its_rank,
    the_same_process_id_on_two_nodes_is_two_tracks,
    torch_profiler_goes_to_its_process,
    both_forms_and_its_own_output_are_read,
    clocks_are_aligned_as_asked_for,
    nanoseconds_keep_their_fractions,
    unreadable_inputs_are_reported_and_the_rest_is_merged,
    csv_has_a_line_for_every_event,
    a_second_file_has_its_name,
    formats_are_chosen_by_name,
    an_input_is_never_overwritten,
):
    check()
