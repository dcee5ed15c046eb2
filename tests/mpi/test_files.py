"""test_files.py - the summary's table of files is about the program's files; those of the MPI runtime are left out.
SPDX-License-Identifier: MIT
"""

import json
import os
import re

from mpi_harness import COMMAND, expect, expect_equal, job, main, run, untraced, with_each
from test_calls import EVERY


def summary(folder, *words):
    return run([COMMAND, "summary", "--top", "1000", *words, folder], untraced()).stdout


def section(text, title):
    return text.split(f"\n{title}", 1)[1].split("\n\n", 1)[0] if f"\n{title}" in text else ""


@with_each(globals())
def files_of_the_runtime_are_left_out_unless_asked_for(folder, mpi):
    program = mpi.compile(os.path.join(folder, "every"), *EVERY)
    traces, counted = os.path.join(folder, "traces"), os.path.join(folder, "counted")
    os.mkdir(counted)
    job(mpi, traces, 3, [program, counted, "plain"], DATA_DIR="all")
    found = json.loads(summary(traces, "--json"))["io"]["files"]
    runtime = {row["file"] for row in found if row.get("is_mpi_runtime")}
    expect(runtime, "files of the runtime")
    expect_equal([path for path in runtime if path.startswith(counted)], [], "files of the program among them")
    table = section(summary(traces), "I/O by file")
    (count,) = re.findall(r"(\d+) files? of the MPI runtime", table)
    expect_equal(int(count), len(runtime), "files in the note, and in JSON")
    for word in ("mca_", "ucx", "pmix", "libfabric", "ompi.", "hydra", "mpich.conf", "hwloc", "pci.ids", "/run/udev"):
        expect(word not in table.split("files of the MPI runtime")[0].replace(folder, ""), f"{word}: {table}")
    expect(os.path.join(counted, "data") in table, table)
    every = section(summary(traces, "--files"), "I/O by file")
    missing = [path for path in runtime if path not in every]
    expect_equal((missing, "MPI runtime" in every), ([], False), "with --files")


main(globals())
