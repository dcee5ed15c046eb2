"""test_resources.py - programs that may use little: file sizes, memory, descriptors, processes, system calls.
SPDX-License-Identifier: MIT
"""

import os

from harness import Skip, act, expect, main, program, run, table, untraced

NOBODY = 65534
MESSAGES = 3
WORDS = "events 14000 return 7"

LIMITS = {
    "no file may grow": ("fsize", 0),
    "a file may have 4 KiB": ("fsize", 4 << 10),
    "a file may have 100 KiB": ("fsize", 100 << 10),
    "a file may have 300 KiB": ("fsize", 300 << 10),
    "a file may have 1 MiB": ("fsize", 1 << 20),
    "an address space of 20 MiB": ("as", 20 << 20),
    "an address space of 24 MiB": ("as", 24 << 20),
    "an address space of 32 MiB": ("as", 32 << 20),
    "an address space of 48 MiB": ("as", 48 << 20),
    "an address space of 96 MiB": ("as", 96 << 20),
    "three descriptors": ("nofile", 3),
    "four descriptors": ("nofile", 4),
    "five descriptors": ("nofile", 5),
    "seven descriptors": ("nofile", 7),
    "no locked memory": ("memlock", 0),
    "a stack of 128 KiB": ("stack", 128 << 10),
}


def check(folder, which, limit):
    act(folder, WORDS, before=("prlimit", f"--{which}={limit}", "--"), messages=MESSAGES, in_flight=0)


def case_no_further_process(folder):
    """Neither a drain thread nor a child can be made."""
    if os.geteuid() != 0:
        raise Skip("becoming another user needs root")
    os.chmod(folder, 0o777)
    before = ("setpriv", f"--reuid={NOBODY}", "--clear-groups", "prlimit", "--nproc=1", "--")
    probe = run([*before, program("actor"), "/nowhere", "return", "0"], untraced(), cwd="/")
    if "ermission denied" in probe.stderr:
        raise Skip("another user cannot run the programs of this build folder")
    os.mkdir(f"{folder}/out")
    os.chmod(f"{folder}/out", 0o777)
    act(folder, WORDS, before=before, messages=MESSAGES, in_flight=0, cwd="/")


def case_a_filter_of_system_calls(folder):
    """With DFTRACER_ON_FULL=wait a thread that has recorded needs few system calls; a filter may forbid the others."""
    words = "events 10000 seccomp events 20000 _exit 7"
    act(folder, words, messages=MESSAGES, in_flight=0, settings={"ON_FULL": "wait"})


def case_ten_thousand_events_at_a_limit(folder):
    """The wait for room is not repeated: with a wait for each event this takes longer than the harness waits."""
    before = ("prlimit", f"--fsize={100 << 10}", "--")
    traces = act(folder, "events 10000 return 7", before=before, messages=MESSAGES, in_flight=0)
    expect(len(traces) <= 1, "one trace")
    os.mkdir(f"{folder}/slowly")
    act(f"{folder}/slowly", "slowly 10000 return 7", before=before, messages=MESSAGES, in_flight=0)


table(globals(), LIMITS, check)
main(globals())
