"""test_kill_plain.py - SIGKILL at a random time, plain text; see kill.py.
SPDX-License-Identifier: MIT
"""

from harness import main
from kill import kill_many


def case_no_acknowledged_event_is_lost_or_doubled(folder):
    kill_many(25, compression=0)


main(globals())
