"""test_kill_recording.py - 140 kills of a program that records, 20 of them with kills of the recovery; see h5kill.py.
SPDX-License-Identifier: MIT
"""

from h5kill import SMALL_SEGMENTS, harness, kill, segments, use


def case_kills_while_it_records(folder):
    use("hdf5")
    kill.kill_many(80, compression=1)


def case_kills_among_many_segments(folder):
    rng = harness.seeded()
    use(SMALL_SEGMENTS)
    for _ in range(40):
        kill.kill_once(rng, {"SPOOL_LIMIT": "1M"}, 2000, rng.uniform(0, 0.2), 0, kill_recovery=False)
    print(f"{sum(segments)} segments at {len(segments)} deaths")
    harness.expect(sum(count >= 2 for count in segments) >= 5, "deaths with more than one segment")


def case_kills_of_the_recovery_too(folder):
    use("jsonl," + SMALL_SEGMENTS)
    kill.kill_many(20, compression=1, kill_recovery=True)


harness.main(globals())
