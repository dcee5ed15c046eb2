"""test_documents.py - what ARCHITECTURE.md, CONTRIBUTING.md and docs/decisions name exists, and links lead somewhere.

SPDX-License-Identifier: MIT
"""

import os
import re
import sys
from pathlib import Path

SOURCE = Path(os.environ["DFT_TEST_SOURCE"])
DECISIONS = SOURCE / "docs/decisions"
LEFT_OUT = {"build", ".git", "__pycache__"}
# A file by its name, or by its path from the top, where * stands for some of its letters.
ENDINGS = "c|h|hpp|inc|map|py|pyi|sh|f90|md|cmake|json|toml|yml"
FILE = re.compile(rf"(?<![\w./*<-])((?:[\w.*-]+/)*[\w*-]+\.(?:{ENDINGS}))(?![\w*])")
FOLDER = re.compile(r"(?<![\w./*-])((?:c|cmake|docs|examples|fortran|python|sinks|tests)(?:/[\w-]+)+)/?(?![\w./*-])")
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")
TEMPLATE = re.compile(r"AREA|NAME|SUBJECT|NNN|^X\.")  # where a name is to be put in


def tree():
    for folder, folders, files in os.walk(SOURCE):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        yield from (Path(folder, name).relative_to(SOURCE).as_posix() for name in files)


FILES = set(tree())
NAMES = {name.rsplit("/", 1)[-1] for name in FILES}


def exists(name):
    if "*" in name:
        return any(SOURCE.glob(name))
    return name in FILES if "/" in name else name in NAMES


def unknown_names(page):
    text = LINK.sub("]", page.read_text(encoding="utf-8"))
    for name in sorted({*FILE.findall(text), *FOLDER.findall(text)}):
        if not TEMPLATE.search(name) and not exists(name) and not (SOURCE / name).is_dir():
            yield f"{page.relative_to(SOURCE)} names {name}, which is not in the tree"


def anchors(page):
    """What links to its headings are called: small letters, a hyphen for a blank, no other signs."""
    headings = re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def dead_links(page):
    for name, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / name if name else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            yield f"{page.relative_to(SOURCE)} links to {name}{'#' if anchor else ''}{anchor}, which is not there"


def long_lines(page):
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if len(line) > 120:
            yield f"{page.relative_to(SOURCE)}:{number} has {len(line)} columns; at most 120"


def decisions_without_an_entry():
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    for page in sorted(DECISIONS.glob("[0-9]*.md")):
        title = page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        entry = f"[{title}]({page.name})"
        if entry not in index:
            yield f"docs/decisions/README.md does not list {entry}"


def findings():
    architecture = [SOURCE / "ARCHITECTURE.md", *sorted(DECISIONS.glob("*.md"))]
    assert len(architecture) > 20, architecture
    for page in [*architecture, SOURCE / "CONTRIBUTING.md"]:
        yield from unknown_names(page)
    for page in architecture:
        yield from long_lines(page)
    for page in [*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md"), *(SOURCE / "tests").rglob("*.md")]:
        yield from dead_links(page)
    yield from decisions_without_an_entry()


found = list(findings())
print("\n".join(found), file=sys.stderr)
sys.exit(1 if found else 0)
