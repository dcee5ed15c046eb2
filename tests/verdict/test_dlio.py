"""test_dlio.py - the verdict on a real trace, worked out by hand: the DLIO benchmark, UNet3D on HDF5 data, 8 ranks.

How it was worked out, from the events of each rank, as intervals; means over the ranks:

    loop      54.960 s   from the first start of DLIOBenchmark._train (one for each of 5 epochs) to the last end
                         (54.954 s), and the checkpoint that follows at once
    compute   34.044 s   TorchFramework.compute, 25 of them; 61.95 % of the loop
    waiting   15.772 s   loop.iter, 20 of them; none overlaps compute; 28.70 % of the loop: input-bound, critical
    pread     12.673 s   of this waiting; 80.35 %, so it is the cause. It reads 160 files below
                         .../unet3d_v100_hdf5_168/data/train, 128 of them while a rank waits
    open       0.044 s   of this waiting

The process with the longest waiting is that of trace-3-of-8.pfw: 16.361 s of 54.953 s, 29.77 %. The one with most else
to do is that of trace-7-of-8.pfw: 40.092 s without waiting, so the loop cannot be shorter. The trace has no ranks.
Checkpoints take 2 ms, and nothing is of category comm. There are 5 epochs of 5 steps, but this tracer did not record
the last fetch of an epoch. So 20 steps can be counted, which is just enough to be sure.
SPDX-License-Identifier: MIT
"""

import contextlib
import os
import subprocess
import tarfile
import tempfile

from verdict_harness import COMMAND, SOURCE, check_form, main, verdict_of

LOOP, COMPUTE, WAITING, PREAD, BEST = 54.960, 34.044, 15.772, 12.673, 40.092


@contextlib.contextmanager
def traces():
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(SOURCE / "tests/data/dlio-unet3d-8ranks.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        yield folder


def the_training_is_input_bound_by_pread():
    with traces() as folder:
        verdict = verdict_of(folder)
    check_form(verdict)
    assert (verdict["class"], verdict["severity"]) == ("input", "critical"), verdict
    assert (verdict["base"], verdict["steps"], verdict["is_sure"]) == ("training loop", 20, True), verdict
    assert round(verdict["of_ns"] / 1e9, 3) == LOOP and round(verdict["ns"] / 1e9, 3) == WAITING, verdict
    assert abs(verdict["shares"]["compute"] - COMPUTE / LOOP) < 0.001, verdict
    assert abs(verdict["best_ns"] / 1e9 - BEST) < 0.01, verdict
    assert verdict["worst"] is None or abs(verdict["worst"]["share"] - 0.2977) < 0.001, verdict
    assert verdict["shares"]["checkpoint"] < 0.001 and verdict["shares"]["communication"] == 0, verdict
    cause = verdict["cause"]
    assert cause["call"] == "pread" and abs(cause["share"] - PREAD / WAITING) < 0.001, verdict
    assert cause["files"] in (128, 160) and "/unet3d_v100_hdf5_168/data" in cause["folder"], cause


def the_readme_shows_it():
    with traces() as folder:
        environment = {**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
        command = [COMMAND, "summary", folder]
        printed = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    shown = (SOURCE / "README.md").read_text().split("$ dftracer summary out\n")[1].split("```")[0]
    assert printed.startswith(shown), printed[:1000]


if __name__ == "__main__":
    main(the_training_is_input_bound_by_pread, the_readme_shows_it)
