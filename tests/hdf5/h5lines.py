"""h5lines.py - JSON lines, read with Python's json, beside rows of h5trace.py: whether they say the same.
SPDX-License-Identifier: MIT
"""

import json
import math
import os
import sys
import zlib

import h5trace

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "faults"))

from harness import expect, expect_equal


def json_lines(path):
    with open(path, "rb") as file:
        rest, text = file.read(), b""
    while rest:
        member = zlib.decompressobj(31)
        text += member.decompress(rest)
        rest = member.unused_data
    return [json.loads(line) for line in text.split(b"\n")[1:-1]]


def is_same(shown, stored):
    """JSON has no NaN and no infinity: they stand there as texts."""
    if isinstance(stored, float) and not math.isfinite(stored):
        return shown == ("nan" if math.isnan(stored) else "inf" if stored > 0 else "-inf")
    if isinstance(shown, float) or isinstance(stored, float):
        return isinstance(shown, float) and isinstance(stored, float) and h5trace.same_double(shown, stored)
    return type(shown) is type(stored) and shown == stored


def compare(line, row):
    expect_equal({key: value for key, value in row.items() if key != "args"},
                 {key: value for key, value in line.items() if key != "args"}, "an event")
    expect_equal(sorted(row["args"]), sorted(line["args"]), f"keys of {line}")
    for key, shown in line["args"].items():
        expect(is_same(shown, row["args"][key]), f"{key}: {shown!r} {row['args'][key]!r}")
