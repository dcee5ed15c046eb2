"""test_leave.py - every manner in which a process can end: what it acknowledged is there once, and its end is the same.
SPDX-License-Identifier: MIT
"""

from harness import act, main, table

ENDS = {
    "return": ("events 5000 return 7",),
    "exit": ("events 5000 exit 7",),
    "quick exit": ("events 5000 quick_exit 7",),
    "immediate exit": ("events 5000 _exit 7",),
    "abort": ("events 5000 abort",),
    "termination": ("events 5000 raise 15",),
    "segmentation fault": ("events 5000 raise 11",),
    "kill": ("events 5000 kill",),
    "a real time signal": ("events 5000 raise 40",),
    "a handler records and the program goes on": ("events 100 handler 15 raise 15",),
    "a handler records and the program is aborted": ("handler 10 events 3000 abort",),
    "exec": ("events 3000 exec events 3000 return 7",),
    "a chain of execs": ("events 500 exec events 500 exec events 500 exec events 500 exec events 500 _exit 7",),
    "exec of an image that is killed": ("events 3000 exec events 3000 kill",),
    "failed execs": ("events 3000 failed-exec 50 events 3000 return 7",),
    "exit from a thread": ("events 3000 thread 7",),
    "a daemon": ("events 3000 daemon events 3000 return 0",),
    "a daemon that is killed": ("events 3000 daemon events 3000 kill",),
    "stop and start": ("stop 20 events 3000 return 7",),
    "stop and start and kill": ("stop 20 events 3000 kill",),
    "exit while threads record": ("busy 4 events 5000 exit 7", 1),
    "immediate exit while threads record": ("busy 4 events 5000 _exit 7", 1),
    "abort while threads record": ("busy 4 events 5000 abort", 1),
    "exec while threads record": ("busy 4 events 5000 exec events 1000 return 7", 1),
    "quick exit while threads record": ("busy 4 events 5000 quick_exit 7", 1),
}


def check(folder, words, in_flight=0):
    act(folder, words, in_flight=in_flight)


table(globals(), ENDS, check)
main(globals())
