"""docs/annotating.md and docs/moving.md, to the letter: their programs are built and run by their own commands against
an installed tree, and record what the pages say."""

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests"))
import trace

DOCS = Path(os.environ["DFT_TEST_SOURCE"]) / "docs"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPECTED = {
    "annotating.md": {"read_input": 1, "solve": 1, "step": 5 + 3, "load": 4, "reduce": 1, "store": 1, "by hand": 1,
                      "converged": 1, "memory": 1, "square": 1},
    "moving.md": {"step": 3},
}


def unpack(page, folder):
    """Files of the page; its commands in their order."""
    commands = "set -eu\n"
    for language, name, text in BLOCK.findall(page.read_text()):
        if language == "cmake":
            (folder / "CMakeLists.txt").write_text(text)
        elif language == "sh":
            commands += text
        else:
            assert name, f"{page.name}: a block of {language} without a name"
            (folder / name).write_text(text)
    return commands


def check(name, prefix):
    with tempfile.TemporaryDirectory() as scratch:
        commands = unpack(DOCS / name, Path(scratch))
        done = subprocess.run(["bash", "-c", commands], cwd=scratch, env=dict(os.environ, PREFIX=prefix),
                              capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode == 0, f"{name}: {commands}\n{done.stdout}{done.stderr}"
        found = Counter(event["name"] for one in trace.read_folder(f"{scratch}/out") for event in one.user_events())
        expected = EXPECTED[name]
        assert {event: found[event] for event in expected} == expected, (name, found)


def the_table_of_ignored_variables_is_complete():
    page = (DOCS / "moving.md").read_text()
    source = (DOCS.parent / "c/base/ignored.h").read_text()
    names = re.findall(r'^  X\("(\w+)"', source, re.MULTILINE)
    assert len(names) > 9
    missing = [name for name in names if f"`DFTRACER_{name}`" not in page]
    assert not missing, missing


with tempfile.TemporaryDirectory() as folder:
    subprocess.run(["cmake", "--install", os.environ["DFT_TEST_BUILD"], "--prefix", folder], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    for page_name in EXPECTED:
        check(page_name, folder)
the_table_of_ignored_variables_is_complete()
