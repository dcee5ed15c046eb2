"""Every command and program of docs/summary.md, docs/summary-state.md and docs/reading.md runs."""

import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ["DFT_TEST_SOURCE"]
COMMAND = os.environ["DFT_TEST_COMMAND"]


def blocks(page, kind):
    with open(os.path.join(SOURCE, "docs", page), encoding="utf-8") as file:
        return re.findall(rf"^```{kind}\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)


def run(words, folder):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.returncode} {done.stderr}"
    return done.stdout


def check_members(folder):
    """The table of the JSON names the members that there are, in their order."""
    with open(os.path.join(SOURCE, "docs", "summary.md"), encoding="utf-8") as file:
        table = re.search(r"^## The JSON\n.*?^\|---\|---\|\n(.*?)^$", file.read(), re.MULTILINE | re.DOTALL)[1]
    document = json.loads(run([COMMAND, "summary", "--json", "out"], folder))
    rows = [[re.findall(r"`([a-z_]+)`", cell) for cell in line.split("|")[1:3]] for line in table.splitlines()]
    assert [name for names, _ in rows for name in names] == list(document), list(document)
    for (name, *_), inside in rows:
        if isinstance(document[name], dict) and name not in ("tracing", "training"):
            assert set(inside) == set(document[name]), (name, document[name].keys())


def main():
    with tempfile.TemporaryDirectory() as folder:
        run([COMMAND, "generate", "--events", "3000", "out"], folder)
        check_members(folder)
        count = 0
        for page in ("summary.md", "summary-state.md", "reading.md"):
            for line in "".join(blocks(page, "console")).splitlines():
                words = line.split()
                assert words[0] == "dftracer", line
                assert run([COMMAND, *words[1:]], folder), line
                count += 1
        assert count >= 7, count
        (program,) = blocks("reading.md", "c")
        with open(os.path.join(folder, "program.c"), "w", encoding="utf-8") as file:
            file.write(program)
        libraries = os.path.join(os.environ["DFT_TEST_BUILD"], "c")
        run(
            [
                "cc",
                "-std=c11",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-o",
                "program",
                "program.c",
                "-I",
                os.path.join(SOURCE, "c", "include"),
                "-L",
                libraries,
                "-ldftracer_reader",
                "-ldftracer_core",
                f"-Wl,-rpath,{libraries}",
            ],
            folder,
        )
        output = run(["./program", "out"], folder)
        assert re.match(r"[1-9]\d* bytes, 0 problems", output), output
    return 0


if __name__ == "__main__":
    sys.exit(main())
