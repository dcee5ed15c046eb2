"""Who may include what. The folders of the source tree depend on each other in one direction only."""

import os
import re
import sys
from pathlib import Path

# A folder: what its files may include besides each other and the system's headers. Nobody includes tests or examples.
RULES = {
    "c/include": [],
    "c/src": ["c/include", "sinks/sinks.h", "c/intercept/intercept.h", "c/intercept/calls.inc"],
    "c/intercept": ["c/include", "c/src"],
    "c/command": ["c/include", "sinks/jsonl", "c/src/record.h", "c/src/ignored.h", "c/src/alike.h"],
    "c/reader": ["c/include", "c/src/record.h", "c/src/hash.h", "sinks/jsonl"],
    "sinks": ["c/include"],
    "fortran": ["c/include"],
    "python": ["c/include"],
    "examples": ["c/include"],
}
SEARCHED = ["c/include", "c/src", "sinks", "tests", "."]  # as by the compiler's -I
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\b[ \t]*(?:"(?P<near>[^"]+)"|<(?P<far>[^>]+)>|(?P<other>.*))', re.MULTILINE)


def is_in(path, places):
    return any(path == place or path.startswith(place + "/") for place in places)


def resolve(root, source, near, far):
    """The included file as a path inside the tree; None when it is not of the tree."""
    folders = ([source.parent] if near else []) + [root / folder for folder in SEARCHED]
    for folder in folders:
        path = Path(os.path.normpath(folder / (near or far)))
        if path.is_file() and root in path.parents:
            return path.relative_to(root).as_posix()
    return None


def findings(root):
    for folder, allowed in RULES.items():
        for source in sorted((root / folder).rglob("*")):
            if source.suffix not in (".c", ".h", ".cc", ".cpp", ".hpp", ".inc") or not source.is_file():
                continue
            name = source.relative_to(root).as_posix()
            for include in INCLUDE.finditer(source.read_text()):
                near, far, other = include.group("near", "far", "other")
                target = resolve(root, source, near, far) if not other else None
                if other or (near and not target):
                    yield f"{name}: {include.group().strip()}: cannot tell which file that is"
                elif target and not is_in(target, [folder, *allowed]):
                    yield f"{name} includes {target}; {folder} may include only {', '.join([folder, *allowed])}"


def main():
    root = Path(os.environ["DFT_TEST_SOURCE"]).resolve()
    assert (root / "c/include/dftracer/dft.h").is_file(), f"{root} is not the source tree"
    broken = list(findings(root))
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
