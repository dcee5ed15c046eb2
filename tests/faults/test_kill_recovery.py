"""test_kill_recovery.py - SIGKILL at a random time, the recovery is killed as well; see kill.py.
SPDX-License-Identifier: MIT
"""

from harness import main
from kill import kill_many


def case_no_acknowledged_event_is_lost_or_doubled(folder):
    kill_many(25, compression=1, kill_recovery=True)


main(globals())
