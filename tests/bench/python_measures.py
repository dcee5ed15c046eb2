"""python_measures.py - what annotations cost a Python program, and what importing and installing the package cost.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from report import Row, difference_row, ratio_row

SOURCE = Path(__file__).resolve().parents[2]
BARS_ON = {"decorated": 130.0, "with": 1.4, "with_values": 500.0, "logged": 250.0, "iter": 400.0}
BARS_OFF = {"decorated": 25.0, "with": 80.0, "with_values": 150.0, "logged": 25.0, "iter": 30.0}
IMPORT_BAR_MS = 30.0
START_BAR_MS = 0.3
START = """
import site, sys, time
before = time.perf_counter()
site.addpackage(sys.argv[1], "dftracer.pth", set())
print(1e3 * (time.perf_counter() - before))
"""


def environment(build: Path, enable: bool) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("DFTRACER_", "PYTHON"))}
    paths = [SOURCE / "python", build / "python", build / "bench"]
    ours = {"DFTRACER_ENABLE": str(int(enable)), "DFTRACER_SINK": "null"}
    return {**kept, **ours, "PYTHONPATH": ":".join(map(str, paths))}


def samples(build: Path, folder: Path, rounds: int, enable: bool) -> dict[str, list[float]]:
    script = Path(__file__).with_name("python") / "annotations.py"
    done = subprocess.run(
        [sys.executable, script, str(rounds), folder],
        env=environment(build, enable),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    got: dict[str, list[float]] = {}
    for line in done.stdout.splitlines():
        name, value = line.split()
        got.setdefault(name, []).append(float(value))
    return got


def import_times(build: Path, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of whole interpreters, alternated."""
    got: dict[str, list[float]] = {"bare": [], "on": [], "off": []}
    for _ in range(rounds):
        for name, code in (("bare", "pass"), ("on", "import dftracer.python"), ("off", "import dftracer.python")):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], env=environment(build, name == "on"), check=True)
            got[name].append((time.perf_counter() - begin) * 1e3)
    return got


def start_times(build: Path, folder: Path, rounds: int) -> dict[str, list[float]]:
    """Milliseconds for the first .pth file of new interpreters, while tracing is off: of ours, and of an empty one."""
    (folder / "dftracer.pth").touch()
    got: dict[str, list[float]] = {"ours": [], "empty": []}
    for _ in range(rounds):
        for name, place in (("ours", SOURCE / "python"), ("empty", folder)):
            command = [sys.executable, "-I", "-S", "-c", START, str(place)]
            done = subprocess.run(command, env=environment(build, False), stdout=subprocess.PIPE, text=True, check=True)
            got[name].append(float(done.stdout))
    return got


def rows_of(got: dict[str, list[float]], bars: dict[str, float], state: str, is_on: bool) -> list[Row]:
    block = (
        ratio_row(f"Python {state}: with node, of a bare C block", got["with"], got["bare"], bars["with"])
        if is_on
        else difference_row(f"Python {state}: with node", "ns", got["with"], got["empty"], bars["with"])
    )
    return [
        difference_row(
            f"Python {state}: @node, over the plain call", "ns", got["decorated"], got["plain"], bars["decorated"]
        ),
        block,
        difference_row(
            f"Python {state}: with node(step=i)", "ns", got["with_values"], got["empty"], bars["with_values"]
        ),
        difference_row(f"Python {state}: @dft_fn.log, one argument", "ns", got["logged"], got["plain"], bars["logged"]),
        difference_row(f"Python {state}: node.iter, an item", "ns", got["iter"], got["empty"], bars["iter"]),
    ]


def python_rows(build: Path, folder: Path, rounds: int) -> list[Row]:
    """All rows, or one that says why there are none."""
    if not list((build / "bench").glob("twoclocks*.so")):
        return [Row("Python", "", [], [], "not measured: built without Python's headers")]
    on = samples(build, folder, 40 * rounds, enable=True)
    off = samples(build, folder, 40 * rounds, enable=False)
    imports = import_times(build, max(rounds // 2, 5))
    starts = start_times(build, folder, 2 * rounds)
    return [
        *rows_of(on, BARS_ON, "on", True),
        *rows_of(off, BARS_OFF, "off", False),
        difference_row("import dftracer.python, on", "ms", imports["on"], imports["bare"], IMPORT_BAR_MS),
        difference_row("import dftracer.python, off", "ms", imports["off"], imports["bare"], IMPORT_BAR_MS),
        difference_row("dftracer.pth, off, over an empty file", "ms", starts["ours"], starts["empty"], START_BAR_MS),
    ]
