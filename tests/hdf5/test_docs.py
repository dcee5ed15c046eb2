"""test_docs.py - the snippets of docs/hdf5.md, to the letter.
SPDX-License-Identifier: MIT
"""

import os
import re
import subprocess
import sys

import h5trace  # noqa: F401 (skips where there is no h5py)

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "faults"))

from harness import COMMAND, expect, expect_equal, main, untraced

SOURCE = os.environ["DFT_TEST_SOURCE"]
PROGRAM = ("import ctypes, os; core = ctypes.CDLL(os.environ['DFT_TEST_LIBRARY'])\n"
           "size = ctypes.c_size_t\n"
           "for i in range(3): core.dft_instant_n(b'step', size(4), b'solver', size(6), None, 0)\n"
           "core.dft_stop()\n")


def snippets(language):
    with open(os.path.join(SOURCE, "docs", "hdf5.md")) as file:
        found = re.findall(rf"```{language}\n(.*?)```", file.read(), re.DOTALL)
    expect(found, f"no snippet in {language}")
    return found


def run(arguments, folder):
    environment = untraced() | {"PYTHONPATH": os.environ.get("DFT_TEST_PYTHONPATH", ""),
                                "PATH": os.path.dirname(COMMAND) + ":" + os.environ["PATH"]}
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=100,
                          check=False)
    expect_equal(done.returncode, 0, f"{arguments}: {done.stdout}{done.stderr}")
    return done.stdout


def case_commands_and_programs_run(folder):
    program = os.path.join(folder, "program")
    with open(program, "w") as file:
        file.write(f"#!/bin/sh\nexec {sys.executable} - <<'END'\n{PROGRAM}END\n")
    os.chmod(program, 0o755)
    record, convert = snippets("sh")
    run(["bash", "-ec", record], folder)
    for made in ("out", "both", "rows"):
        names = os.listdir(os.path.join(folder, made))
        expect_equal(sum(name.endswith(".h5") for name in names), 1, f"files in {made}")
    run(["bash", "-ec", convert], folder)
    outputs = [run([sys.executable, "-c", snippet], folder) for snippet in snippets("python")]
    expect("step" in outputs[0], outputs[0])
    expect("3 steps" in outputs[1], outputs[1])


main(globals())
