"""test_kill_joining.py - 80 kills of a program that completes its trace again and again; see h5kill.py.
SPDX-License-Identifier: MIT
"""

from h5kill import SMALL_SEGMENTS, harness, kill, published, use


def case_kills_while_it_completes_its_trace(folder):
    """Deaths come before, in and after the joining."""
    join_and_kill("hdf5")


def case_the_same_with_many_segments(folder):
    join_and_kill(SMALL_SEGMENTS)


def join_and_kill(sinks):
    rng = harness.seeded()
    use(sinks)
    for number in range(40):
        kill.kill_once(rng, {}, 30000, rng.uniform(0, 0.2), 1 + number % 5, kill_recovery=False)
    print(f"{sum(published)} files were published before a death")
    harness.expect(sum(published) >= 5, "deaths after a joining")
    harness.expect(published.count(0) >= 5, "deaths before a joining")


harness.main(globals())
