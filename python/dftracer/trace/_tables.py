"""HDF5 files as columns, with h5py. sinks/FORMAT.md in dftracer's sources describes the format.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np
from dftracer.trace._columns import Columns
from dftracer.trace._need import need

UNIT_NS = {"NS": 1, "US": 1000, "MS": 1000000, "SEC": 1000000000}
KINDS = ("int", "uint", "double", "bool", "string")


class Tables:
    """The columns of one file in either layout. Row numbers of each process become row numbers of the file."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.is_table = file.attrs["layout"] == b"table"
        self.unit_ns = UNIT_NS[file.attrs["time_unit"].decode()]
        names = file["names"][:].tolist()
        self.codes = {name: code for code, name in enumerate(names)}
        self.names = np.array([name.removesuffix(b"\3").decode() for name in names], dtype=object)
        events = file["events"]
        if "process" in (events.dtype.names if self.is_table else events):
            self.process = self.column("events", "process")
        else:
            self.process = np.zeros(int(file.attrs["events"]), int)

    def column(self, table: str, name: str) -> np.ndarray:
        place = self.file[table]
        values: np.ndarray = place[name][:]
        if self.is_table and values.dtype.kind == "S":  # a name, in full
            unique, inverse = np.unique(values, return_inverse=True)
            return np.array([self.codes[text] for text in unique.tolist()], dtype="i8")[inverse]
        return values

    def first(self, table: str) -> np.ndarray:
        """The first row of each process; all zero unless the file is virtual."""
        processes = self.file["processes"]
        return processes[f"{table}_first"][:].astype("i8") if f"{table}_first" in processes else np.zeros(1, "i8")

    def shift(self, numbers: np.ndarray, table: str, process: np.ndarray) -> np.ndarray:
        first = self.first(table)
        return numbers if len(first) == 1 else numbers.astype("i8") + first[process]

    def texts(self) -> np.ndarray:
        data = self.file["texts/bytes"][:].tobytes()
        ends = self.file["texts/end"][:].tolist()
        rows = self.first("texts").tolist()
        shifts = self.first("bytes").tolist()
        out = np.empty(len(ends), dtype=object)
        for row, last, shift in zip(rows, [*rows[1:], len(ends)], shifts, strict=True):
            at = 0
            for i in range(row, last):
                out[i] = data[shift + at : shift + ends[i]].decode()
                at = ends[i]
        return out

    def arguments(self, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of events, keys and values. In a virtual file those of a process are contiguous, like its events."""
        table = f"args/{kind}"
        event, key, value = (self.column(table, name) for name in ("event", "key", "value"))
        process = np.searchsorted(self.first(kind), np.arange(len(event)), side="right") - 1
        event = self.shift(event, "events", process).astype("i8")
        key = self.shift(key, "names", process).astype("i8")
        return event, key, self.shift(value, "texts", process).astype("i8") if kind == "string" else value


def tables_in(folder: str) -> list[str]:
    """The .h5 files of a folder without JSON lines. If a folder has both, they contain the same events."""
    for _, _, names in os.walk(folder):
        if any(name.endswith((".pfw", ".pfw.gz")) for name in names):
            return []
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*.h5")))


def has_spools(folder: str) -> bool:
    return bool(glob.glob(os.path.join(glob.escape(folder), ".dftracer*", "*.spool")))


def add_folder(columns: Columns, paths: list[str]) -> None:
    for path in paths:
        add_table(columns, path, has_others=len(paths) > 1)


def add_table(columns: Columns, path: str, has_others: bool = False) -> None:
    h5py = need("h5py", f"to read {path}")
    with h5py.File(path) as file:
        if file.attrs.get("format") != b"dftracer":
            raise ValueError(f"{path} is not a dftracer trace")
        if has_others and "pid" not in file.attrs:
            raise ValueError(f"{path} holds a whole job, but the folder has other .h5 files: pass the files to read")
        add_events(columns, Tables(file))


def coded(columns: Columns, column: str, texts: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Turns indexes into `texts` into codes of the column. Texts that no row uses get no code."""
    codes = np.zeros(len(texts), dtype="i4")
    for number in np.unique(numbers):
        codes[number] = columns.code(column, str(texts[number]))
    return np.asarray(codes[numbers])


def add_events(columns: Columns, tables: Tables) -> None:
    file, first_row = tables.file, columns.rows
    process = tables.process.astype("i8")
    name = tables.shift(tables.column("events", "name"), "names", process)
    cat = tables.shift(tables.column("events", "cat"), "names", process)
    hosts = np.array([host.decode() for host in file["processes/host"][:]], dtype=object)
    strings = (*tables.arguments("string"), tables.texts())
    numbers = {key: tables.column("events", key) for key in ("id", "pid", "tid", "level", "parent")}
    phase = tables.column("events", "phase")
    columns.add(dict(
        numbers,
        phase=phase,
        start_ns=tables.column("events", "ts") * tables.unit_ns,
        dur_ns=tables.column("events", "dur") * tables.unit_ns,
        rank=file["processes/rank"][:][process],
        name=coded(columns, "name", tables.names, name),
        cat=coded(columns, "cat", tables.names, cat),
        host=coded(columns, "host", hosts, process),
        file=files_of(columns, tables, name, phase, strings),
    ))
    for kind in KINDS if columns.wanted else ():
        event, key, value = strings[:3] if kind == "string" else tables.arguments(kind)
        for wanted in columns.wanted:
            is_it = np.isin(key, np.flatnonzero(tables.names == wanted))
            found = value[is_it]
            if kind == "string":
                found = strings[3][found]
            elif kind == "bool":
                found = found.astype("i8")
            columns.add_arg(wanted, event[is_it] + first_row, found)


def files_of(
    columns: Columns, tables: Tables, name: np.ndarray, phase: np.ndarray, strings: tuple[np.ndarray, ...]
) -> np.ndarray:
    """The path behind args.fhash. Events named FH define it in their arguments `value` (the hash) and `name`."""
    event, key, value, texts = strings
    is_definition = (phase == ord("M")) & np.isin(name, np.flatnonzero(tables.names == "FH"))
    is_defining = is_definition[event] if len(event) else np.zeros(0, bool)

    def of(wanted: str) -> np.ndarray:
        return np.isin(key, np.flatnonzero(tables.names == wanted))

    hashes, paths = is_defining & of("value"), is_defining & of("name")
    path_of = dict(zip(event[paths].tolist(), texts[value[paths]], strict=True))
    defined = {texts[text]: path_of.get(row, "") for row, text in
               zip(event[hashes].tolist(), value[hashes].tolist(), strict=True)}
    uses = of("fhash")
    shown = np.array([defined.get(text, text) for text in texts], dtype=object) if uses.any() else texts
    files = np.full(len(name), columns.code("file", ""), dtype="i4")
    if uses.any():
        files[event[uses]] = coded(columns, "file", shown, value[uses])
    return files
