"""torch_harness.py - runs programs with torch in the environment that ./dev makes in build/torch.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import functools
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import harness
from harness import arguments_of, traces_of

SOURCE = pathlib.Path(os.environ.get("DFT_TEST_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
PYTHON = str(SOURCE / "build" / "torch" / "bin" / "python")

run = functools.partial(harness.run, python=PYTHON)
record = functools.partial(harness.record, python=PYTHON)
one = functools.partial(harness.one, python=PYTHON)


def names_of(trace, cat):
    """The names of a category's events, in the order in which they began."""
    events = [event for event in trace.events if event["cat"] == cat]
    return [event["name"] for event in sorted(events, key=lambda event: event["ts"])]


def main(file):
    """Runs the tests of a file."""
    if not os.path.exists(PYTHON):
        print("SKIP: torch is not there (./dev test torch installs it into build/torch)")
        sys.exit(77)
    harness.main(file)


__all__ = ["PYTHON", "arguments_of", "main", "names_of", "one", "record", "run", "traces_of"]
