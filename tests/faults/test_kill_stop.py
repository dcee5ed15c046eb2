"""test_kill_stop.py - SIGKILL at a random time, in the middle of stopping and starting traces; see kill.py.
SPDX-License-Identifier: MIT
"""

from harness import main
from kill import kill_many


def case_no_acknowledged_event_is_lost_or_doubled(folder):
    kill_many(25, compression=1, cycle=True)


main(globals())
