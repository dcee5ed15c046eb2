"""test_kill_gzip.py - SIGKILL at a random time, the trace compressed; see kill.py.
SPDX-License-Identifier: MIT
"""

from harness import main
from kill import kill_many


def case_no_acknowledged_event_is_lost_or_doubled(folder):
    kill_many(25, compression=1)


main(globals())
