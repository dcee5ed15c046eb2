"""test_age.py - how long a process has existed when its trace opens: after exec, in forked children.

When a process began is compared with moments that are surely before and after it. SPDX-License-Identifier: MIT
"""

import os
import time

import harness
from harness import PYTHON, environment, launch_process, traces_of

TICK = 1 / os.sysconf("SC_CLK_TCK")  # the kernel rounds the start of a process down to this
ADJUSTED = 0.001  # seconds that clocks may be adjusted by meanwhile
RECORDS = """
import os, sys, time
print(time.time(), flush=True)
time.sleep(0.3)
from dftracer.python import dftracer, ai
log = dftracer.initialize_log("out/a.pfw")
with ai.compute.forward: pass
"""
FORKS = """
time.sleep(0.3)
print(time.time(), flush=True)
child = os.fork()
if not child:
    print(time.time(), flush=True)
    time.sleep(0.3)
    with ai.compute.forward: pass
    log.finalize()
    os._exit(0)
os.waitpid(child, 0)
"""


def run(folder, program, *command):
    (folder / "program.py").write_text(program)
    before = time.time()
    done = launch_process([*command, PYTHON, "program.py"], env=environment(DFTRACER_INC_METADATA="1"), cwd=folder)
    assert done.returncode == 0, done.stderr
    return [before, *map(float, done.stdout.split())]


def began(trace):
    """When the process did, in seconds since the epoch."""
    (start,) = trace.named("start")
    return start["ts"] / 1e6 - start["args"]["process_age_ns"] / 1e9


def is_between(moment, before, after):
    return before - TICK - ADJUSTED <= moment <= after + ADJUSTED


def test_a_process(tmp_path):
    before, after = run(tmp_path, RECORDS)
    (trace,) = traces_of(tmp_path / "out")
    assert is_between(began(trace), before, after)


def test_after_exec(tmp_path):
    """The time before it counts: a shell that prepares the job is part of its start."""
    before, after, _ = run(tmp_path, RECORDS, "sh", "-c", 'date +%s.%N; sleep 0.3; exec "$@"', "sh")
    (trace,) = traces_of(tmp_path / "out")
    assert is_between(began(trace), before, after)


def test_a_forked_child(tmp_path):
    moments = run(tmp_path, RECORDS + FORKS)
    parent, child = sorted(traces_of(tmp_path / "out"), key=began)
    assert is_between(began(parent), *moments[:2])
    assert is_between(began(child), *moments[2:]), "its own start"


if __name__ == "__main__":
    harness.main(__file__)
