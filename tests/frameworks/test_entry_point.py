"""test_entry_point.py - Lightning asks installed packages for callbacks, and prints how many it got.

SPDX-License-Identifier: MIT
"""

import os
import shutil

from frameworks_harness import SOURCE, main
from untouched import EXAMPLES, check, launch, trainers, variables

POINTS = """[lightning.pytorch.callbacks_factory]
dftracer = dftracer.start:lightning_callbacks
"""


def run(folder, *without):
    """As if the package was installed: with its entry points, and with or without what starts it."""
    information = folder / "installed" / "dftracer-0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: dftracer\nVersion: 0\n")
    (information / "entry_points.txt").write_text(POINTS)
    shutil.copy(EXAMPLES / "train_lightning.py", folder)
    start = str(SOURCE / "python" / "dftracer" / "start")
    paths = [path for path in variables()["PYTHONPATH"].split(os.pathsep) if path not in without]
    assert len(without) == 0 or start in without
    path = os.pathsep.join([*paths, str(folder / "installed")])
    done = launch(folder / "train_lightning.py", folder, PYTHONPATH=path)
    (trace,) = trainers(folder)
    check(trace)
    return done.stderr


def test_lightning_prints_nothing_of_us(tmp_path):
    assert "callbacks from entry point" not in run(tmp_path)


def test_the_entry_point_starts_what_nothing_else_has_started(tmp_path):
    """This trainer is half made when dftracer starts, so it needs the callback, and Lightning says so."""
    assert "callbacks from entry point" in run(tmp_path, str(SOURCE / "python" / "dftracer" / "start"))


if __name__ == "__main__":
    main(__file__)
