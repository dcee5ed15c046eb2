"""docs/command.md: runs every line after a "$" unchanged, in one folder, in the order of the page."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness import COMMAND, PROGRAMS, SOURCE

TORCH = '{"traceEvents":[{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":1,"tid":1,"ts":1767225600000000,"dur":5}]}'

text = (SOURCE / "docs/command.md").read_text()
lines = [line[2:] for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S) for line in block.splitlines()]
assert len(lines) > 12 and all("dftracer" in line for line in lines), lines

with tempfile.TemporaryDirectory() as folder:
    solver = Path(folder) / "solver"
    solver.write_text(f"#!/bin/sh\nexec {PROGRAMS}/doing event 100 fork\n")
    solver.chmod(0o755)
    (Path(folder) / "torch-rank-0.json").write_text(TORCH)
    tools = Path(folder) / "tools"
    tools.mkdir()
    (tools / "dftracer").symlink_to(COMMAND)
    env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM", "MCA_rmaps_base_oversubscribe"):
        env[f"OMPI_{name}"] = "1"
    for line in lines:
        if line.startswith("mpirun") and not shutil.which("mpirun"):
            line = line.split(maxsplit=3)[3]
        done = subprocess.run(line, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done)
    made = sorted(path.name for path in Path(folder).iterdir())
    assert {"job.csv", "job.json", "job.json.gz", "large", "traces"} <= set(made), made
    assert len(list(Path(folder, "traces/ranks").glob("*.pfw.gz"))) in (2, 4)
