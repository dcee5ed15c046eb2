"""zindex_py 0.0.7, under older DFAnalyzer versions, indexes our files and gives every line back."""

import json

from traces import make_traces, run, tool

PYTHON = tool("zindex", "bin", "python")

# As DFAnalyzer calls it.
SCRIPT = r"""
import json, sys, zindex_py
path = sys.argv[1]
status = zindex_py.create_index(path, regex=r"id:\b([0-9]+)", numeric=True, unique=True)
most = zindex_py.get_max_line(path)
query = f"select a.line from LineOffsets a where a.line >= 1 and a.line <= {most};"
lines = zindex_py.zquery(path, raw=query)
json.dump([status, most, lines], sys.stdout)
"""


def check(trace):
    status, most, lines = json.loads(run([PYTHON, "-c", SCRIPT, trace.path]))
    assert status == 0
    assert most == len(trace.events) + 1, (trace.path, most)
    found = [json.loads(line) for line in lines if line.startswith("{")]
    # It never gives the last line of a file; ours is the end, which is no event of the user.
    assert found in (trace.events, trace.events[:-1]), (trace.path, len(found), len(trace.events))


with make_traces() as traces:
    for one in traces:
        for each in one.traces:
            check(each)
