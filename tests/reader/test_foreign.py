"""Traces of other programs: their texts, their numbers, and the paths they are found at. Each truth is known by construction."""

import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

COMMAND = os.environ["DFT_TEST_COMMAND"]
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
            if true >= 2**63 - 1000:
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
    assert found["job"]["start_ns"] >= 2**63 - 10**5 and found["problem_count"] == 1, found


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


def main():
    wanted = sys.argv[1:]
    cases = [case for name, case in globals().items() if callable(case) and "_" in name and case.__module__ == __name__]
    for case in cases:
        if wanted and case.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            case(Path(folder))


if __name__ == "__main__":
    main()
