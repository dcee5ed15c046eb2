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
from preloaded import Preloaded

SOURCE = pathlib.Path(os.environ.get("DFT_TEST_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
PYTHON = str(SOURCE / "build" / "torch" / "bin" / "python")

# Each test file has a server that loads torch once. It is loaded before the package there; run_fresh and run_each load
# it in the order in which the program imports the two.
server = Preloaded(PYTHON, "torch")
COMPILER = ("torch._dynamo", "torch._functorch.aot_autograd", "torch._inductor.scheduler")  # also optimizers load it
ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # several that wait for each other take long on a busy machine
run_fresh = functools.partial(harness.run, python=PYTHON, **ONE_THREAD)
run = functools.partial(run_fresh, launch=server)
record = functools.partial(harness.record, python=PYTHON, launch=server, **ONE_THREAD)
one = functools.partial(harness.one, python=PYTHON, launch=server, **ONE_THREAD)


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
    run_fresh(RUN_EACH, folder, *programs, **changes)


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


__all__ = [
    "COMPILER",
    "PYTHON",
    "arguments_of",
    "environment",
    "main",
    "names_of",
    "one",
    "record",
    "run",
    "run_each",
    "run_fresh",
    "server",
    "traces_of",
]
