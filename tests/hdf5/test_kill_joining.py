"""test_kill_joining.py - 80 kills of a program that completes its trace again and again; see h5kill.py.
SPDX-License-Identifier: MIT
"""

import glob
import os
import shutil
import subprocess
import time

from h5kill import SMALL_SEGMENTS, harness, kill, published, use

PAUSE = 30000


def case_kills_while_it_completes_its_trace(folder):
    """Deaths come before, in and after the joining."""
    join_and_kill("hdf5")


def case_the_same_with_many_segments(folder):
    join_and_kill(SMALL_SEGMENTS)


def join_and_kill(sinks):
    rng = harness.seeded()
    use(sinks)
    span = 2 * seconds_to_first_file()
    before, after = [0] * 8, [4 * span] * 8
    deaths = before + [rng.uniform(0, span) for _ in range(24)] + after
    for number, seconds in enumerate(deaths):
        kill.kill_once(rng, {}, PAUSE, seconds, 1 + number % 5, kill_recovery=False)
    print(f"{sum(published)} files were published before a death; kills within {span:.3f} s")
    harness.expect(sum(published) >= 5, "deaths after a joining")
    harness.expect(published.count(0) >= 5, "deaths before a joining")


def seconds_to_first_file():
    """How long this machine, as busy as it is now, takes from the first record to the first published file."""
    folder = harness.new_folder()
    page = kill.Page(folder)
    out = os.path.join(folder, "out")
    process = subprocess.Popen([harness.program("writer"), page.path, str(PAUSE), "3"], env=kill.environment(out))
    try:
        kill.await_records(process, page)
        start = time.monotonic()
        while not glob.glob(os.path.join(out, "*.h5")):
            harness.expect(time.monotonic() - start < 60, "a file is published within a minute")
            time.sleep(0.001)
        return time.monotonic() - start
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


harness.main(globals())
