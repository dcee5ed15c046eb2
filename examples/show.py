#!/usr/bin/env python3
"""show.py - what is in a trace: regions by category and name with counts and times, counters, threads.

Reads .pfw and .pfw.gz files, or all of a folder, with nothing but Python's own library.
SPDX-License-Identifier: MIT
"""

import argparse
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

UNIT_SECONDS = {"NS": 1e-9, "US": 1e-6, "MS": 1e-3, "SEC": 1.0}
BAR_WIDTH = 20


@dataclass
class Region:
    count: int = 0
    total: float = 0.0
    longest: float = 0.0


@dataclass
class Contents:
    files: list[Path] = field(default_factory=list)
    regions: dict[tuple[str, str], Region] = field(default_factory=dict)
    counters: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)  # (when, value)
    threads: dict[tuple[int, int], str] = field(default_factory=dict)
    events: int = 0
    dropped: int = 0
    first: float = float("inf")
    last: float = 0.0


def find_files(paths: list[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            sys.exit(f"show.py: {path}: no such file or folder")
        files += sorted([*path.glob("*.pfw"), *path.glob("*.pfw.gz")]) if path.is_dir() else [path]
    if not files:
        where = ", ".join(map(str, paths))
        sys.exit(f"show.py: no *.pfw or *.pfw.gz in {where}; was the program run with DFTRACER_ENABLE=1?")
    return files


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a file. The first line is "[", every other one a JSON object."""
    read = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for line in file:
                if line.strip() not in (b"[", b""):
                    yield json.loads(line)
                read += 1
    except (OSError, EOFError, zlib.error, ValueError) as error:
        sys.exit(f"show.py: {path}, line {read + 1}: {error}")


def add_file(contents: Contents, path: Path) -> None:
    second = UNIT_SECONDS["US"]
    contents.files.append(path)
    for event in lines(path):
        name, cat, args = event["name"], event["cat"], event.get("args", {})
        if event["ph"] == "M":
            if name == "CM" and args.get("name") == "time_metric":
                second = UNIT_SECONDS.get(args["value"], second)
            elif name == "thread_name":
                contents.threads[event["pid"], event["tid"]] = str(args["name"])
            continue
        if cat == "dftracer":
            if name == "end":
                contents.dropped += int(args.get("num_dropped", 0))
            continue
        contents.events += 1
        contents.threads.setdefault((event["pid"], event["tid"]), "")
        start = event["ts"] * second
        contents.first = min(contents.first, start)
        contents.last = max(contents.last, start + event.get("dur", 0) * second)
        if event["ph"] == "C":
            contents.counters.setdefault((cat, name), []).append((start, float(args.get(name, 0))))
        else:
            region = contents.regions.setdefault((cat, name), Region())
            region.count += 1
            region.total += event["dur"] * second
            region.longest = max(region.longest, event["dur"] * second)


# ---- Printing --------------------------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    if seconds <= 0:
        return "< 1 us"
    for unit, factor in (("s ", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.{max(0, 3 - len(str(int(seconds * factor))))}f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def plain(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:g}"


def size(count: int) -> str:
    return f"{count / 1048576:.1f} MiB" if count >= 1048576 else f"{count / 1024:.1f} KiB"


def print_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], left: tuple[int, ...]) -> None:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for number, row in enumerate([head, *rows]):
        cells = [cell.rjust(width) for cell, width in zip(row, widths)]
        for i in left:
            cells[i] = row[i].ljust(widths[i])
        print("  " + "  ".join(cells).rstrip())
        if number == 0:
            print("  " + "  ".join("\u2500" * width for width in widths).rstrip())


def print_regions(contents: Contents) -> None:
    totals: dict[str, float] = {}
    for (cat, _), region in contents.regions.items():
        totals[cat] = totals.get(cat, 0) + region.total
    largest = max(region.total for region in contents.regions.values()) or 1
    rows, shown = [], ""
    for cat, name in sorted(contents.regions, key=lambda at: (-totals[at[0]], at[0], -contents.regions[at].total)):
        region = contents.regions[cat, name]
        bar = "\u2588" * round(BAR_WIDTH * region.total / largest)
        times = (duration(region.total), duration(region.total / region.count), duration(region.longest))
        rows.append((cat if cat != shown else "", name, f"{region.count:,}", *times, bar))
        shown = cat
    print_table(("category", "name", "count", "total", "mean", "max", "share".ljust(BAR_WIDTH)), rows, (0, 1, 6))


def print_counters(contents: Contents) -> None:
    rows = []
    for (cat, name), samples in sorted(contents.counters.items()):
        values = [value for _, value in samples]
        rows.append((cat, name, f"{len(values):,}", plain(min(values)), plain(max(values)), plain(max(samples)[1])))
    print_table(("category", "counter", "values", "least", "most", "last"), rows, (0, 1))


def print_contents(contents: Contents) -> None:
    bytes_all = sum(path.stat().st_size for path in contents.files)
    if contents.regions:
        print_regions(contents)
    if contents.counters:
        print()
        print_counters(contents)
    names = sorted(name for name in contents.threads.values() if name and not name.isdigit())
    span = max(0.0, contents.last - contents.first)
    print(f"\n  {contents.events:,} events of {len(contents.threads)} threads in {duration(span).strip()}", end="")
    print(f" ({', '.join(names)})" if 0 < len(names) <= 8 else "")
    for path in contents.files[:4]:
        print(f"  {path}")
    if len(contents.files) > 4:
        print(f"  and {len(contents.files) - 4} more files")
    each = f", {bytes_all / contents.events:.1f} bytes an event" if contents.events else ""
    print(f"  {size(bytes_all)}{each}; {contents.dropped or 'no'} events lost")


def main() -> None:
    parser = argparse.ArgumentParser(description="Shows a trace: regions with counts and times, counters, threads.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=".pfw or .pfw.gz files, or folders of them")
    contents = Contents()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for terminals without the characters of the table
    for path in find_files(parser.parse_args().paths):
        add_file(contents, path)
    print_contents(contents)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(141)
