"""What commands read besides files of their own: stdin and Chrome's format. What info, validate and merge say."""

import collections
import gzip
import json
import os
import random
import re
import shlex
import subprocess
import tempfile
from decimal import Decimal
from pathlib import Path

from harness import COMMAND, SOURCE, dftracer, leave_dead

BASE_NS = 1790857026 * 10**9


def in_a_folder(check):
    def inside():
        with tempfile.TemporaryDirectory() as folder:
            check(Path(folder))

    return inside


def run(*arguments, stdin=b"", status=0, **env):
    """With bytes on stdin, which is a pipe."""
    words = [COMMAND, *map(str, arguments)]
    done = subprocess.run(words, input=stdin, capture_output=True, check=False, env={**os.environ, **env})
    assert done.returncode == status, (arguments, done.returncode, done.stderr, done.stdout[-2000:])
    return done.stdout, done.stderr.decode()


def groups(output):
    return {(one["name"], one["cat"]): (one["count"], one["total_ns"]) for one in json.loads(output)["groups"]}


@in_a_folder
def stdin_is_read_by_every_command(folder):
    dftracer("generate", "-n", "3000", folder / "in")
    (trace,) = (folder / "in").iterdir()
    packed = trace.read_bytes()
    text = gzip.decompress(packed)
    expected = groups(run("summary", "--json", trace)[0])
    assert sum(count for count, _ in expected.values()) == 3000
    for data in (packed, text):
        assert groups(run("summary", "--json", "-", stdin=data)[0]) == expected
        assert json.loads(run("info", "--json", "-", stdin=data)[0])["events"] == 3000
        assert run("cat", "-", stdin=data)[0] == run("cat", trace)[0]
        assert (
            run("convert", "--to", "csv", "-o", "-", "-", stdin=data)[0]
            == run("convert", "--to", "csv", "-o", "-", trace)[0]
        )
        merged = json.loads(run("merge", "-q", "-o", "-", "-", stdin=data)[0])
        assert merged["traceEvents"] == json.loads(run("merge", "-q", "-o", "-", trace)[0])["traceEvents"]
        assert b"stdin: ok" in run("validate", "-", stdin=text)[0]
    with open(trace, "rb") as file:  # a file is read where it is, unless a part of it was read before
        assert subprocess.check_output([COMMAND, "cat", "-"], stdin=file) == run("cat", trace)[0]
    with open(folder / "both", "wb") as file:
        file.write(b"12345" + packed)
    with open(folder / "both", "rb", buffering=0) as file:
        file.read(5)
        assert subprocess.check_output([COMMAND, "cat", "-"], stdin=file) == run("cat", trace)[0]
    both = groups(run("summary", "--json", trace, "-", stdin=packed)[0])
    assert both == {key: (2 * count, 2 * total) for key, (count, total) in expected.items()}
    run("summary", "--partial", "-o", folder / "x.dfs", trace)
    assert groups(run("summary", "--json", "-", stdin=(folder / "x.dfs").read_bytes())[0]) == expected


@in_a_folder
def a_bad_stdin_is_reported(folder):
    dftracer("generate", "-n", "3000", folder / "in")
    (trace,) = (folder / "in").iterdir()
    packed = trace.read_bytes()
    for words in (("summary",), ("info",), ("cat",), ("convert", "--to", "csv", "-o", "-"), ("merge", "-o", "-")):
        _, err = run(*words, "-", stdin=b"", status=1)
        assert err.startswith("dftracer "), (words, err)
        _, err = run(*words, "-", stdin=b"hello\n", status=1)
        assert "stdin" in err and "/proc" not in err, (words, err)
        out, err = run(*words, "-", stdin=packed[:-9], status=3)
        assert b"/proc" not in out and "/proc" not in err, (words, err)
        _, err = run(*words, "-", stdin=packed, status=1, TMPDIR=f"{folder}/none")
        assert f"{folder}/none: No such file" in err and "TMPDIR" in err, err
    assert not list(folder.glob("dftracer-*"))
    leader, follower = os.openpty()
    done = subprocess.run([COMMAND, "summary", "-"], stdin=follower, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "stdin is a terminal" in done.stderr, done
    os.close(leader)
    os.close(follower)
    _, err = dftracer("run", "--out", "-", "true", status=2)
    assert "not a folder" in err, err


def chrome_events(rng):
    """Pairs and complete events of two processes, flows, instants, ids that are texts; and what is true of them."""
    events, truth = [], collections.defaultdict(lambda: [0, 0])

    def count(name, cat, ns):
        truth[name, cat][0] += 1
        truth[name, cat][1] += ns

    for track in ((7, 7), (7, "main"), ("proc a", 1), ("proc a", "main")):
        pid, tid = track
        now, begun = 5_000_000_000, []
        for i in range(300):
            now += rng.randrange(1, 10**6)
            cat = rng.choice(("cpu_op", "kernel", "=x\u202e"))
            base = {"pid": pid, "tid": tid, "cat": cat, "name": f"op {i % 9}", "ts": Decimal(now) / 1000}
            kind = rng.randrange(6)
            if kind == 0:
                dur = rng.randrange(10**5)
                args = {"dims": [[1, 2], []], "nested": {"a": {"b": "}]"}}}
                events.append({"ph": "X", **base, "dur": Decimal(dur) / 1000, "args": args})
                count(base["name"], cat, dur)
            elif kind == 1 or (kind == 2 and not begun):
                events.append({"ph": "B", **base, "args": {"i": i}})
                begun.append((base["name"], cat, now))
            elif kind == 2:
                name, cat, start = begun.pop()
                events.append({"ph": "E", "pid": pid, "tid": tid, "ts": base["ts"]})
                count(name, cat, now - start)
            else:
                events.append({"ph": rng.choice("stfi"), "id": i, **base})
        for name, cat, start in reversed(begun):
            now += 10
            events.append({"ph": "E", "pid": pid, "tid": tid, "ts": Decimal(now) / 1000})
            count(name, cat, now - start)
    own = {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "x", "ts": 1, "dur": 9}
    return [*events, own], {key: tuple(value) for key, value in truth.items()}


def to_json(value, indent):
    texts = {}

    def keep(number):
        texts[f'"@{len(texts)}@"'] = str(number)
        return list(texts)[-1][1:-1]

    out = json.dumps(value, indent=indent, default=keep)
    for key, text in texts.items():
        out = out.replace(key, text)
    return out


@in_a_folder
def chromes_format_is_summed_up(folder):
    """The truth is added up here, with decimals. Compact, indented, compressed, the base behind the events."""
    events, truth = chrome_events(random.Random(20))
    head = {"schemaVersion": 1, "displayTimeUnit": "ms", "distributedInfo": {"rank": 3, "backend": "gloo"}}
    whole = {
        "before": {**head, "baseTimeNanoseconds": BASE_NS, "traceEvents": events},
        "after": {"traceEvents": events, **head, "baseTimeNanoseconds": BASE_NS},
    }
    first = BASE_NS + min(int(e["ts"] * 1000) for e in events if e["ph"] in "XB" and e["pid"] != "Spans")
    for name, value in whole.items():
        for indent in (None, 2):
            text = to_json(value, indent).encode()
            path = folder / f"{name}-{indent}.json"
            path.write_bytes(text)
            Path(f"{path}.gz").write_bytes(gzip.compress(text))
            other = folder / "no-suffix"
            other.write_bytes(text)
            for one in (path, f"{path}.gz", other):
                assert groups(run("summary", "--json", one)[0]) == truth, one
            facts = json.loads(run("info", "--json", path)[0])
            assert facts["kind"] == "chrome" and facts["bytes"] == len(text) and facts["rank"] == 3, facts
            assert facts["start_ns"] == first and facts["events"] == sum(count for count, _ in truth.values()), facts
            assert groups(run("summary", "--json", "-", stdin=text)[0]) == truth
            assert groups(run("summary", "--json", "-", stdin=gzip.compress(text))[0]) == truth
    again = folder / "again.json"
    again.symlink_to(path)
    assert groups(run("summary", "--json", path, path, again)[0]) == truth, "a file counts once"
    twice = {key: (2 * count, 2 * total) for key, (count, total) in truth.items()}
    assert groups(run("summary", "--json", path, folder / "before-None.json")[0]) == twice
    array = to_json(events, None).encode()
    (folder / "array.json").write_bytes(array)
    assert groups(run("summary", "--json", folder / "array.json")[0]) == truth
    assert groups(run("summary", "--json", "-", stdin=array)[0]) == truth
    lines = [json.loads(line) for line in run("cat", folder / "array.json")[0].splitlines()]
    assert sum(line["ph"] == "X" for line in lines) == sum(count for count, _ in truth.values())
    assert not [line for line in lines if line["ph"] in "BE" or not isinstance(line["pid"], int)]
    table = run("convert", "--to", "csv", "-o", "-", folder / "array.json")[0].decode()
    assert table.count(",X,") == sum(count for count, _ in truth.values())


@in_a_folder
def unpaired_and_damaged_events_are_reported(folder):
    good = {"ph": "X", "name": "a", "cat": "c", "pid": 1, "tid": 1, "ts": 5, "dur": 1}
    path = folder / "x.json"
    cases = {
        json.dumps({"traceEvents": [good, {**good, "ph": "B"}]}): "whose B has no E",
        json.dumps({"traceEvents": [good, {**good, "ph": "E"}]}): "whose E has no B",
        json.dumps({"traceEvents": [good, {**good, "ts": "soon"}]}): "without a phase or a time",
        json.dumps({"traceEvents": [good, good]})[:-50]: "the file ends in the middle of a value",
        json.dumps({"traceEvents": [good, {"a": 1}]}).replace('"a": 1', '"a": nan'): "cannot be parsed as JSON",
    }
    for text, message in cases.items():
        path.write_text(text)
        for words in (("summary", "--json"), ("info", "--json"), ("cat",)):
            out, err = run(*words, path, status=3)
            assert f"{path}: " in err and message in err, (text, err)
            if words[0] == "summary":
                assert groups(out) == {("a", "c"): (1, 1000)}, out
    path.write_text(json.dumps({"traceEvents": []}))
    run("summary", path, status=1)


@in_a_folder
def a_real_torch_profile_is_summed_up(folder):
    """If there is a torch: a file of its profiler, against sums in Python."""
    python = SOURCE / "build/torch/bin/python"
    if not python.exists():
        print("no torch")
        return
    program = (
        "import sys, torch\nfrom torch.profiler import profile, record_function\n"
        "layer = torch.nn.Linear(8, 8)\n"
        "with profile(record_shapes=True, with_stack=True) as profiler:\n"
        "  for _ in range(3):\n"
        "    with record_function('train_step'): layer(torch.randn(4, 8)).sum().backward()\n"
        "profiler.export_chrome_trace(sys.argv[1])\n"
    )
    path = folder / "torch.json.gz"
    subprocess.run([python, "-c", program, path], check=True, stderr=subprocess.DEVNULL)
    expected = collections.defaultdict(lambda: [0, 0])
    for event in json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)["traceEvents"]:
        if event["ph"] == "X" and event["cat"] != "Trace":
            one = expected[event["name"], event["cat"]]
            one[0] += 1
            one[1] += int(event["dur"] * 1000)
    assert expected["train_step", "user_annotation"][0] == 3 and len(expected) > 10
    found = json.loads(run("summary", "--json", path)[0])
    assert {(g["name"], g["cat"]): [g["count"], g["total_ns"]] for g in found["groups"]} == expected
    assert found["processes"] == 1, found["processes"]


@in_a_folder
def info_of_many_traces_is_a_table(folder):
    dftracer("generate", "-n", "1200", "-p", 12, "--nodes", 2, folder / "in")
    for number, path in enumerate(sorted((folder / "in").iterdir())):  # the order of the files says nothing
        path.rename(folder / "in" / f"{number * 7 % 12}-{path.name}")
    out, _ = dftracer("info", folder / "in", env={"COLUMNS": ""})
    head, titles, *rows = out.splitlines()
    assert head.startswith("12 traces, 1,200 events, "), out
    assert titles.split() == ["host", "rank", "pid", "command", "events", "duration", "size", "state", "trace"]
    assert [int(row.split()[1]) for row in rows] == list(range(12)), out
    facts = [json.loads(line) for line in dftracer("info", "--json", folder / "in")[0].splitlines()]
    for row in rows:
        (one,) = [fact for fact in facts if fact["rank"] == int(row.split()[1])]
        assert row.split()[:3] == [one["host"], str(one["rank"]), str(one["pid"])], (row, one)
        assert row.endswith(one["file"]), (row, one)
        assert f" {one['command']} " in row and f" {one['events']} " in row and " complete " in row, row
    one, _ = dftracer("info", next(fact["file"] for fact in facts if not fact["rank"]))
    assert "\n  rank       0\n" in one and "\n  command    ./train --epochs 10\n" in one, one


@in_a_folder
def the_table_of_traces_stays_narrow(folder):
    """Long commands are cut, states are one word, and the host of all is left out."""
    for number in range(2):
        dftracer("run", "--io", "-q", "--out", folder / "out", "--", "/bin/cat", "ä" * 70, number, status=1)
    leave_dead(folder / "out")
    out, _ = dftracer("info", folder / "out", env={"COLUMNS": "80", "LC_ALL": "C.UTF-8"})
    assert max(map(len, out.splitlines())) <= 80, out
    assert " host " not in out and re.search(r" died +…", out) and out.count(" complete ") == 2, out
    assert "\ndied, not recovered yet: 1 trace; 'dftracer recover FOLDER' publishes it\n" in out, out
    out, _ = dftracer("info", folder / "out", env={"COLUMNS": "", "LC_ALL": "C.UTF-8"})
    assert out.count(f" /bin/cat {'ä' * 50}… ") == 2, out


@in_a_folder
def traces_of_several_runs_are_told_apart(folder):
    for number in range(2):
        dftracer("run", "--io", "-q", "--out", folder / "out", "--", "/bin/sh", "-c", f"/bin/true {number}; true")
    out, _ = dftracer("info", folder / "out", env={"COLUMNS": ""})
    _, titles, *rows = out.splitlines()
    assert titles.split()[:3] == ["run", "rank", "pid"], out
    for row in rows:
        assert int(row.split()[0]) == 1 + bool(re.search(r"/bin/true 1", row)), out
    _, err = dftracer("merge", folder / "out", "-o", folder / "job.json")
    assert "\ndftracer merge: these are traces of 2 runs; 'dftracer info' shows" in err, err


@in_a_folder
def commands_are_shown_as_they_were_typed(folder):
    """The shell reads the text back: its words are the arguments."""
    words = ["/bin/cat", "a b", "it's", '"', "$HOME", "*", "", "x=1", "ä", "-n", "a;  b", "#", "~", "!", "{1,2}", "\\"]
    dftracer("run", "--io", "-q", "--out", folder / "out", "--", *words, status=1)
    for line in dftracer("info", "--json", folder / "out")[0].splitlines():
        shown = json.loads(line)["command"]
        assert shlex.split(shown) == words, shown
        echoed = subprocess.check_output(["bash", "-c", f"printf '%s\\0' {shown}"]).decode().split("\0")[:-1]
        assert echoed == words, (shown, echoed)


@in_a_folder
def validate_says_first_whether_a_file_can_be_read(folder):
    """What Perfetto makes of these files was seen with its engine; readers.perfetto has the engine."""
    event = json.dumps({"name": "a", "cat": "c", "pid": 1, "tid": 1, "ts": 1700000000000000, "dur": 5, "ph": "X"})
    part = "can be read in part: dftracer reads"
    cases = {
        f"[\n{event}\n{event}\n": "can be read: dftracer reads all 3 lines; Perfetto opens it",
        f"{event}\n{event}\n": "can be read: dftracer reads all 2 lines; Perfetto shows nothing of it",
        f"[\n{event}\n{{broken\n{event}\n": f"{part} 2 lines and skips 1 damaged part; Perfetto refuses",
        f'[\n{event}\n{{"name":"t","ca': f"{part} 1 line and skips 1 damaged part; Perfetto opens",
        "[\n" + event.replace('"X"', "1") + "\n": "can be read: dftracer reads all 2 lines; Perfetto skips events",
        "hello\n": "cannot be read: none of its lines is an event",
        json.dumps({"traceEvents": []}): "not a trace but a file in Chrome's format",
    }
    for text, line in cases.items():
        path = folder / ("x.json" if "traceEvents" in text else "x.pfw")
        path.write_text(text)
        out, _ = dftracer("validate", path, status=1)
        assert out.startswith(f"{path}: {line}"), (text, out)
        assert "traceEvents" in text or len(out.splitlines()) > 1, out
    old = SOURCE / "tests/data/dftracer-versions/c-2.0.3.pfw.gz"
    out, _ = dftracer("validate", old, status=1)
    assert out.splitlines()[0] == f"{old}: can be read: dftracer reads all 42 lines; Perfetto opens it", out


@in_a_folder
def ranks_are_padded_for_perfetto(folder):
    """Sorted as texts, the names of the processes are in the order of the ranks."""
    for processes, first in ((4, "Rank 0"), (12, "Rank 00"), (101, "Rank 000")):
        dftracer("generate", "-n", processes, "-p", processes, folder / str(processes))
        out, _ = dftracer("merge", "-q", "-o", "-", folder / str(processes))
        named = {}
        for event in json.loads(out)["traceEvents"]:
            if event["name"] in ("process_name", "process_sort_index"):
                named.setdefault(event["pid"], {}).update(event["args"])
        by_name = sorted(named.values(), key=lambda one: one["name"])
        assert by_name == sorted(named.values(), key=lambda one: one["sort_index"]), by_name
        assert len(named) == processes and by_name[0]["name"] == first, by_name[0]


@in_a_folder
def a_folder_that_is_none_is_refused(folder):
    """The program does not run, the file stays as it is, and the message says what to do."""
    (folder / "file").write_text("data")
    (folder / "link").symlink_to(folder / "file")
    (folder / "dangling").symlink_to(folder / "nowhere")
    cases = {
        "file": "Not a directory; it is a file; choose a folder",
        "link": "Not a directory; it is a file; choose a folder",
        "file/below": "Not a directory; choose another folder",
        "dangling": "it is a link to a folder that does not exist",
        "x" * 300: "File name too long",
        "d/" * 2500: "File name too long",
    }
    if os.getuid():
        (folder / "locked").mkdir(mode=0o555)
        cases |= {"locked": "Permission denied", "locked/below": "Permission denied"}
    for out, message in cases.items():
        _, err = dftracer("run", "--out", out, "--", "touch", "ran", status=125, cwd=folder)
        assert "did not run the program: cannot write traces to" in err and message in err, (out, err)
        assert len(err.splitlines()) == 1 and "--out" in err, err
    dftracer("run", "--out", "", "--", "touch", "ran", status=2, cwd=folder)
    assert (folder / "file").read_text() == "data" and not (folder / "ran").exists()


for case in (
    stdin_is_read_by_every_command,
    a_bad_stdin_is_reported,
    chromes_format_is_summed_up,
    unpaired_and_damaged_events_are_reported,
    a_real_torch_profile_is_summed_up,
    info_of_many_traces_is_a_table,
    the_table_of_traces_stays_narrow,
    traces_of_several_runs_are_told_apart,
    commands_are_shown_as_they_were_typed,
    validate_says_first_whether_a_file_can_be_read,
    ranks_are_padded_for_perfetto,
    a_folder_that_is_none_is_refused,
):
    case()
