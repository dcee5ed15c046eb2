"""h5trace.py - reads .h5 traces with h5py, as dictionaries like those of the JSON lines.

It shares no code with the writer.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import bisect
import glob
import os
import sys

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"SKIP: {missing}", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from trace import is_ours

if not os.path.exists(os.path.join(os.path.dirname(os.environ["DFT_TEST_LIBRARY"]), "dftracer", "h5join")):
    print("SKIP: built without HDF5", file=sys.stderr)
    sys.exit(77)


def first_of(file: h5py.File, table: str) -> list[int]:
    """Where a process's rows begin in a virtual file; else they all begin at 0."""
    return file["processes"][f"{table}_first"][:].tolist() if f"{table}_first" in file["processes"] else [0]


def owner_of(first: list[int], row: int) -> int:
    """The process of a row: the last that begins at or before it."""
    return bisect.bisect_right(first, row) - 1


def texts_of(file: h5py.File) -> list[str]:
    """Row by row: from the end of the one before to its own end."""
    data = file["texts/bytes"][:].tobytes()
    texts, start, first = [], 0, first_of(file, "texts")
    for row, end in enumerate(file["texts/end"][:].tolist()):
        shift = first_of(file, "bytes")[owner_of(first, row)] if len(first) > 1 else 0
        start = 0 if row in first else start
        texts.append(data[shift + start : shift + end].decode())
        start = end
    return texts


def names_of(file: h5py.File) -> list[str]:
    """A name that ends with a zero byte, or with an ETX, has an ETX behind it."""
    return [name.removesuffix(b"\3").decode() for name in file["names"][:]]


def args_of(file: h5py.File, count: int) -> list[dict]:
    """The arguments of each event, from the typed tables."""
    names, texts = names_of(file), texts_of(file)
    args: list[dict] = [{} for _ in range(count)]
    for kind in ("int", "uint", "double", "bool", "string"):
        group = file["args"][kind]
        first, events, keys, values = (first_of(file, table) for table in (kind, "events", "names", "texts"))
        columns = (group["event"][:].tolist(), group["key"][:].tolist(), group["value"][:].tolist())
        for row, (event, key, value) in enumerate(zip(*columns, strict=True)):
            process = owner_of(first, row)
            name, into = names[key + keys[process]], args[event + events[process]]
            assert name not in into, f"{name} twice in {into}"
            into[name] = texts[value + values[process]] if kind == "string" else value
    return args


def read(path: str) -> list[dict]:
    """Every event as a JSON line would show it."""
    with h5py.File(path) as file:
        assert file.attrs["format"] == b"dftracer" and file.attrs["schema"] == 1, dict(file.attrs)
        events = {name: column[:].tolist() for name, column in file["events"].items()}
        count = len(events["id"])
        assert count == file.attrs["events"] == file["events"].attrs["rows"], (count, dict(file.attrs))
        assert all(len(column) == count for column in events.values())
        names, args = names_of(file), args_of(file, count)
        assert file.attrs["layout"] == b"virtual" or len(set(names)) == len(names), "a name has two rows"
        shift = first_of(file, "names")
        hashes = [text.decode() for text in file["processes/host_hash"][:]]
    lines = []
    for i in range(count):
        ph = chr(events["phase"][i])
        line = {key: events[key][i] for key in ("id", "pid", "tid")}
        process = events["process"][i] if "process" in events else 0
        own = shift[process] if len(shift) > 1 else 0
        line.update(name=names[events["name"][i] + own], cat=names[events["cat"][i] + own], ph=ph, args={})
        if ph != "M":
            line["ts"] = events["ts"][i]
        if ph == "X":
            line["dur"] = events["dur"][i]
        if ph != "C":
            line["args"]["hhash"] = hashes[process]
        if events["level"][i]:
            line["args"].update(p_idx=events["parent"][i], level=events["level"][i])
        line["args"].update(args[i])
        lines.append(line)
    return lines


class Trace:
    """One .h5 file, with the questions of trace.Trace."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.members: list[int] = []
        self.events = read(path)
        self.end = self.events[-1]
        assert (self.end["name"], self.end["cat"]) == ("end", "dftracer"), self.end

    def user_events(self) -> list[dict]:
        return [event for event in self.events if not is_ours(event)]

    def values(self, name: str, key: str) -> list:
        return [event["args"][key] for event in self.events if event["name"] == name]


def read_folder(folder: str, **_: object) -> list[Trace]:
    """Every published .h5; h5py has opened it, so it is whole."""
    return [Trace(path) for path in sorted(glob.glob(os.path.join(folder, "*.h5")))]


def same_double(a: float, b: float) -> bool:
    return np.float64(a).tobytes() == np.float64(b).tobytes()
