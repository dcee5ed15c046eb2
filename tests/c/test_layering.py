"""Who may include what, and where things are defined.

The folders of the tree depend on each other in one direction only, no two files include each other, however many stand
between them, and what X.h declares, X.c defines.
"""

import os
import re
import sys
from collections import defaultdict
from pathlib import Path

# A folder: the folders whose headers its files may include, besides its own and the system's.
CORE = ["base", "codec", "spool", "record", "drain", "session"]  # the stages of an event's life, in their order
COMMANDS = ["run", "summary", "merge", "validate", "top", "generate"]
SHARED = ["c/include", "c/base", "c/codec", "c/command/cli", "c/command/trace"]  # what they stand on
RULES = {
    "c/include": [],
    **{f"c/{name}": ["c/include", *(f"c/{below}" for below in CORE[:i])] for i, name in enumerate(CORE)},
    "c/intercept": ["c/include", *(f"c/{name}" for name in CORE)],
    "c/reader/row": ["c/include", "c/base", "c/codec"],
    "c/reader": ["c/include", "c/base", "c/codec"],
    "c/command/cli": ["c/include", "c/base"],
    "c/command/trace": ["c/include", "c/base", "c/codec", "c/command/cli"],
    **{f"c/command/{name}": SHARED for name in COMMANDS},
    "c/command/summary/tally": SHARED,
    "c/command/summary/state": [*SHARED, "c/command/summary/tally"],
    "c/command/convert": [*SHARED, "c/command/merge"],
    "sinks": ["c/include", "c/codec"],
    "fortran": ["c/include"],
    "python": ["c/include"],
    "examples": ["c/include"],
}
# A single header besides these, and why.
ALSO = {
    "c/drain": ["sinks/sinks.h"],  # the table of built-in sinks
    "c/command/summary/tally": ["c/intercept/calls.inc"],  # what each I/O call does
    "c/command/top": ["c/spool/record.h"],  # looks into spools of running processes
}
SEARCHED = ["c/include", "c", ".", "tests"]  # as by the compiler's -I
SOURCES = (".c", ".h", ".cc", ".cpp", ".hpp", ".inc")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\b[ \t]*(?:"(?P<near>[^"]+)"|<(?P<far>[^>]+)>|(?P<other>.*))', re.MULTILINE)
COMMENT = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+'""", re.DOTALL)
DECLARED = re.compile(
    r"^(?!static\b|typedef\b|extern\b|return\b|else\b|#)[A-Za-z][\w \t*]*?\b(\w+)\([^;{}]*\)[^;{}()]*(?:\([^;{}]*\))*;",
    re.MULTILINE,
)
TYPES = [
    re.compile(pattern, re.MULTILINE | re.DOTALL)
    for pattern in (
        r"^typedef (?:struct|union|enum)\b[^;{]*\{.*?^\}\s*(?P<name>\w+);",
        r"^typedef (?!(?:struct|union|enum) (\w+) \1;)[^;{}]*?\b(?P<name>\w+);",  # but for names of types to come
        r"^(?:struct|union|enum) (?P<name>\w+) \{",
    )
]


def files(root, folder):
    return [path for path in sorted((root / folder).rglob("*")) if path.suffix in SOURCES and path.is_file()]


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


def includes(root, folder):
    """Pairs of a source and what it includes; a target of None cannot be told."""
    for source in files(root, folder):
        for include in INCLUDE.finditer(source.read_text()):
            near, far, other = include.group("near", "far", "other")
            target = resolve(root, source, near, far) if not other else None
            if target or other or near:
                yield source.relative_to(root).as_posix(), include.group().strip(), target


def wrong_directions(root):
    for folder, allowed in RULES.items():
        places = [folder, *allowed, *ALSO.get(folder, [])]
        for name, text, target in includes(root, folder):
            if folder != max((rule for rule in RULES if is_in(name, [rule])), key=len):
                continue  # a folder inside has a rule of its own
            if not target:
                yield f"{name}: {text}: cannot tell which file that is"
            elif not is_in(target, places):
                yield f"{name} includes {target}; {folder} may include only {', '.join(places)}"


def uncovered(root):
    """Folders of c/ that no rule names."""
    for source in files(root, "c"):
        name = source.relative_to(root).as_posix()
        if not is_in(name, RULES):
            yield f"{name}: no rule says what this folder may include"


def module(path):
    return os.path.splitext(path)[0]


def cycles(root):
    """Files that include each other; X.c and X.h count as one."""
    needs = defaultdict(set)
    for folder in ("c", "sinks", "python"):
        for name, _, target in includes(root, folder):
            if target and not target.endswith(".inc") and module(target) != module(name):
                needs[module(name)].add(module(target))
    index, low, stack, groups = {}, {}, [], []

    def visit(node):  # Tarjan's strongly connected components
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(needs[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            groups.append(group)

    for node in sorted(needs):
        if node not in index:
            visit(node)
    for group in groups:
        if len(group) > 1:
            yield "these files include each other: " + ", ".join(sorted(group))


def plain(path):
    return COMMENT.sub(" ", path.read_text())


def defined_elsewhere(root):
    """What X.h declares, X.c defines; or each X_*.c, where the build takes one of several."""
    for folder in ("c", "python/src"):
        for header in files(root, folder):
            if header.suffix != ".h" or is_in(header.relative_to(root).as_posix(), ["c/include"]):
                continue
            sources = [header.with_suffix(".c"), *header.parent.glob(header.stem + "_*.c")]
            bodies = [plain(source) for source in sources if source.is_file()]
            for found in DECLARED.finditer(plain(header)):
                name = found.group(1)
                if not any(re.search(rf"\b{name}\([^;{{}}]*\)\s*\{{", body) for body in bodies):
                    yield f"{header.relative_to(root)} declares {name}; {header.stem}.c does not define it"


def same_names(root):
    stems = defaultdict(set)
    types = defaultdict(set)
    for source in files(root, "c"):
        name = source.relative_to(root).as_posix()
        if is_in(name, ["c/include"]):
            continue
        stems[source.stem].add(module(name))
        for pattern in TYPES:
            for found in pattern.finditer(plain(source)):
                types[found.group("name")].add(name)
    for what, names in (("file name", stems), ("type name", types)):
        for name, places in sorted(names.items()):
            if len(places) > 1:
                yield f"the {what} {name} occurs more than once: {', '.join(sorted(places))}"


def findings(root):
    for rule in (wrong_directions, uncovered, cycles, defined_elsewhere, same_names):
        yield from rule(root)


def main():
    root = Path(os.environ["DFT_TEST_SOURCE"]).resolve()
    assert (root / "c/include/dftracer/dft.h").is_file(), f"{root} is not the source tree"
    broken = list(findings(root))
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
