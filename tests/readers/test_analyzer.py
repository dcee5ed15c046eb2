"""dftracer-analyzer 0.0.9 (DFAnalyzer) loads our traces, all in one folder, and finds every event, file and process."""

import os
import re
import shutil
import tempfile

from traces import TraceSet, make_traces, run, tool

PROGRAM = tool("analyzer", "bin", "dfanalyzer")


def analyze(folder, scratch):
    words = [PROGRAM, f"trace_path={folder}", "cluster.n_workers=1", "analyzer/preset=posix", "output=console"]
    env = {**os.environ, "USER": os.environ.get("USER", "nobody"), "COLUMNS": "120"}
    out = run([*words, "view_types=[proc_name]", f"hydra.run.dir={scratch}"], env=env, cwd=scratch)
    cells = re.findall(r"│ ([^│]*) │ [^│]* │ *([\d.,]+) │", out)
    return {name.strip(): float(value.replace(",", "")) for name, value in cells}, out


with make_traces() as traces, tempfile.TemporaryDirectory() as top, tempfile.TemporaryDirectory() as scratch:
    for one in traces:
        for path in one.paths:
            shutil.copy(path, top)
    everything = TraceSet("all", top)
    found, text = analyze(top, scratch)
    reads = [event for event in everything.events if event["name"] == "read"]
    expected = {
        "Total Count": len(everything.events),
        "Total Files": len(everything.files),
        "Total Nodes": len(everything.hosts),
        "Total Processes": len(everything.paths),
        "POSIX - All Count": len(reads),
    }
    assert {name: found.get(name) for name in expected} == expected, (expected, text[-3000:])
    assert found["POSIX - All Size"] == round(len(reads) * 4096 / 2**20, 3), found
