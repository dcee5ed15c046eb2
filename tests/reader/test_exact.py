"""The numbers of traces that are larger than memory may be are exact. The truth is worked out here from the lines."""

import gzip
import json
import os
import random
import re
import subprocess
from pathlib import Path

from cases import run_cases

COMMAND = os.environ["DFT_TEST_COMMAND"]


def run(*arguments, status=0):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
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


def nested_calls(phases, loops, calls):
    """Lines of three nested functions in the order of their ends, and the self time of each function, in ns."""
    lines, selfs, now = [], dict.fromkeys(("program", "phase", "loop", "call"), 0), 10**6
    rng = random.Random(phases)

    def spend(name, most):
        nonlocal now
        time = rng.randrange(1, most)
        selfs[name] += time * 1000
        now += time

    def record(name, start, args=""):
        cat = "POSIX" if args else "app"
        lines.append(
            f'{{"name":"{"read" if args else name}","cat":"{cat}","pid":1,"tid":1,"ts":{start},"dur":{now - start},'
            f'"ph":"X","args":{{{args}}}}}'
        )

    for _ in range(phases):
        began = now
        spend("phase", 50)
        for loop in range(loops):
            start = now
            spend("loop", 3)
            for call in range(calls):
                at = now
                spend("call", 3)
                record("call", at, f'"fhash":"f","ret":10,"offset":{(loop * calls + call) * 10}')
                spend("loop", 3)
            record("loop", start)
            spend("phase", 4)
        record("phase", began)
        now += 7
    return lines, selfs


def self_times(folder, lines, selfs, phases, reads, problems=0):
    """As expected, however much memory there is."""
    path = Path(folder) / "trace.pfw"
    path.write_text("[\n" + "\n".join(lines) + "\n]\n")
    for memory in ("64Mi", "0"):
        found = json.loads(run("summary", "--json", "--memory", memory, path, status=3 if problems else 0))
        ours = {group["name"]: group["self_ns"] for group in found["groups"]}
        assert ours == {"phase": selfs["phase"], "loop": selfs["loop"], "read": selfs["call"]}, (memory, ours, selfs)
        io = found["io"]["all"]
        assert (io["sequential"], io["random"]) == (reads - phases, phases - 1), io
        assert (found["problem_count"], found["events"]) == (problems, len(lines) - problems), found["problems"]


def self_times_of_many_calls(folder):
    """More gaps between calls than fit in memory, and functions that begin before all of them."""
    lines, selfs = nested_calls(3, 20000, 5)
    self_times(folder, lines, selfs, 3, 300000)


def self_times_of_shuffled_lines(folder):
    """Far out of order; a line that is no event is reported once, although the trace is read twice."""
    lines, selfs = nested_calls(2, 100000, 2)
    random.Random(1).shuffle(lines)
    lines.insert(1000, '{"name": broken')
    self_times(folder, lines, selfs, 2, 400000, 1)


def no_room_for_what_does_not_fit(folder):
    """It says where there is no room, and what to do. Small traces need none."""
    run("generate", "--events", "100K", "--processes", "1", folder)
    for memory, status in (("64Mi", 0), ("0", 1)):
        command = [COMMAND, "summary", "--memory", memory, folder]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | {"TMPDIR": "/none"}
        )
        assert done.returncode == status, (memory, done)
    wanted = "dftracer summary: /none: No such file or directory; set TMPDIR to a folder with more room\n"
    assert (done.stdout, done.stderr) == ("", wanted), done


if __name__ == "__main__":
    run_cases(
        training_times_of_many_spans,
        self_times_of_many_calls,
        self_times_of_shuffled_lines,
        no_room_for_what_does_not_fit,
    )
