"""h5kill.py - SIGKILL at a random time: then there is no .h5, or a good one; recovery makes it, with every acknowledged
event in it once. The oracle of the JSON lines (faults/kill.py), with h5py as the reader. 220 kills in all, 100 of them
with segments so small that there are many.
SPDX-License-Identifier: MIT
"""

import os
import sys

import h5trace

FAULTS = os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "faults")
sys.path.insert(0, FAULTS)
os.environ["DFT_TEST_PROGRAMS"] = os.path.join(os.path.dirname(os.environ["DFT_TEST_PROGRAMS"]), "faults")

import harness  # noqa: E402 (the path comes first)
import kill  # noqa: E402

SMALL_SEGMENTS = "hdf5:segment=4096"

published = []
segments = []  # complete ones at each death


def recover_after_a_look(folder, expect=0):
    """What the death left in the open must be whole already."""
    published.append(len(h5trace.read_folder(folder)))
    segments.append(sum("-hdf5-0" in name for name in harness.waiting(folder)))
    return harness.recover(folder, expect)


def use(sinks):
    kill.environment = lambda folder, **settings: harness.environment(folder, SINK=sinks, **settings)
    kill.read_folder = h5trace.read_folder
    kill.recover = recover_after_a_look
    published.clear()
    segments.clear()
