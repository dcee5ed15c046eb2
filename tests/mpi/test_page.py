"""test_page.py - docs/mpi.md: its example does what it says, and its table has every argument.
SPDX-License-Identifier: MIT
"""

import os
import re

from mpi_harness import COMMAND, SOURCE, expect, expect_equal, implementation, main, read_folder, run, untraced

with open(f"{SOURCE}/docs/mpi.md", encoding="utf-8") as file:
    PAGE = file.read()


ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MANY = {"OMPI_MCA_rmaps_base_oversubscribe": "1"}


def run_example(folder, language, before=""):
    implementation("Open MPI 4").compile(os.path.join(folder, "solver"), "jobs.c", options=("-pthread",))
    (example,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    own = {"PATH": f"{os.path.dirname(COMMAND)}:{os.environ['PATH']}", "SCRATCH": folder, "SLURM_JOB_ID": "job"}
    return run(["bash", "-e", "-c", f"cd {folder}\n{before}\n{example}"], untraced() | ROOT | MANY | own)


def case_the_shell_example(folder):
    done = run_example(folder, "sh")
    expect("its library is Open MPI" in done.stdout and "MPI_Init" in done.stdout, done.stdout)
    expect_equal(len(read_folder(os.path.join(folder, "traces/job"), small=True)), 4, "traces")
    expect(os.path.getsize(os.path.join(folder, "job.json.gz")), "timeline")


def case_the_batch_script(folder):
    """There is no Slurm here: mpirun is in the place of srun."""
    done = run_example(folder, "bash", 'srun() { mpirun -n 2 "$@"; }')
    expect("MPI_Init" in done.stdout, done.stdout)
    expect_equal(len(read_folder(os.path.join(folder, "traces/job"), small=True)), 2, "traces")


def case_every_argument_is_explained(_folder):
    with open(f"{SOURCE}/c/intercept/mpi/mpievent.c", encoding="utf-8") as file:
        keys = re.findall(r'DFT_KEY\("(\w+)"\)', file.read())
    expect(len(keys) > 20, keys)
    table = "".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    missing = [key for key in keys if f"`{key}`" not in table and not re.fullmatch(r"start_[2-7]", key)]
    expect_equal(missing, [], "arguments that the page does not explain")


main(globals())
