"""Traces of other programs: their texts, their numbers, and the paths they are found at. Each truth is known by construction."""

import json
import os
import subprocess
import sys
import tempfile
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
