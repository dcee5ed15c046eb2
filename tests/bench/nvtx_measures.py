"""nvtx_measures.py - what recording NVTX costs: a push and its pop.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from interception import Ways
from report import Row, difference_row

NAMED_BAR_NS = 60.0
REGISTERED_BAR_NS = 80.0
SOURCES = Path(__file__).resolve().parent / "nvtx"


def nvtx_rows(bench) -> list[Row]:
    root = SOURCES.parents[2]
    includes = sorted((root / "build/nvtx").glob("lib/python*/site-packages/nvidia/*/include"))
    if not includes:
        print("nvtx: no headers in build/nvtx, so nothing is measured; ./dev test nvtx installs them", flush=True)
        return []
    program, empty = str(bench.folder / "pushes"), str(bench.folder / "empty.so")
    options = ["cc", "-O2", "-D_GNU_SOURCE", f"-I{SOURCES.parent}", f"-I{root}/c"]
    subprocess.run([*options, f"-I{includes[0]}", str(SOURCES / "pushes.c"), "-o", program, "-ldl"], check=True)
    subprocess.run([*options, "-shared", "-fPIC", str(SOURCES / "empty.c"), "-o", empty], check=True)
    ways = Ways(bench.build, bench.folder)
    ours = {"NVTX_INJECTION64_PATH": str(bench.build / "c" / "libdftracer_nvtx.so"), "DFTRACER_SINK": "null",
            "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(ways.traces / "trace")}
    plain = ways.all["untraced"]
    ways.all = {"empty": plain | {"NVTX_INJECTION64_PATH": empty}, "recorded": plain | ours}
    rows = []
    for mode, title, bar in (
        ("named", "NVTX range by its name", NAMED_BAR_NS),
        ("registered", "NVTX range of a registered string, with a payload", REGISTERED_BAR_NS),
    ):
        got = ways.turns(["empty", "recorded"], 2 if bench.quick else 6, program, mode)
        rows.append(difference_row(title, "ns", got["recorded", "range"], got["empty", "range"], bar))
    return rows
