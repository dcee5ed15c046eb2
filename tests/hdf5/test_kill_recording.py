"""test_kill_recording.py - 120 kills of a program that records, 20 of them with kills of the recovery; see h5kill.py.
SPDX-License-Identifier: MIT
"""

from h5kill import harness, kill, use


def case_kills_while_it_records(folder):
    use("hdf5")
    kill.kill_many(100, compression=1)


def case_kills_of_the_recovery_too(folder):
    use("jsonl,hdf5")
    kill.kill_many(20, compression=1, kill_recovery=True)


harness.main(globals())
