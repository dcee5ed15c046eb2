"""summary_check.py - compares dftracer summary --json with what the oracle works out.

Percentiles are compared within the error that the documentation states. Left out: the order of lines that are equal in
what they are sorted by; because these traces are sound, what is told of damage (reader.limits); and what is concluded
from the numbers, which tests/verdict checks. SPDX-License-Identifier: MIT
"""

import functools
import gzip
import json
import os
import subprocess

import oracle_delays
import summary_oracle as expected

NEAR = ("median_ns", "p95_ns", "p99_ns", "size_median", "size_p95")
BY = ("name", "file", "process", "thread", "step", "rank")
SORTED = {  # by what, the largest first
    ".groups": lambda line: (line["self_ns"], line["total_ns"]),
    ".io.files": lambda line: line["read_ns"] + line["write_ns"] + line["metadata_ns"],
    ".io.processes": lambda line: line["read_ns"] + line["write_ns"] + line["metadata_ns"],
    ".regions_by_rank": lambda line: (line["lost_ns"], line["max_ns"]),
    ".io.failures": lambda line: line["count"],
    ".training.by_epoch": lambda line: 1 if line["epoch"] is None else -line["epoch"],
}


def command(*arguments):
    done = subprocess.run([os.environ["DFT_TEST_COMMAND"], *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def exact(line):
    return json.dumps(
        {key: value for key, value in line.items() if key not in (*NEAR, "deviation_ns", "before")}, sort_keys=True
    )


def compare(where, ours, theirs, grain):
    """Every number of the two documents; `grain`: durations are multiples of it."""
    if isinstance(theirs, oracle_delays.Shares):
        theirs.check(ours, where)
    elif isinstance(theirs, dict) and isinstance(ours, dict):
        assert set(ours) == set(theirs), f"{where}: summary has {sorted(ours)}, oracle {sorted(theirs)}"
        for key in theirs:
            compare(f"{where}.{key}", ours[key], theirs[key], grain)
    elif isinstance(theirs, list) and isinstance(ours, list):
        order = list(map(SORTED[where], ours)) if where in SORTED else []
        assert order == sorted(order, reverse=True), f"{where}: not in order"
        assert len(ours) == len(theirs), f"{where}: summary has {len(ours)}, oracle {len(theirs)}"
        for one, two in zip(sorted(ours, key=exact), sorted(theirs, key=exact)):
            compare(f"{where}[{exact(two)[:120]}]", one, two, grain)
    elif where.endswith("deviation_ns"):  # to the nearest nanosecond
        assert abs(ours - theirs) <= 0.5 + theirs * 1e-9, f"{where}: summary {ours}, oracle {theirs}"
    elif where.endswith(NEAR):
        allowed = theirs / 128 + (grain if where.endswith("_ns") else 1) / 2
        assert abs(ours - theirs) <= allowed, f"{where}: summary {ours}, oracle {theirs}"
    else:
        assert ours == theirs, f"{where}: summary {ours}, oracle {theirs}"


@functools.lru_cache
def version():
    return command("--version").split()[-1]


def summary_of(*arguments):
    """The numbers of summary --json."""
    found = json.loads(command("summary", "--json", *arguments))
    assert found.pop("version") == version()
    assert set(found.pop("verdict") or {"class": None}) >= {"class"}
    assert all(set(finding) >= {"id", "stake_ns"} for finding in found.pop("findings"))
    return found


def check(summary, paths, grain, jobs="3", options=()):
    found = summary_of("--jobs", jobs, *options, *paths)
    compare("", found, summary.document(), grain)
    return found


def check_everything(texts, paths, grain=1000, middle=(1, 2)):
    """All forms of --by and all filters; `middle`: seconds with events in between."""
    found = check(expected.Summary(texts), paths, grain, jobs="1")
    since, until = (number * 10**9 for number in middle)
    filters = [
        ({}, ()),
        ({"since": since}, ("--from", f"{middle[0]}")),
        ({"until": until}, ("--to", f"{middle[1] * 1000}ms")),
        ({"since": since, "until": until}, ("--from", f"{middle[0]}s", "--to", f"{middle[1]}s")),
        ({"names": ("*read*", "f*")}, ("--name", "*read*", "--name", "f*")),
        ({"cats": ("POSIX", "comp?te")}, ("--cat", "POSIX", "--cat", "comp?te")),
        (
            {"since": since, "names": ("p*", "write"), "cats": ("POSIX",)},
            ("--from", f"{middle[0]}s", "--name", "p*", "--name", "write", "--cat", "POSIX"),
        ),
    ]
    for i, (question, options) in enumerate(filters):
        summary = expected.Summary(texts, **question)
        for summary.by in BY if i in (0, len(filters) - 1) else [BY[i % len(BY)]]:
            check(summary, paths, grain, options=(*options, "--by", summary.by))
    return found


def save(folder, traces):
    paths = []
    for name, text in traces.items():
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "wb") as file:
            file.write(gzip.compress(text) if name.endswith(".gz") else text)
    return list(traces.values()), paths
