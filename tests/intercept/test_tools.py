"""test_tools.py - git, gcc, sqlite3 and fio do what they did, and every byte is seen.
SPDX-License-Identifier: MIT
"""

import os
import re
import subprocess

from io_harness import expect_equal, main, untraced
from witness import Witness, tree

AUTHOR = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
    "GIT_AUTHOR_DATE": "@0 +0000",
    "GIT_COMMITTER_DATE": "@0 +0000",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


def commit_something(data):
    origin = os.path.join(data, "origin")
    env = untraced() | AUTHOR
    subprocess.run(["git", "init", "-q", "-b", "main", origin], env=env, check=True)
    for i in range(20):
        with open(os.path.join(origin, f"file{i}.txt"), "w", encoding="utf-8") as file:
            file.write(f"text {i}\n" * 100 * i)
    subprocess.run(["git", "-C", origin, "add", "."], env=env, check=True)
    subprocess.run(["git", "-C", origin, "commit", "-qm", "files"], env=env, check=True)


def checked_out(data):
    """Everything but what holds times: the index, and the names of packs."""
    return {name: text for name, text in tree(os.path.join(data, "clone")).items() if not name.startswith(".git/")}


def git_clone(folder, *options):
    """Its configuration git reads with getc_unlocked, which compilers put into the program: nobody sees that. A .keep
    holds the process id, whose length may differ."""
    Witness(folder, commit_something, "git").check(
        ["git", "clone", "-q", *options, "origin", "clone"],
        left=checked_out,
        same=lambda name: re.sub(r"(tmp_(?:obj|pack|idx|rev)_)\w{6}", r"\1XXXXXX", name),
        only=lambda name: not name.endswith(("/.git/config", ".keep")),
    )


def case_git_clone(folder):
    git_clone(folder)


def case_git_clone_through_a_transport(folder):
    git_clone(folder, "--no-local")


def write_source(data):
    with open(os.path.join(data, "main.c"), "w", encoding="utf-8") as file:
        file.write('#include "own.h"\n#include <stdio.h>\nint main(void) { printf("%d\\n", OWN); return 0; }\n')
    with open(os.path.join(data, "own.h"), "w", encoding="utf-8") as file:
        file.write("#define OWN 42\n")


def case_gcc(folder):
    same = lambda name: re.sub(r"^cc\w{6}\.", "ccXXXXXX.", name)  # noqa: E731
    Witness(folder, write_source, "gcc").check(["gcc", "-O1", "-c", "main.c", "-o", "main.o"], same=same)
    expect_equal(
        sorted(os.listdir(os.path.join(folder, "data"))), ["main.c", "main.o", "own.h"], "no temporary file stays"
    )


def case_sqlite(folder):
    script = """create table t(a integer primary key, b text); begin;
      insert into t(b) select hex(zeroblob(50)) from generate_series(1, 500); commit;
      create index i on t(b); update t set b = 'x' || a where a % 7 = 0; delete from t where a % 5 = 0; vacuum;
      select count(*), sum(length(b)) from t;"""
    Witness(folder, lambda data: None, "sqlite3").check(["sqlite3", "test.db", script])


def fio(folder, engine):
    command = [
        "fio",
        "--name=job",
        f"--ioengine={engine}",
        "--rw=randrw",
        "--bs=4k",
        "--size=1m",
        "--randseed=1",
        "--thread",
        "--numjobs=2",
        "--end_fsync=1",
        "--randrepeat=1",
        "--allow_file_create=1",
        "--minimal",
        "--output=report",
        "--filename_format=job.$jobnum",
        "--fallocate=none",
    ]
    data_only = lambda data: {name: "a file" for name in tree(data) if name.startswith("job")}  # noqa: E731
    Witness(folder, lambda data: None, "fio").check(command, left=data_only, only=lambda name: name.startswith("job"))


def case_fio_sync(folder):
    fio(folder, "sync")


def case_fio_psync(folder):
    fio(folder, "psync")


main(globals())
