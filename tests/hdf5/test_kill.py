"""test_kill.py - 200 times SIGKILL at a random time: then there is no .h5, or a good one; recovery makes it, with every
acknowledged event in it once. The same oracle as for JSON lines (faults/kill.py), with h5py as the reader.
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

published = []


def recover_after_a_look(folder, expect=0):
    """What the death left in the open must be whole already."""
    published.append(len(h5trace.read_folder(folder)))
    return harness.recover(folder, expect)


def use(sinks):
    kill.environment = lambda folder, **settings: harness.environment(folder, SINK=sinks, **settings)
    kill.read_folder = h5trace.read_folder
    kill.recover = recover_after_a_look
    published.clear()


def case_kills_while_it_records(folder):
    use("hdf5")
    kill.kill_many(100, compression=1)


def case_kills_while_it_completes_its_trace(folder):
    """The writer stops and starts its trace again and again, so that deaths come before, in and after the joining."""
    rng = harness.seeded()
    use("hdf5")
    for number in range(80):
        kill.kill_once(rng, {}, 30000, rng.uniform(0, 0.06), 1 + number % 5, kill_recovery=False)
    harness.expect(0 < sum(published), "no death came after a joining")
    harness.expect(0 in published, "no death came before a joining")
    print(f"{sum(published)} files were published before a death")


def case_kills_of_the_recovery_too(folder):
    use("jsonl,hdf5")
    kill.kill_many(20, compression=1, kill_recovery=True)


harness.main(globals())
