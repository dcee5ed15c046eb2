"""normal.py - a trace without what differs from run to run: what client programs recorded, as lines of text.

Reads the lines itself, of any dialect, so that a trace of the original can be laid beside one of ours.
SPDX-License-Identifier: MIT
"""

import collections
import glob
import gzip
import json
import os

# Keys that the tracer adds, and facts of its own in `end`.
ADDED = {"hhash", "p_idx", "level", "num_events", "cmd_hash", "exec_hash", "cfg", "build"}


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        lines = file.read().split("\n")
    return [json.loads(line) for line in lines if line.startswith("{")]


def by_time(events):
    """Outer ones first. Of two with the same times the outer one ended, and was written, later."""
    order = sorted(enumerate(events), key=lambda one: (one[1]["ts"], -one[1]["dur"], -one[0]))
    return [event for _, event in order]


def arguments(event, files):
    args = {key: value for key, value in event.get("args", {}).items() if key not in ADDED}
    if "fhash" in args:
        args["fhash"] = files[args["fhash"]]
    return "".join(f" {key}={json.dumps(args[key])}" for key in sorted(args))


def depths(events):
    """How many events of the same thread lie around each."""
    found = {}
    by_thread = collections.defaultdict(list)
    for event in events:
        by_thread[event["tid"]].append(event)
    for own in by_thread.values():
        ends = []
        for event in by_time(own):
            while ends and ends[-1] <= event["ts"]:
                ends.pop()
            found[id(event)] = len(ends)
            ends.append(event["ts"] + event["dur"])
    return found


def facts(end):
    """app.KEY and used.NAME, which the original nests."""
    flat = {}
    for key, value in end.get("args", {}).items():
        if isinstance(value, dict) and key in ("app", "used"):
            flat |= {f"{key}.{name}": inner for name, inner in value.items()}
        elif key.startswith(("app.", "used.")):
            flat[key] = value
    return [f"end {key}={json.dumps(value)}" for key, value in sorted(flat.items())]


def process(path):
    events = read(path)
    users = [event for event in events if "dur" in event and event["cat"] != "dftracer"]
    depth = depths(users)
    defined = [event["args"] for event in events if event["name"] == "FH"]
    files = {args["value"]: os.path.basename(args["name"]) for args in defined}
    threads = collections.defaultdict(list)
    for event in by_time(users):
        line = f"{event['name']} {event['cat']}{arguments(event, files)}"
        threads[event["tid"]].append("  " * depth[id(event)] + line)
    lines = []
    for own in sorted(threads.values()):
        lines += ["thread", *own]
    for event in events:
        if event["name"] == "CM" and event["args"]["name"] != "time_metric":
            lines.append(f"metadata {event['args']['name']}={event['args']['value']}")
    for event in events:
        if event["name"] == "end" and event["cat"] == "dftracer":
            lines += facts(event)
    return lines


def folder(path):
    """Every process that left a trace there, in an order of their contents."""
    processes = sorted(process(name) for name in glob.glob(f"{path}/*.pfw*"))
    return "\n".join(line for lines in processes for line in ["process", *lines]) + "\n"


if __name__ == "__main__":
    import sys

    print(folder(sys.argv[1]), end="")
