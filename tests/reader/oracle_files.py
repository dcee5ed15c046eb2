"""Groups of files, as docs/summary.md defines them."""

import collections
import re

from oracle_events import TOP


def parts_of(path):
    """The path without its numbers, the numbers, and the extension ("" if it has none without a number)."""
    name = path.rpartition("/")[2]
    stem, _, extension = name.rpartition(".")
    if not stem or not re.match("[A-Za-z]", extension):
        stem, extension = name, ""
    is_kept = 0 < len(extension) <= 4
    text = path[: -len(extension)] if is_kept else path
    pattern = re.sub("[0-9]+", "#", text) + (extension if is_kept else "")
    has_number = not is_kept and re.search("[0-9]", extension)
    return pattern, re.findall("[0-9]+", text), "" if has_number or len(extension) > 10 else extension


def with_ranges(pattern, numbers):
    """numbers: for each file the list of its numbers."""
    for column in zip(*numbers):
        least, most = (pick(column, key=lambda text: (int(text), len(text))) for pick in (min, max))
        pattern = pattern.replace("#", least if least == most else f"{{{least}..{most}}}", 1)
    return pattern


class Line:
    """A line of the table before folding: files with one pattern."""

    def __init__(self, pattern, extension, files):
        self.pattern, self.extension, self.files = pattern, extension, files
        self.folder = pattern[: pattern.rfind("/") + 1]


def folded(lines, folder, large, numbers):
    """One line of many: its files, and its label; `numbers` of each file."""
    files = [file for line in lines for file in line.files]
    is_deep = any(line.folder != folder for line in lines)
    extensions = {line.extension for line in lines}
    extension = extensions.pop() if len(extensions) == 1 else ""
    is_rest = any(
        line.pattern.startswith(folder)
        and (is_deep or line.folder == folder)
        and (not extension or line.extension == extension)
        for line in large
    )
    shown = with_ranges(folder, [numbers[file][: folder.count("#")] for file in files])
    label = f"{shown}{'**/' if is_deep else ''}{{{len(files):,} {'other ' if is_rest else ''}files}}"
    result = Line(folder, extension, files)
    result.label, result.folder = label + (extension and "." + extension), folder + "*/" * is_deep
    return result


def groups_of(files):
    """Labels and files of docs/summary.md's groups; files: by hash the path, or None, and the I/O."""
    result, by_pattern, numbers = [], collections.defaultdict(list), {}
    extensions = {}
    for file, (path, _) in files.items():
        if not path or not file:
            result.append((path or file, [file]))
            continue
        pattern, numbers[file], extensions[pattern] = parts_of(path)
        by_pattern[pattern].append(file)
    lines = []
    for pattern, some in by_pattern.items():
        lines += [Line(pattern, extensions[pattern], one) for one in ([some] if len(some) > 2 else [[f] for f in some])]
    kinds = ("read_ns", "write_ns", "metadata_ns")
    time = {file: min(sum(io.numbers[kind] for kind in kinds), TOP) for file, (_, io) in files.items()}
    moved = {file: min(io.numbers["read_bytes"] + io.numbers["write_bytes"], TOP) for file, (_, io) in files.items()}
    large = [
        line
        for line in lines
        if any(
            min(sum(amount[file] for file in line.files), TOP) > min(sum(amount.values()), TOP) // 20
            for amount in (time, moved)
        )
    ]
    small = [line for line in lines if line not in large]
    folders = {line.folder[: i + 1] for line in small for i, c in enumerate(line.folder) if c == "/"} | {""}
    for folder in sorted(folders, key=lambda name: -name.count("/")):
        for extension in {line.extension for line in small} - {""}:
            alike = [line for line in small if line.folder == folder and line.extension == extension]
            if len(alike) > 4:
                small = [line for line in small if line not in alike] + [folded(alike, folder, large, numbers)]
        inside = [line for line in small if line.folder.startswith(folder)]
        if folder in ("", "/"):
            inside = [line for line in inside if line.folder == folder]
        if len(inside) > 4:
            small = [line for line in small if line not in inside] + [folded(inside, folder, large, numbers)]
    for line in large + small:
        label = getattr(line, "label", None) or with_ranges(line.pattern, [numbers[file] for file in line.files])
        result.append((label, line.files))
    return result
