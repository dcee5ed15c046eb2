"""test_torch.py - the same for trainings with torch that dftracer.python.torch.trace records.

SPDX-License-Identifier: MIT
"""

import json
import pathlib
import subprocess
import tempfile

from truth import read_truth
from verdict_harness import HERE, PYTHONPATH, SOURCE, check, environment, main, skip, verdict_of

TORCH = SOURCE / "build/torch/bin/python"
SHARES = ("compute", "input", "checkpoint", "imbalance")
CASES = {
    "input": {"ranks": 1, "load": 80, "compute": 40, "save": 0, "idle": 0},
    "compute": {"ranks": 1, "load": 0.5, "compute": 120, "save": 0, "idle": 0},
    "checkpoint": {"ranks": 1, "load": 1, "compute": 60, "save": 200, "idle": 0},
    "none": {"ranks": 1, "load": 8, "compute": 120, "save": 32, "idle": 40},
    "imbalance": {"ranks": 2, "load": 0.5, "compute": [40, 120], "save": 0, "idle": 0},
}


def run_all(top, names):
    cases = {f"{top}/{name}": CASES[name] for name in names}
    for folder in cases:
        pathlib.Path(folder).mkdir()
    command = [TORCH, HERE / "train_torch.py", json.dumps(cases)]
    subprocess.run(command, env=environment(top, 0, 1, ""), check=True, timeout=200)
    return {name: f"{top}/{name}" for name in names}


def measure_all(top):
    """The folder and the truth of each; what a busy machine made something else runs again."""
    found = {}
    for attempt in range(4):
        own = pathlib.Path(top) / str(attempt)
        own.mkdir()
        for name, folder in run_all(own, [name for name in CASES if name not in found]).items():
            truth = read_truth(folder)
            if truth.is_clearly(name):
                found[name] = (folder, truth)
        if len(found) == len(CASES):
            return found
    raise AssertionError(f"the machine is too busy: only {list(found)}")


def trainings_are_judged_by_what_they_measured():
    failures = []
    with tempfile.TemporaryDirectory() as top:
        for name, (folder, truth) in measure_all(top).items():
            try:
                verdict = verdict_of(folder)
                check(verdict, truth, name, "training loop", shares=SHARES)
                assert verdict["steps"] == 24, verdict
                assert name != "imbalance" or verdict["worst"]["rank"] == 1, verdict
            except AssertionError as error:
                failures.append(f"{name}: {error}")
    assert not failures, "\n" + "\n".join(failures)


if __name__ == "__main__":
    if not PYTHONPATH:
        skip("the Python package is not built")
    if not TORCH.exists():
        skip("torch is not there (./dev test torch installs it into build/torch)")
    main(trainings_are_judged_by_what_they_measured)
