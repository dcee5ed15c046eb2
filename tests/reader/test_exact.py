"""The numbers of traces that are larger than memory may be are exact. The truth is worked out here from the lines."""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = os.environ["DFT_TEST_COMMAND"]


def run(*arguments):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def union(spans):
    """Disjoint, in order."""
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(spans):
    return sum(end - start for start, end in union(spans))


def training_times_of_many_spans(folder):
    """More separate spans than 65,536, of one process; in memory and spilled."""
    run("generate", "--events", "1500K", "--processes", "1", "--threads", "2", folder)
    (path,) = Path(folder).glob("*.pfw.gz")
    line = re.compile(rb'"cat":"(compute|dataloader|data)","pid":\d+,"tid":\d+,"ts":(\d+),"dur":(\d+)')
    spans = {b"compute": [], b"dataloader": [], b"data": []}
    with gzip.open(path) as file:
        for cat, start, time in line.findall(file.read()):
            spans[cat].append((int(start) * 1000, (int(start) + int(time)) * 1000))
    compute, fetch, data = spans.values()
    assert len(union(compute)) > 65536
    expected = {
        "compute_ns": length(compute),
        "fetch_ns": length(fetch),
        "data_ns": length(data),
        "wait_ns": length(fetch + compute) - length(compute),
        "hidden_ns": length(data) + length(compute) - length(data + compute),
    }
    for memory in ("64Mi", "100K", "0"):
        found = json.loads(run("summary", "--json", "--memory", memory, folder))["training"]
        assert {key: found[key] for key in expected} == expected, (memory, found, expected)


def main():
    for case in (training_times_of_many_spans,):
        with tempfile.TemporaryDirectory() as folder:
            case(folder)
            print("passed:", case.__name__, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
