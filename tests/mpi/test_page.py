"""test_page.py - docs/mpi.md: its example does what it says, and its table has every argument.
SPDX-License-Identifier: MIT
"""

import os
import re

from mpi_harness import COMMAND, SOURCE, expect, expect_equal, implementation, main, read_folder, run, untraced

with open(f"{SOURCE}/docs/mpi.md", encoding="utf-8") as file:
    PAGE = file.read()


def case_the_shell_example(folder):
    mpi = implementation("Open MPI 4")
    mpi.compile(os.path.join(folder, "solver"), "jobs.c", options=("-pthread",))
    (example,) = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    many = {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
    env = untraced() | root | many | {"PATH": f"{os.path.dirname(COMMAND)}:{os.environ['PATH']}"}
    done = run(["bash", "-e", "-c", f"cd {folder}\n{example}"], env)
    expect("MPI_Init" in done.stdout, done.stdout)
    expect_equal(len(read_folder(os.path.join(folder, "traces/job"), small=True)), 4, "traces")


def case_every_argument_is_explained(_folder):
    with open(f"{SOURCE}/c/intercept/mpi/mpievent.c", encoding="utf-8") as file:
        keys = re.findall(r'DFT_KEY\("(\w+)"\)', file.read())
    expect(len(keys) > 20, keys)
    table = "".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    missing = [key for key in keys if f"`{key}`" not in table and not re.fullmatch(r"start_[2-7]", key)]
    expect_equal(missing, [], "arguments that the page does not explain")


main(globals())
