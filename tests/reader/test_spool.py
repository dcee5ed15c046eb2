"""What a process has recorded is read while it runs, after its death, and after recovery: the same events each time."""

import json
import os
import signal
import subprocess
import sys
import tempfile

import oracle


def start(folder, events, **settings):
    environment = dict(os.environ, DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=os.path.join(folder, "trace"), **settings)
    process = subprocess.Popen(
        [oracle.program("recorder"), str(events)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def command(*arguments):
    done = subprocess.run([os.environ["DFT_TEST_COMMAND"], *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return done.stdout


def events_of(folder):
    """By id; without the lines that have no record, whose ids are given when they are written."""
    events = [json.loads(line) for line in command("cat", folder).splitlines()]
    ids = [event["id"] for event in events]
    assert len(ids) == len(set(ids)), "an id comes twice"
    return {event["id"]: event for event in events if event["cat"] == "app"}, events


def is_same(one, two):
    """The clock's rate is known better later: times may move by a microsecond."""
    return (
        abs(one["ts"] - two["ts"]) <= 1
        and abs(one["dur"] - two["dur"]) <= 1
        and one | {"ts": 0, "dur": 0} == two | {"ts": 0, "dur": 0}
    )


def merge(folder):
    """What it says on stderr."""
    words = [os.environ["DFT_TEST_COMMAND"], "merge", folder, "-o", os.devnull]
    return subprocess.run(words, capture_output=True, text=True, check=True).stderr


def says(folder, note, recovered=0, left=0, running=0):
    """What summary says of the life of the one process."""
    lost = json.loads(command("summary", "--json", folder))["lost"]
    expected = {"recovered_traces": recovered, "unrecovered_traces": left, "running_processes": running}
    expected["unfinished_traces"] = running
    assert lost == {"dropped": 0, **expected}, lost
    text = command("summary", folder)
    assert text.split("\nNotes\n  ")[1].splitlines()[0].startswith(note), text


def check(folder, events, running, settings):
    process = start(folder, events, **settings)
    try:
        alive, lines = events_of(folder)
        assert len(alive) == 2 * events + 1, len(alive)
        assert sum(event["args"].get("open", 0) for event in alive.values()) == 1
        assert lines[0]["name"] == "HH" and not any(line["name"] == "end" for line in lines)
        assert sorted(event["args"]["number"] for event in alive.values() if event["name"] == "wörk") == sorted(
            [*range(events), *range(events)]
        )
        (still,) = (event for event in alive.values() if "open" in event["args"])
        assert events_of(folder)[0][still["id"]]["dur"] > still["dur"], "what is open lasts until now"
        found = json.loads(command("summary", "--json", folder))
        assert found["events"] == 2 * events + 1 and found["problems"] == [], found["problems"]
        facts = json.loads(command("info", "--json", folder))
        assert facts["kind"] == "spool" and facts["state"] == "running" and not facts["recovered"], facts
        assert "1 process is still running: the file shows what happened until now" in merge(folder)
        says(folder, running=1, note="1 process is still running: the numbers are those of now")
        if running:
            process.communicate("\n", timeout=60)
            assert process.returncode == 0
        else:
            process.send_signal(signal.SIGKILL)
            process.wait()
            dead, lines = events_of(folder)
            assert lines[-1]["name"] == "end" and lines[-1]["args"]["recovered"] == 1, lines[-1]
            assert dead.keys() == alive.keys()
            facts = json.loads(command("info", "--json", folder))
            assert facts["state"] == "died" and not facts["recovered"], facts
            assert "publish its trace with 'dftracer recover FOLDER'" in command("info", folder)
            assert "running" not in merge(folder)
            says(
                folder, left=1, note="1 process died, and the trace is not recovered yet: run 'dftracer recover FOLDER'"
            )
            command("recover", folder)
            assert json.loads(command("info", "--json", folder))["state"] == "recovered"
            says(folder, recovered=1, note="1 trace was recovered after the process died")
    finally:
        process.kill()
        process.communicate()
    assert not os.path.exists(os.path.join(folder, ".dftracer"))
    after, lines = events_of(folder)
    assert lines[-1]["name"] == "end"
    assert after.keys() == alive.keys()
    for number, event in after.items():
        if "open" not in alive[number]["args"]:
            assert is_same(event, alive[number]), f"{event} is not {alive[number]}"
        assert running or is_same(event, dead[number]), f"{event} is not {dead[number]}"


def main():
    cases = [
        (50, False, {}),
        (50, True, {}),
        (12000, False, {}),
        (12000, True, {"DFTRACER_TRACE_COMPRESSION": "0"}),
        (50, False, {"DFTRACER_SPOOL_DIR": "elsewhere"}),
    ]
    for events, running, settings in cases:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as elsewhere:
            if "DFTRACER_SPOOL_DIR" in settings:
                settings = {"DFTRACER_SPOOL_DIR": elsewhere}
            check(folder, events, running, settings)
            print("passed:", events, "events,", "running" if running else "killed", settings)
    return 0


if __name__ == "__main__":
    sys.exit(main())
