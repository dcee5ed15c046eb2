"""traces.py - traces of ours for the readers of others, and what must be found in them.

    with make_traces() as traces:
        for trace_set in traces: trace_set.folder, trace_set.paths, trace_set.names ...

Each set is recorded by the real library: a small process, several processes, one with many gzip members, and processes
that were killed and recovered. What is in them is told by tests/trace.py, which checks every rule.
"""

import collections
import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(os.environ["DFT_TEST_SOURCE"])
READERS = SOURCE / "build/readers"  # made by ./dev
sys.path.insert(0, str(SOURCE / "tests"))
from trace import read_folder  # noqa: E402

GROUPS = (  # name, rounds of five events, processes, killed
    ("small", 2, 1, False),
    ("processes", 100, 4, False),
    ("members", 4000, 1, False),
    ("recovered", 50, 2, True),
)


class TraceSet:
    def __init__(self, name, folder):
        self.name = name
        self.folder = folder
        self.traces = read_folder(folder)
        self.paths = [trace.path for trace in self.traces]
        lines = [event for trace in self.traces for event in trace.events]
        self.lines = len(lines) + len(self.traces)  # and one "[" a file
        self.events = [event for event in lines if event["ph"] != "M"]
        self.names = collections.Counter(event["name"] for event in self.events)
        self.cats = collections.Counter(event["cat"] for event in self.events)
        paths = {event["args"]["name"] for event in lines if event["name"] == "FH"}
        self.files = {path for path in paths if path.startswith("/data/")}
        self.hosts = {event["args"]["name"] for event in lines if event["name"] == "HH"}


def record(folder, rounds, processes, killed):
    env = {**os.environ, "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": f"{folder}/trace"}
    program = Path(os.environ["DFT_TEST_PROGRAMS"]) / "record"
    subprocess.run([program, str(rounds), str(processes), *(["kill"] if killed else [])], env=env, check=True)
    if killed:
        subprocess.run([os.environ["DFT_TEST_COMMAND"], "recover", "-q", folder], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def make_traces():
    """The sets, in folders of their own."""
    with tempfile.TemporaryDirectory() as top:
        for name, *what in GROUPS:
            record(f"{top}/{name}", *what)
        sets = [TraceSet(name, f"{top}/{name}") for name, *_ in GROUPS]
        found = {one.name: one for one in sets}
        # The sets are what they are called, or the tests would show nothing.
        assert len(found["small"].events) == 2 * 5 + 2
        assert len(found["processes"].paths) == 4
        assert len(found["members"].traces[0].members) > 3
        assert all(trace.end["args"]["recovered"] == 1 for trace in found["recovered"].traces)
        assert found["recovered"].names["open"] == 2
        yield sets


def tool(*parts):
    """The path of something that ./dev installs for these tests; without it the test is skipped."""
    path = READERS.joinpath(*parts)
    if not path.exists():
        print(f"SKIP: {path} is not there; ./dev test readers installs it")
        sys.exit(77)
    return str(path)


def run(words, **more):
    """What a program wrote to stdout; its stderr is told when it fails."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout
