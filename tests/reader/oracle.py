"""What the reader must give, worked out with json and arithmetic alone: no line of it is shared with the reader."""

import gzip
import json
import os
import subprocess

UNITS = {"NS": 1, "US": 1000, "MS": 10**6, "SEC": 10**9}
PHASES = {1: "X", 4: "M"}


def program(name):
    return os.path.join(os.environ["DFT_TEST_PROGRAMS"], name)


def events_of(text):
    """The JSON objects of a trace's text, one a line; what is none is left out."""
    for line in text.split(b"\n"):
        line = line.strip(b" \t\r[],")
        if not line:
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "ph" in event and "name" in event:
            yield event


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def cell(key, value):
    name = key.encode().hex()
    if isinstance(value, bool):
        return f"{name}=b{int(value)}"
    if isinstance(value, int):
        return f"{name}=i{value}"
    if isinstance(value, float):
        return f"{name}=d{value:.17g}"
    if isinstance(value, str):
        return f"{name}=s{value.encode(errors='surrogatepass').hex()}"
    return f"{name}=r"


def row(source, event, unit):
    phase = event["ph"]
    if isinstance(phase, int):
        phase = PHASES[phase]
    args = dict(event.get("args", {}))
    host, file = str(args.pop("hhash", "")), str(args.pop("fhash", ""))
    parent, level = args.pop("p_idx", 0), args.pop("level", 0)
    fields = [
        source,
        phase,
        event.get("id", 0),
        event.get("ts", 0) * unit,
        event.get("dur", 0) * unit,
        event["pid"],
        event["tid"],
        level,
        parent,
        event["name"].encode().hex(),
        event["cat"].encode().hex(),
        host.encode().hex(),
        file.encode().hex(),
    ]
    return "\t".join([*map(str, fields), *(cell(key, value) for key, value in args.items())])


def unit_of(events):
    for event in events:
        if event["ph"] in ("M", 4) and event["args"].get("name") == "time_metric":
            return UNITS[event["args"]["value"]]
    return 1000


def rows_of(texts):
    """The rows of several sources, given their texts."""
    result = []
    for source, text in enumerate(texts):
        events = list(events_of(text))
        unit = unit_of(events[:20])
        result += [row(source, event, unit) for event in events]
    return result


def run(threads, *paths):
    """What the reader says: rows and problems. Raw JSON values are cut down to their type."""
    done = subprocess.run([program("rows"), str(threads), *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"rows ended with {done.returncode}: {done.stderr}"
    lines = done.stdout.split("\n")[:-1]
    problems = [line.split("\t")[1:] for line in lines if line.startswith("problem\t")]
    rows = []
    for line in lines:
        if not line.startswith("problem\t"):
            rows.append("\t".join(part.split("=r")[0] + "=r" if "=r" in part else part for part in line.split("\t")))
    return rows, problems
