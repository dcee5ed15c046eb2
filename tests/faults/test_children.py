"""test_children.py - children of every kind, many and deep: each event is in the trace of its process, once.
SPDX-License-Identifier: MIT
"""

import os

from harness import act, expect_equal, is_long, main, run, table, trials
from oracle import tally

CHILDREN = {
    "by fork": ("children 20 300 exit events 2000",),
    "by fork and immediate exit": ("events 2000 children 20 300 _exit",),
    "by the fork of signal handlers": ("events 2000 make _Fork children 20 300 _exit events 2000",),
    "by clone": ("events 2000 make clone children 20 300 _exit events 2000",),
    "by vfork and exec": ("events 2000 make vfork children 20 300 exit events 2000",),
    "by posix spawn": ("events 2000 make spawn children 20 300 exit events 2000",),
    "by fork before the first event": ("children 20 300 exit",),
    "killed by clone": ("events 2000 make clone children 20 300 kill events 2000",),
    "killed by vfork and exec": ("events 2000 make vfork children 20 300 kill events 2000",),
    "from eight threads": ("events 1000 from-threads 8 6 100 exit events 1000",),
    "from eight threads by the fork of signal handlers": ("make _Fork from-threads 8 6 100 _exit events 1000",),
    "from eight threads by clone": ("make clone from-threads 8 6 100 _exit events 1000",),
    "from eight threads by posix spawn": ("make spawn from-threads 8 6 100 exit events 1000",),
    "while threads record": ("busy 2 children 20 100 exit return 0", 1),
    "of a daemon": ("daemon children 5 300 exit events 100 return 0",),
}


def check(folder, words, in_flight=0):
    act(folder, words, in_flight=in_flight)


def case_a_thousand_killed(folder):
    count = trials(60, 1000)
    act(folder, f"events 2000 children {count} 20 kill events 2000 return 0", in_flight=0)
    tally.kills += count


def case_deep(folder):
    act(folder, f"deep {trials(25, 200)} 50 exit", in_flight=0)


@is_long
def case_deep_and_killed(folder):
    act(folder, "deep 200 50 kill", in_flight=0)
    tally.kills += 200


@is_long
def case_a_thousand_while_the_machine_is_busy(folder):
    """Once in 80 runs it did not end within a minute."""
    busy = [os.posix_spawn("/bin/sh", ["sh", "-c", "while :; do :; done"], {}) for _ in range(4)]
    try:
        act(folder, "events 2000 children 1000 20 exit events 2000 return 0", in_flight=0)
    finally:
        for pid in busy:
            os.kill(pid, 9)
            os.waitpid(pid, 0)


def case_a_relative_name_and_another_folder(folder):
    """The name is resolved once, in the first process: children that moved to another folder write beside it."""
    os.makedirs(f"{folder}/else")
    words = "events 100 folder else children 3 100 exit events 100 return 0"
    act(folder, words, in_flight=0, settings={"LOG_FILE": "out/trace"}, cwd=folder)
    expect_equal(run(["find", f"{folder}/else"], None).stdout, f"{folder}/else\n", "nothing lies in the other folder")


table(globals(), CHILDREN, check)
main(globals())
