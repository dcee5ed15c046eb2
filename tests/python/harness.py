"""harness.py - runs Python programs with the package dftracer in fresh processes, and reads what they recorded.

    traces = record("from dftracer.python import ai ...", folder)
    traces[0].named("forward")

The program finds the folder in its first argument. SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import trace as trace_module

PYTHON = os.environ.get("DFT_TEST_PYTHON", sys.executable)
PYTHONPATH = os.environ.get("DFT_TEST_PYTHONPATH", "")
START = """
import sys
from dftracer.python import *
from dftracer.python import ai, dft_fn, dftracer
log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", None, -1)
"""


def environment(**changes: str) -> dict[str, str]:
    """No variable of ours but those given; tracing is on."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("DFTRACER_")}
    paths = [PYTHONPATH, kept.get("PYTHONPATH", "")]
    kept["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return {**kept, "DFTRACER_ENABLE": "1", "DFTRACER_DISABLE_IO": "1", "DFTRACER_TRACE_COMPRESSION": "0", **changes}


def launch_process(command, **options):
    """Runs a command in a process of its own."""
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def run(
    program, folder, *arguments, python=PYTHON, status=0, timeout=100, launch=launch_process, **changes
):
    """Runs a program's text, or a file, and returns what it printed; the exit status must be as expected."""
    folder = pathlib.Path(folder)
    if not str(program).endswith(".py"):
        script = folder / "program.py"
        script.write_text(textwrap.dedent(str(program)))
        program = script
    command = [python, str(program), str(folder), *map(str, arguments)]
    done = launch(command, env=environment(**changes), timeout=timeout, cwd=folder)
    assert done.returncode == status, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    run.stderr = done.stderr
    return done.stdout


def package_without_native(folder):
    """A copy of the package's Python files alone; returns the folder for PYTHONPATH."""
    (source,) = [path for path in PYTHONPATH.split(os.pathsep) if os.path.isdir(f"{path}/dftracer/python")]
    ignored = shutil.ignore_patterns("*.so*", "__pycache__")
    shutil.copytree(f"{source}/dftracer", pathlib.Path(folder) / "dftracer", ignore=ignored)
    return str(folder)


def traces_of(folder, **options):
    """Every trace of the folder, checked against the format."""
    return trace_module.read_folder(str(folder), **options)


def record(program, folder, *arguments, start=True, overlap=False, **changes):
    """Runs a program after opening a trace, and reads all traces it left."""
    text = (START if start else "") + textwrap.dedent(program)
    record.stdout = run(text, folder, *arguments, **changes)
    return traces_of(folder, overlap=overlap)


def one(program, folder, *arguments, **changes):
    """The only trace of a program."""
    traces = record(program, folder, *arguments, **changes)
    assert len(traces) == 1, [trace.path for trace in traces]
    return traces[0]


def lines_of(folder, pattern="*.pfw"):
    """All lines of all files, as the suites of the original count them."""
    return sum(len(path.read_text().splitlines()) for path in pathlib.Path(folder).glob(pattern))


def arguments_of(event):
    """What the program gave, without what every event has."""
    return {key: value for key, value in event["args"].items() if key not in ("hhash", "p_idx", "level")}


class _Outcomes:
    """Counts, so that a file whose tests were all skipped says so by its exit status."""

    def __init__(self):
        self.passed, self.reasons = 0, []

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.reasons.append(report.longrepr[2])
        elif report.when == "call":
            self.passed += report.passed


def main(file):
    """Runs the tests of a file."""
    import pytest

    outcomes = _Outcomes()
    status = pytest.main(["-q", "-x", "--no-header", "-p", "no:cacheprovider", str(file)], plugins=[outcomes])
    if status == 0 and not outcomes.passed:
        print(f"SKIP: {outcomes.reasons[0]}")
        status = 77
    sys.exit(status)
