"""test_pages.py - the pages docs/verdict/ show what dftracer summary prints of the jobs of page_jobs.py.

The first block of a page is the verdict and the findings: the beginning of the output, up to its first table. Every
other block is a part of it that begins and ends at a line.
SPDX-License-Identifier: MIT
"""

import ast
import os
import re
import subprocess
import tempfile
import textwrap

from page_jobs import JOBS
from verdict_harness import COMMAND, SOURCE, check, main, verdict_of

PAGES = SOURCE / "docs/verdict"
ENVIRONMENT = {**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
BASES = {"input": "training loop", "compute": "training loop", "checkpoint": "training loop"}


def printed_of(folder, *options):
    words = [COMMAND, "summary", *options, folder]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


def blocks_of(path, kind="text"):
    return re.findall(rf"^ *```{kind}\n(.*?)^ *```", path.read_text(), re.MULTILINE | re.DOTALL)


def check_page(name, folder):
    first, *others = blocks_of(PAGES / f"{name}.md")
    printed = printed_of(folder)
    answer = re.split(r"\n\n(?=[\d,]+ traces, )", printed)[0] + "\n"
    assert first == answer, f"{name}: the page begins with\n{first}\nbut the command prints\n{answer}"
    for block in others:
        assert f"\n{block}" in printed, f"{name}: the page shows\n{block}\nbut the command prints\n{printed}"


def pages_show_what_is_printed():
    failures = []
    for name, make in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            make().write(folder)
            try:
                check_page(name, folder)
            except AssertionError as error:
                failures.append(str(error))
    assert not failures, "\n" + "\n".join(failures)


def verdicts_are_true():
    """The page of a verdict is about a job that has it."""
    for name, make in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            truth = make().write(folder, whole=name not in BASES)
            expected = "io/read" if name == "io" else name
            check(verdict_of(folder), truth, expected, BASES.get(name, "job"))


def commands_of_the_pages_run():
    """On the traces of the page."""
    count = 0
    for name, make in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            make().write(f"{folder}/traces")
            for line in "".join(blocks_of(PAGES / f"{name}.md", "console")).splitlines():
                program, *words = line.split()
                assert program == "dftracer", line
                subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, check=True)
                count += 1
    assert count, "there is none"


def python_of_the_pages_can_be_parsed():
    for name in JOBS:
        for block in blocks_of(PAGES / f"{name}.md", "python"):
            ast.parse(textwrap.dedent(block))


def there_is_a_page_for_each_job_and_no_other():
    assert {path.stem for path in PAGES.glob("*.md")} == set(JOBS), list(PAGES.glob("*.md"))
    linked = set(re.findall(r"\(verdict/(\w+)\.md\)", (SOURCE / "docs/summary.md").read_text()))
    assert linked == set(JOBS), linked


def the_explanation_is_the_one_of_a_page():
    """docs/summary.md shows --explain random-reads of the job of the page about I/O."""
    with tempfile.TemporaryDirectory() as folder:
        JOBS["io"]().write(folder)
        printed = printed_of(folder, "--explain", "random-reads").lstrip("\n")
    assert printed in blocks_of(SOURCE / "docs/summary.md"), printed


if __name__ == "__main__":
    main(
        pages_show_what_is_printed,
        verdicts_are_true,
        commands_of_the_pages_run,
        python_of_the_pages_can_be_parsed,
        there_is_a_page_for_each_job_and_no_other,
        the_explanation_is_the_one_of_a_page,
    )
