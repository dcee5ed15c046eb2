"""test_kill_joining.py - 80 kills of a program that completes its trace again and again; see h5kill.py.
SPDX-License-Identifier: MIT
"""

from h5kill import harness, kill, published, use


def case_kills_while_it_completes_its_trace(folder):
    """Deaths come before, in and after the joining."""
    rng = harness.seeded()
    use("hdf5")
    for number in range(80):
        kill.kill_once(rng, {}, 30000, rng.uniform(0, 0.2), 1 + number % 5, kill_recovery=False)
    print(f"{sum(published)} files were published before a death")
    harness.expect(sum(published) >= 10, "deaths after a joining")
    harness.expect(published.count(0) >= 10, "deaths before a joining")


harness.main(globals())
