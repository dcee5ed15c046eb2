"""test_torch.py - the same for trainings with torch that dftracer.python.torch.trace records.

SPDX-License-Identifier: MIT
"""

import json
import pathlib
import subprocess
import tempfile

from truth import read_truth
from verdict_harness import HERE, SOURCE, check, environment, main, skip, verdict_of

TORCH = SOURCE / "build/torch/bin/python"
SHARES = ("compute", "input", "checkpoint", "imbalance")
CASES = {
    "input": {"ranks": 1, "load": 40, "compute": 20, "save": 0},
    "compute": {"ranks": 1, "load": 0.5, "compute": 60, "save": 0},
    "checkpoint": {"ranks": 1, "load": 1, "compute": 30, "save": 100},
    "none": {"ranks": 1, "load": 15, "compute": 30, "save": 60},
    "imbalance": {"ranks": 2, "load": 0.5, "compute": [20, 60], "save": 0},
}


def trainings_are_judged_by_what_they_measured():
    failures = []
    with tempfile.TemporaryDirectory() as top:
        cases = {f"{top}/{name}": case for name, case in CASES.items()}
        for folder in cases:
            pathlib.Path(folder).mkdir()
        env = environment(top, 0, 1, "")
        subprocess.run([TORCH, HERE / "train_torch.py", json.dumps(cases)], env=env, check=True, timeout=200)
        for folder in cases:
            expected = pathlib.Path(folder).name
            try:
                verdict = verdict_of(folder)
                check(verdict, read_truth(folder), expected, "training loop", shares=SHARES)
                assert verdict["steps"] == 24, verdict
                assert expected != "imbalance" or verdict["worst"]["rank"] == 1, verdict
            except AssertionError as error:
                failures.append(f"{expected}: {error}")
    assert not failures, "\n" + "\n".join(failures)


if __name__ == "__main__":
    if not TORCH.exists():
        skip("torch is not there (./dev test torch installs it into build/torch)")
    main(trainings_are_judged_by_what_they_measured)
