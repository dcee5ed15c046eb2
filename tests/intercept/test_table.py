"""test_table.py - the preload library has every name of the table and no other, and each one calls what it should.
SPDX-License-Identifier: MIT
"""

import os
import re
import shutil
import subprocess

from io_harness import LIBRARY, PRELOAD, SOURCE, expect, expect_equal, main

ACTIONS = {"READ", "WRITE", "GET", "PUT", "SCAN", "QUEUE", "COPY", "MAP", "SEEK", "MOVE", "OPEN", "CLOSE", "PROCESS"}
ACTIONS |= {"OTHER"}
SOME = {
    "read": "READ",
    "pwritev2": "WRITE",
    "getchar": "GET",
    "fputc": "PUT",
    "vfscanf": "SCAN",
    "sendfile": "COPY",
    "mmap": "MAP",
    "lseek": "SEEK",
    "fseek": "MOVE",
    "fopen": "OPEN",
    "execve": "PROCESS",
    "stat": "OTHER",
}


def rows():
    with open(f"{SOURCE}/c/intercept/calls.inc", encoding="utf-8") as file:
        return re.findall(r"^(CALL|VARIANT|SPECIAL|OTHER|ALIAS)\((.*)", file.read(), re.MULTILINE)


def symbol_of(kind, text):
    fields = [field.strip(" )") for field in text.split(",")]
    return fields[{"CALL": 3, "VARIANT": 2, "SPECIAL": 2, "OTHER": 1, "ALIAS": 1}[kind]]


def action_of(kind, text):
    """What a call does; None in the rows of its other symbols."""
    return text.split(",")[1].strip() if kind in ("CALL", "SPECIAL") else None


def exported():
    lines = subprocess.run(["nm", "-D", "--defined-only", PRELOAD], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def case_every_name_is_exported_and_no_other(_folder):
    names = [symbol_of(*row) for row in rows()]
    expect(len(names) > 200, f"{len(names)} names")
    expect_equal(len(names), len(set(names)), "no name twice")
    expect_equal(exported() - {"dft_preload_next", "vfork", "dlopen", "dlsym"}, set(names), "exported")


def case_every_call_says_what_it_does(_folder):
    actions = {symbol_of(*row): action_of(*row) for row in rows() if row[0] in ("CALL", "SPECIAL")}
    wrong = {name: action for name, action in actions.items() if action not in ACTIONS}
    expect_equal(wrong, {}, "actions that the head of calls.inc does not explain")
    expect_equal(set(actions.values()), ACTIONS, "actions in use")
    expect_equal({name: actions[name] for name in SOME}, SOME, "actions")


def case_it_needs_the_core_beside_it(_folder):
    text = subprocess.run(["readelf", "-dW", PRELOAD], capture_output=True, text=True, check=True).stdout
    expect("[$ORIGIN/libdftracer_core.so.5]" in text and "NODELETE" in text, text)
    expect("PATH)" not in text, "no folders are searched")


def case_it_takes_the_core_beside_it(folder):
    beside, elsewhere = os.path.join(folder, "beside"), os.path.join(folder, "elsewhere")
    for made in (beside, elsewhere):
        os.mkdir(made)
        shutil.copy(LIBRARY, f"{made}/libdftracer_core.so.5")
    preload = shutil.copy(PRELOAD, beside)
    settings = os.environ | {"LD_PRELOAD": preload, "LD_LIBRARY_PATH": elsewhere}
    done = subprocess.run(["cat", "/proc/self/maps"], env=settings, capture_output=True, text=True, check=True)
    cores = {line.split()[-1] for line in done.stdout.splitlines() if "libdftracer_core" in line}
    expect_equal(cores, {os.path.realpath(f"{beside}/libdftracer_core.so.5")}, "the core that is mapped")
    expect_equal(done.stderr, "", "nothing is said")


if __name__ == "__main__":
    main(globals())
