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
from harness import arguments_of, environment, traces_of

SOURCE = pathlib.Path(os.environ.get("DFT_TEST_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
PYTHON = str(SOURCE / "build" / "torch" / "bin" / "python")

run = functools.partial(harness.run, python=PYTHON)
record = functools.partial(harness.record, python=PYTHON)
one = functools.partial(harness.one, python=PYTHON)


RUN_EACH = """
import os, runpy, sys
for name in sys.argv[2:]:
    os.chdir(os.path.join(sys.argv[1], name))
    runpy.run_path("program.py", run_name="__main__")
"""


def run_each(programs, folder, **changes):
    """Runs programs by their names in folders of these names, one after the other in one process: torch loads once."""
    for name, program in programs.items():
        (folder / name).mkdir()
        (folder / name / "program.py").write_text(program)
    run(RUN_EACH, folder, *programs, **changes)


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


__all__ = ["PYTHON", "arguments_of", "environment", "main", "names_of", "one", "record", "run", "run_each", "traces_of"]
