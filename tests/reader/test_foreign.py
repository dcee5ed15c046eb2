"""Traces of other programs: texts, numbers, and paths. Each truth is known by construction."""

import csv
import gzip
import io
import json
import os
import pty
import subprocess
import sys
import tempfile
import unicodedata
from decimal import Decimal
from pathlib import Path

COMMAND = os.environ["DFT_TEST_COMMAND"]
BIDI_CONTROLS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
BEGIN = 1_700_000_000_000_000  # us


def event(name="work", start=BEGIN, dur=5, pid=7, **others):
    return {"id": 1, "name": name, "cat": "app", "pid": pid, "tid": 7, "ts": start, "dur": dur, "ph": "X", **others}


def save(path, *lines):
    """Lines are objects, or texts as they are to be in the file."""
    texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    Path(path).write_bytes(b"[\n" + b"\n".join(texts) + b"\n]\n")
    return path


def run(*arguments, status=0, **env):
    """stdout and stderr as bytes."""
    done = subprocess.run(
        [COMMAND, *arguments], capture_output=True, check=False, env=os.environ | {"LC_ALL": "C.UTF-8", **env}
    )
    assert status is None or done.returncode == status, (arguments, done)
    return done.stdout, done.stderr


def summary(*arguments, **others):
    return json.loads(run("summary", "--json", *arguments, **others)[0].decode())


def a_file_counts_once_whatever_its_paths(folder):
    """By its path twice, by its folder, with dots, by symbolic links to it and to its folder, by a hard link."""
    inner = folder / "traces"
    inner.mkdir()
    path = save(inner / "one.pfw", event())
    save(inner / "two.pfw", event())
    (inner / "link.pfw").symlink_to(path)
    (folder / "other").symlink_to(inner)
    os.link(path, inner / "hard.pfw")
    ways = [path, path, inner, f"{inner}/../traces/./one.pfw", folder / "other", inner / "link.pfw", f"{inner}/*.pfw"]
    for given in (ways, reversed(ways), [folder], [inner, folder / "other"]):
        found = summary(*given)
        assert (found["traces"], found["events"]) == (2, 2), found
    assert summary(inner / "link.pfw")["events"] == 1
    assert run("cat", *ways)[0].count(b"\n") == 2
    os.unlink(path)
    os.unlink(inner / "hard.pfw")  # the link leads nowhere now: it is reported, and the rest is read
    found = run("summary", "--json", inner, status=None)
    assert json.loads(found[0])["events"] == 1, found


def times_in_every_notation(folder):
    """Ten spellings of numbers, exact by Python's decimal fractions; cut off below a nanosecond."""
    spellings = ("1.79e+18", "1790000000123456789", "1790000000123456.789E3", "17.9e17", "1.790000000123456789e18")
    spellings += ("0.00179e21", "179e16", "1790000000000000000.75", "1790000000123456789000e-3", "0e30", "5e-1", "12e1")
    for unit, factor in (("NS", 1), ("US", 1000), ("MS", 10**6)):
        for spelling in spellings:
            true = int(Decimal(spelling) * factor)
            if true >= 2**62 - 1000:
                continue
            metric = {"id": 0, "name": "CM", "cat": "dftracer", "pid": 7, "tid": 7, "ph": "M"}
            metric["args"] = {"name": "time_metric", "value": unit}
            line = json.dumps(event(start="TIME", dur=1)).replace('"TIME"', spelling).encode()
            path = save(folder / "one.pfw", metric, line, line.replace(b'"ts": ', b'"ts": -') if factor == 1 else line)
            found = summary(path)["job"]
            first = -true if factor == 1 else true
            assert found["start_ns"] == first and found["end_ns"] == true + factor, (unit, spelling, true, found)
    line = json.dumps(event(start="TIME")).replace('"TIME"', "1e30").encode()
    found = json.loads(run("summary", "--json", save(folder / "one.pfw", line), status=None)[0])
    assert 2**62 - 10**5 <= found["job"]["start_ns"] < 2**62 and found["problem_count"] == 1, found


def times_at_both_ends(folder):
    """They are cut to where the distance of any two is a number of 64 bits."""
    kinds = (("compute", "forward"), ("dataloader", "fetch.iter"), ("MPI", "MPI_Allreduce"), ("POSIX", "read"))
    lines = [
        event(name, start, dur, cat=cat, args={"epoch": 1})
        for cat, name in (*kinds, ("pipeline", "epoch.block"), ("pipeline", "step"), ("pipeline", "evaluate"))
        for start in (-(10**30), -(10**15), 0, 10**15, 10**30)
        for dur in (0, 1, 10**30)
    ]
    path = save(folder / "one.pfw", *lines)
    for command in (("summary",), ("summary", "--from", "1s"), ("info",), ("merge", "-o", folder / "merged.json")):
        _, errors = run(*command, path, status=None)
        assert b"runtime error" not in errors, errors.decode()
    found = json.loads(run("summary", "--json", path, status=None)[0])["job"]
    assert (found["start_ns"], found["end_ns"]) == (-(2**62 - 1), 2**62 - 1), found


def fractions_of_microseconds_in_medians(folder):
    """Half microseconds stay half ones, within the error that is documented; whole microseconds stay whole."""
    for durations in ([0.5, 1.25, 1.5, 1.75, 8], [1, 1.5, 2.5, 5], [3.625] * 9 + [1, 90]):
        lines = [event(start=BEGIN + 100 * i, dur=dur) for i, dur in enumerate(durations)]
        true = sorted(durations)[(len(durations) - 1) // 2] * 1000
        found = summary(save(folder / "one.pfw", *lines))["groups"][0]["median_ns"]
        assert abs(found - true) <= true / 128 + 1, (durations, found)
    found = summary(save(folder / "one.pfw", *[event(start=BEGIN + 900 * i, dur=i) for i in range(400)]))
    assert found["groups"][0]["median_ns"] % 1000 == 0, found


def zeros_in_texts(folder):
    """Names and files that are equal up to a zero are different, and are printed whole."""
    names = ["a\0b", "a\0c", "a", "\0"]
    lines = [event(name, dur=1 + i, start=BEGIN + 10 * i) for i, name in enumerate(names)]
    lines += [event("read", cat="POSIX", args={"fname": "f\0g", "ret": 5})]
    path = save(folder / "one.pfw", *lines)
    found = summary(path)
    assert sorted(group["name"] for group in found["groups"]) == sorted([*names, "read"]), found
    assert [file["file"] for file in found["io"]["files"]] == ["f\0g"], found
    assert "f\0g" in {group["file"] for group in summary("--by", "file", path)["groups"]}, found


# What must not reach a terminal: controls of C0 and C1, DEL, separators of lines, and Unicode's bidirectional controls.
OBEYED = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)} - {"\n"}
OBEYED |= {chr(code) for code in range(0x110000) if unicodedata.bidirectional(chr(code)) in BIDI_CONTROLS}
BYTES = {chr(code) for code in range(0xDC80, 0xDD00)}  # that are not UTF-8
OBEYED |= set("\u061c\u200e\u200f")


def is_safe(output, case=None):
    text = output.decode("utf-8", "surrogateescape")
    assert not set(text) & BYTES, (case, text)
    assert not OBEYED & set(text), (case, OBEYED & set(text), text)


def hostile_trace(folder):
    """Every such character, and bytes that are not UTF-8, in the texts of a trace and in its path."""
    wild = "\u009b31m\u202e\u061c\u2066\u2028\x1b]0;x\x07\x7f"
    texts = [wild, "".join(sorted(OBEYED - {"\0"})), "plain ä€😀"]
    lines = [event("start", cat="dftracer", args={"hhash": wild, "cmd_hash": wild, "cwd": wild})]
    lines += [event(text, cat=text, args={"fname": text, "ret": -1, "errno": 2, text: text}) for text in texts]
    lines += [event(text, cat="POSIX", args={"fname": text, "ret": 7, "hhash": wild}) for text in ("read", *texts)]
    lines += [
        event("odd", ph=phase, start=BEGIN + 5, args={"hhash": 'h"\\\x1b'}) for phase in ('"', "\\", "\u202e", "X")
    ]
    lines += [event(kind, ph="M", args={"name": wild}) for kind in ("thread_name", "process_name")]
    data = [json.dumps(line, ensure_ascii=way).encode() for line in lines for way in (True, False)]
    raw = b"\x9b\xff\xc3(\xed\xa0\x80\xf8"
    data += [json.dumps(event("RAW", cat="POSIX", args={"fname": "RAW", "ret": 7})).encode().replace(b"RAW", raw)]
    data += [b"{broken"]
    inner = os.path.join(os.fsencode(folder), b"a\nb" + wild.encode() + raw)
    os.mkdir(inner)
    path = os.path.join(inner, wild.encode() + raw + b".pfw")
    return inner, save(os.fsdecode(path), *data)


def json_is_valid_whatever_the_texts(folder):
    """Strict UTF-8 and JSON; a byte that is not UTF-8 is U+FFFD, every other character is itself."""
    _, path = hostile_trace(folder)
    found = json.loads(run("summary", "--json", path, status=None)[0].decode("utf-8", "strict"))
    names = {group["name"] for group in found["groups"]}
    assert "".join(sorted(OBEYED - {"\0"})) in names and "plain ä€😀" in names, names
    assert b"\x9b\xff\xc3(\xed\xa0\x80\xf8".decode("utf-8", "replace") in names, names
    assert found["problems"][0]["file"] == os.fsencode(path).decode("utf-8", "replace"), found["problems"]
    cases = [("info", "--json"), ("summary", "--json", "--by", "file"), ("cat", "--resolve")]
    cases += [("merge", "-o", "-", "--align", way) for way in ("clock", "start", 'event:"\\\x1b\u202e')]
    for arguments in (*cases, ("convert", "--to", "chrome", "-o", "-")):
        output = run(*arguments, path, status=3)[0]
        for line in output.splitlines() if arguments[0] in ("info", "cat") else [output]:
            json.loads(line.decode("utf-8", "strict"))


def nothing_reaches_the_terminal(folder):
    """Of all commands that print texts of a trace or paths, to stdout or to stderr."""
    inner, path = hostile_trace(folder)
    missing = inner + b"/none.pfw"
    empty = os.path.join(inner, b"empty")
    os.mkdir(empty)
    cases = [("summary", path), ("summary", "--json", path), ("info", path), ("info", "--json", path)]
    cases += [("summary", "--csv", path), ("convert", "--to", "csv", "-o", "-", path)]
    cases += [("summary", "--by", by, path) for by in ("file", "process", "thread", "step")]
    cases += [
        ("summary", "--partial", "-o", os.path.join(inner, b"x.dfs"), path),
        ("validate", path),
        ("validate", inner),
    ]
    cases += [
        (command, wrong) for command in ("summary", "info", "cat", "validate", "recover") for wrong in (missing, empty)
    ]
    cases += [("convert", "-o", inner + b"/x.csv", path), ("merge", "-o", inner + b"/x.json", path), (missing,)]
    cases += [("convert", "-o", missing + b"/x.csv", path), ("merge", "-o", missing + b"/x.json", path)]
    cases += [
        ("merge", "-o", folder / "x.json", missing + b".json"),
        ("summary", missing + b".dfs"),
        ("top", "--once", empty),
    ]
    cases += [
        ("run", "--", missing),
        ("run", "--out", path, "--", "true"),
        ("doctor", "--", missing),
        ("summary", b"--" + missing),
    ]
    several = [path, inner + b"/x.json", save(os.fsdecode(inner + b"/y.pfw"), event())]
    wild = [event("\u009b\u202e", cat="\u009b", pid="\u202e"), event("\u202e", pid=7, **{"\u009b": "\u202e"})]
    Path(os.fsdecode(several[1])).write_text(json.dumps({"traceEvents": wild}, ensure_ascii=False))
    cases += [("info", *several), ("info", "--json", *several), ("summary", several[1]), ("validate", *several)]
    cases += [("merge", "-o", "-", *several), ("convert", "-o", "-", "--to", "chrome", path)]
    cases += [("cat", several[1] + b"x"), ("run", "--out", several[1], "--", "true"), ("run", "--out", b"-" + inner)]
    cases += [("summary", "--by", missing, path), ("generate", "--events", "10", missing + b"/x"), ("recover", path)]
    for case in cases:
        for output in run(*case, status=None):
            is_safe(output.translate(None, b"\t\r") if "csv" in "".join(map(str, case)) else output, case)
    out, mine = pty.openpty()
    with subprocess.Popen([COMMAND, "cat", path], stdout=mine, stderr=subprocess.DEVNULL) as process:
        os.close(mine)
        output = b""
        while piece := read_terminal(out):
            output += piece
        assert process.wait() != 0
    os.close(out)
    is_safe(output.replace(b"\r\n", b"\n"))
    for line in output.splitlines():
        json.loads(line)
    assert b"\xff" in run("cat", path, status=None)[0], "a pipe gets the lines as they are"


def no_cell_is_a_formula(folder):
    """Read by Python's csv module. Numbers stay numbers; behind the apostrophe is the text itself."""
    names = [
        "=1+2",
        "+1",
        "-1",
        "@SUM(1)",
        "\tx",
        "\rx",
        "=,",
        '="a"',
        "a=b",
        "'",
        "x-1",
        "",
        "a\nb",
        "ä",
        "1,5",
        "{",
        " ",
    ]
    lines = [event(name, cat=name, start=-5 - i, dur=i + 1, ph="X") for i, name in enumerate(names)]
    path = save(folder / "one.pfw", *lines, event("counter", ph="=", args={"fname": "=f", "hhash": "-h"}))
    shown = ["'" + name if name[:1] in ("=", "+", "-", "@", "\t", "\r") else name for name in names]
    for arguments in (("summary", "--csv"), ("convert", "--to", "csv", "-o", "-")):
        output = run(*arguments, path)[0].decode()
        rows = list(csv.DictReader(io.StringIO(output, newline="")))
        assert set(shown) <= {row["name"] for row in rows}, (arguments, rows)
        assert set(shown) <= {row["cat"] for row in rows}, (arguments, rows)
        for row in rows:
            assert None not in row and None not in row.values(), row
            assert not any(value[:1] in tuple("=+@\t\r") for value in row.values()), row
            for key in ("count", "total_ns", "start_us", "dur_us", "pid"):
                float(row.get(key, 0))
    assert sorted(float(row["start_us"]) for row in rows)[:2] == [-21, -20], rows
    step = save(folder / "two.pfw", event(args={"step": -3}))
    assert run("summary", "--csv", "--by", "step", step)[0].decode().splitlines()[1].startswith("-3,,1,")
    last = [row for row in rows if row["name"] == "counter"]
    assert [(row["ph"], row["file"], row["host"]) for row in last] == [("'=", "'=f", "'-h")], last


def damage_is_an_exit_status(folder):
    """3: read, with damage; 1: nothing could be read; 0: all is well. Also of a state that was saved."""
    good, other = save(folder / "good.pfw", event()), save(folder / "other.pfw", event(pid=8))
    damaged = save(folder / "damaged.pfw", event(), b"{broken", event())
    cut = folder / "cut.pfw.gz"
    cut.write_bytes(gzip.compress(json.dumps(event()).encode() + b"\n") + gzip.compress(os.urandom(4000))[:900])
    hopeless = save(folder / "hopeless.pfw", b"{broken")
    commands = (("summary",), ("summary", "--json"), ("summary", "--csv"), ("info",), ("cat",))
    commands += (("convert", "-o", "-", "--to", "csv"), ("summary", "--partial", "-o", folder / "x.dfs"))
    commands += (("merge", "-o", folder / "x.json"), ("convert", "-o", folder / "x.json"))
    for command in commands:
        run(*command, good, status=0)
        run(*command, good, other, status=0)
        run(*command, damaged, status=3)
        run(*command, good, damaged, status=3)
        run(*command, cut, status=3)
        run(*command, good, folder / "none.pfw", status=3)
        if "--partial" not in command:
            run(*command, hopeless, status=1)
    run("summary", "--partial", "-o", folder / "x.dfs", damaged, status=3)
    run("summary", folder / "x.dfs", status=3)
    timeline = folder / "cut.json"
    timeline.write_text(json.dumps({"traceEvents": [event(), event()]})[:-40])
    for command in commands:
        if "convert" not in command or "csv" in command:
            run(*command, timeline, status=3)
            run(*command, good, timeline, status=3)


def nothing_vanishes_silently(folder):
    """Every title of a column is in the output: as a title, or as one that is not shown; the share always stays."""
    titles = ("count", "total", "self", "mean", "~median", "~p95", "max", "share")
    lines = [event("n" * 60, cat="c" * 60, start=BEGIN + 10 * i) for i in range(3)]
    path = save(folder / "one.pfw", *lines, event("read", cat="POSIX", args={"fname": "f" * 90, "ret": 9}))
    head = [
        line
        for line in run("summary", path, COLUMNS="")[0].decode().splitlines()
        if line.split()[:2] == ["name", "cat"]
    ]
    assert tuple(head[0].split()[2:]) == titles, head
    assert "n" * 60 in run("summary", path, COLUMNS="")[0].decode()
    dropped = 0
    for width in range(30, 200, 10):
        output = run("summary", path, COLUMNS=str(width))[0].decode()
        table = output.partition("Events by name")[2].partition("\n\n")[0].splitlines()
        missing = set(titles) - set(table[1].split())
        named = " ".join(" ".join(table).split()).partition("not shown, for lack of width: ")[2]
        assert "share" not in missing, (width, missing)
        assert missing == set(named.split(", ") if named else []), (width, output)
        dropped += bool(missing)
    assert dropped, "no width was narrow"


def io_that_was_not_recorded(folder):
    """No trace of any I/O call is not the same as calls that took no time."""
    assert b"not recorded" in run("summary", save(folder / "one.pfw", event()))[0]
    path = save(folder / "two.pfw", event(), event("read", cat="POSIX", dur=0, args={"ret": 1}))
    assert b"not recorded" not in run("summary", path)[0]


def read_terminal(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end is closed
        return b""


def main():
    for case in (
        a_file_counts_once_whatever_its_paths,
        times_in_every_notation,
        times_at_both_ends,
        fractions_of_microseconds_in_medians,
        zeros_in_texts,
        json_is_valid_whatever_the_texts,
        nothing_reaches_the_terminal,
        no_cell_is_a_formula,
        damage_is_an_exit_status,
        nothing_vanishes_silently,
        io_that_was_not_recorded,
    ):
        if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            case(Path(folder))
            print("passed:", case.__name__, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
