"""Who may include what, and where things are defined.

The folders of the tree depend on each other in one direction only, no two files include each other, however many stand
between them, and what X.h declares, X.c defines. At the end, a small tree that breaks each rule once shows that this
test would notice.
"""

import os
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

# A folder: the folders whose headers its files may include, besides its own and the system's.
CORE = ["base", "codec", "spool", "record", "drain", "session"]  # the stages of an event's life, in their order
COMMANDS = ["run", "summary", "merge", "validate", "top", "generate"]
SHARED = ["c/include", "c/base", "c/codec", "c/command/cli", "c/command/trace", "c/command/symbol"]  # their base
RULES = {
    "c/include": [],
    **{f"c/{name}": ["c/include", *(f"c/{below}" for below in CORE[:i])] for i, name in enumerate(CORE)},
    "c/intercept": ["c/include", *(f"c/{name}" for name in CORE)],
    "c/nvtx": ["c/include", "c/base"],
    "c/reader/row": ["c/include", "c/base", "c/codec"],
    "c/reader": ["c/include", "c/base", "c/codec"],
    "c/command/cli": ["c/include", "c/base", "c/codec"],
    "c/command/trace": ["c/include", "c/base", "c/codec", "c/command/cli"],
    "c/command/symbol": ["c/include"],
    **{f"c/command/{name}": SHARED for name in COMMANDS},
    "c/command/summary/tally": SHARED,
    "c/command/summary/state": [*SHARED, "c/command/summary/tally"],
    "c/command/summary/answer": [*SHARED, "c/command/summary/tally", "c/command/summary/state"],
    "c/command/summary/verdict": [*SHARED, *(f"c/command/summary/{name}" for name in ("tally", "state", "answer"))],
    "c/command/summary/count": [*SHARED, *(f"c/command/summary/{name}" for name in ("tally", "state", "answer"))],
    "c/command/convert": [*SHARED, "c/command/merge"],
    "sinks": ["c/include", "c/codec"],  # and each folder in it the same, but no other sink
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
NOT_OURS = ["tests", "build"]  # folders that no rule binds
INCLUDE = re.compile(
    r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:include(?P<next>_next)?|import|embed)\b[ \t]*"
    r'(?:"(?P<near>[^"\n]+)"|<(?P<far>[^>\n]+)>|(?P<other>.*))',
    re.MULTILINE,
)
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


def directives(path):
    """The text without comments, and with continued lines in one piece."""
    text = path.read_text().replace("\\\n", "")
    return COMMENT.sub(lambda found: found[0] if found[0][0] in "\"'" else " ", text)


def includes(root, folder):
    """Pairs of a source and what it includes; a target of None cannot be told."""
    for source in files(root, folder):
        for include in INCLUDE.finditer(directives(source)):
            near, far, other, is_next = include.group("near", "far", "other", "next")
            target = resolve(root, source, near, far) if not other and not is_next else None
            if target or other or near or is_next:
                yield source.relative_to(root).as_posix(), include.group().strip(), target


def rules(root):
    """Each sink is a folder of its own."""
    sinks = sorted(path.name for path in (root / "sinks").glob("*") if path.is_dir())
    return RULES | {f"sinks/{name}": [*RULES["sinks"], "sinks/sinks.h"] for name in sinks}


def wrong_directions(root):
    known = rules(root)
    for folder, allowed in known.items():
        places = [folder, *allowed, *ALSO.get(folder, [])]
        for name, text, target in includes(root, folder):
            if folder != max((rule for rule in known if is_in(name, [rule])), key=len):
                continue  # a folder inside has a rule of its own
            if not target:
                yield f"{name}: {text}: cannot tell which file that is"
            elif not is_in(target, places):
                yield f"{name} includes {target}; {folder} may include only {', '.join(places)}"


def uncovered(root):
    """Sources in folders that no rule names."""
    for folder in sorted(path.name for path in root.iterdir() if path.is_dir()):
        if folder in NOT_OURS or folder.startswith("."):
            continue
        for source in files(root, folder):
            name = source.relative_to(root).as_posix()
            if not is_in(name, RULES):
                yield f"{name}: no rule says what this folder may include"


def declared_by_hand(root):
    """A source that repeats a declaration of another file depends on it, and no include shows that."""
    for folder in ("c", "sinks", "python/src"):
        for source in files(root, folder):
            if source.suffix != ".c":
                continue
            text, name = plain(source), source.relative_to(root).as_posix()
            for found in re.finditer(r"^[^#\n]*\bextern\b(?! \"C\")[^;{(]*?\b(\w+)\s*[;(\[]", text, re.MULTILINE):
                yield f"{name} declares {found.group(1)} by hand; include the header that does"
            for found in DECLARED.finditer(text):
                own = found.group(1)
                if own.startswith("dft__io_"):
                    continue  # wrappers: calls.inc declares them, and assembler code may define them
                if f'"{own}:' in source.read_text():
                    continue  # assembler code of this file defines it
                if own.startswith("dft_") and not re.search(rf"\b{own}\([^;{{}}]*\)\s*\{{", text):
                    yield f"{name} declares {own} by hand; include the header that does"


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
    for rule in (wrong_directions, uncovered, declared_by_hand, cycles, defined_elsewhere, same_names):
        yield from rule(root)


# A tree that breaks every rule: its files, and what is said about them.
BROKEN = {
    "c/base/up.c": ('#include "spool/high.h"\n', "c/base/up.c includes c/spool/high.h"),
    "c/base/next.c": ('#include_next "high.h"\n', "c/base/next.c: #include_next"),
    "c/base/digraph.c": ('%: include "spool/high.h"\n', "c/base/digraph.c includes c/spool/high.h"),
    "c/base/split.c": ('#inc\\\nlude "spool/high.h"\n', "c/base/split.c includes c/spool/high.h"),
    "c/base/hidden.c": ('/* x */ # /* y */ include "spool/high.h"\n', "c/base/hidden.c includes c/spool/high.h"),
    "c/base/macro.c": ("#include HIGH\n", "c/base/macro.c: #include HIGH"),
    "c/base/copy.c": ("extern int dft__high(void);\n", "c/base/copy.c declares dft__high by hand"),
    "c/base/again.c": ("int dft__high(void);\n", "c/base/again.c declares dft__high by hand"),
    "c/base/inside.c": ("void f(void) {\n  extern int high;\n}\n", "c/base/inside.c declares high by hand"),
    "c/new/file.c": ("", "c/new/file.c: no rule"),
    "more/file.c": ("", "more/file.c: no rule"),
    "sinks/jsonl/jsonl.c": ('#include "../hdf5/rows.h"\n', "sinks/jsonl/jsonl.c includes sinks/hdf5/rows.h"),
    "c/spool/one.h": ('#include "two.h"\n', "include each other: c/spool/one, c/spool/two"),
    "c/spool/missing.h": ("int dft__missing(void);\n", "c/spool/missing.h declares dft__missing"),
    "c/record/high.c": ("", "the file name high occurs more than once"),
}
FINE = {
    "c/spool/high.h": "int dft__high(void);\n",
    "c/spool/high.c": '#include "high.h"\n// #include "session/x.h"\nint dft__high(void) {\n  return 1;\n}\n',
    "c/spool/two.h": '#include "one.h"\n',
    "sinks/hdf5/rows.h": "",
}


def unnoticed():
    """What this test would not see."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, text in {**FINE, **{name: text for name, (text, _) in BROKEN.items()}}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        said = list(findings(root))
        for name, (_, expected) in BROKEN.items():
            if not any(expected in line for line in said):
                yield f"not noticed: {name} ({expected})"
        for line in said:
            if not any(expected in line for _, expected in BROKEN.values()):
                yield f"noticed without a reason: {line}"


def main():
    root = Path(os.environ["DFT_TEST_SOURCE"]).resolve()
    assert (root / "c/include/dftracer/dft.h").is_file(), f"{root} is not the source tree"
    broken = [*findings(root), *unnoticed()]
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
