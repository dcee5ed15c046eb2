"""test_versions.py - this version reads and converts a .h5 of 5.0: exactly what sample.c of tests/data/5.0 recorded.
SPDX-License-Identifier: MIT
"""

import lzma
import os
import sys

import h5trace

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "faults"))

from harness import COMMAND, expect_equal, main, run, untraced

DATA = os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "data", "5.0")


def check(path):
    events = h5trace.read(path)
    steps = sorted(event["args"]["n"] for event in events if event["name"] == "step")
    expect_equal(steps, list(range(1, 201)), "steps")
    (everything,) = [event for event in events if event["name"] == "everything"]
    values = {key: everything["args"][key] for key in ("int", "double", "string")}
    expect_equal(values, {"int": -7, "double": 0.25, "string": 'café "quoted"\n'}, "arguments")
    (end,) = [event for event in events if event["name"] == "end"]
    expect_equal(end["args"]["num_events"], 202, "events")


def case_a_file_is_read_and_converted(folder):
    path, converted = os.path.join(folder, "trace.h5"), os.path.join(folder, "job.h5")
    with lzma.open(os.path.join(DATA, "trace.h5.xz")) as packed, open(path, "wb") as file:
        file.write(packed.read())
    check(path)
    done = run([COMMAND, "convert", path, "-o", converted], untraced())
    expect_equal(done.returncode, 0, f"convert: {done.stdout}{done.stderr}")
    check(converted)


main(globals())
