"""JSON lines and spools as columns, read by libdftracer_reader (dftracer/reader.h).

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import warnings
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any

import numpy as np
from dftracer.trace._columns import TEXTS, Columns

DFT_ALL = 0xFFFFFFFF
INT, UINT, DOUBLE, STRING, BOOL, RAW = 1, 2, 3, 4, 5, 7
DICTIONARY = {"name": 0, "cat": 1, "key": 2, "host": 3, "file": 4}
CELL = np.dtype([("key", "u4"), ("type", "u4"), ("value", "u8"), ("len", "u8")])


class Text(ctypes.Structure):
    _fields_ = [("text", c_void_p), ("len", c_size_t)]

    def __str__(self) -> str:
        return ctypes.string_at(self.text, self.len).decode("utf-8", "replace")


class Rows(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("source", c_uint32), ("count", c_uint32), ("unit", c_uint64),
                ("is_unit_end", c_uint32), ("is_source_end", c_uint32), ("phase", POINTER(c_uint8)),
                ("id", POINTER(c_uint64)), ("start_ns", POINTER(c_int64)), ("dur_ns", POINTER(c_int64)),
                ("pid", POINTER(c_uint64)), ("tid", POINTER(c_uint64)), ("name", POINTER(c_uint32)),
                ("cat", POINTER(c_uint32)), ("host", POINTER(c_uint32)), ("file", POINTER(c_uint32)),
                ("level", POINTER(c_uint32)), ("parent", POINTER(c_int64)), ("arg_first", POINTER(c_uint32)),
                ("args", c_void_p)]


class Problem(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("kind", c_uint32), ("source", c_uint32), ("byte", c_uint64),
                ("line", c_uint64), ("error", c_int32), ("message", c_char_p), ("detail", c_char_p)]


def find_library() -> ctypes.CDLL:
    """Looks in the package's lib, beside the core that this process has loaded, and where the loader looks."""
    places = [os.path.join(os.path.dirname(os.path.dirname(__file__)), "lib")]
    with contextlib.suppress(ImportError):
        import dftracer.dftracer  # noqa: F401 (it loads the core)
    with open("/proc/self/maps") as maps:
        places += re.findall(r"(/.*)/libdftracer_core\.so", maps.read())
    for place in [*places, ""]:
        try:
            return ctypes.CDLL(os.path.join(place, "libdftracer_reader.so.5"))
        except OSError as error:
            last = error
    raise ImportError(f"libdftracer_reader.so.5 cannot be loaded: {last}")


library: ctypes.CDLL | None = None


def load() -> ctypes.CDLL:
    global library
    if library is None:
        library = find_library()
        library.dft_reader_text.restype = Text
        library.dft_reader_hash.restype = Text
        library.dft_reader_number.restype = c_uint32
        library.dft_reader_problem_count.restype = c_uint64
    return library


class Reading:
    """One dft_reader and its cursor."""

    def __init__(self, columns: Columns, paths: list[str]) -> None:
        self.library = load()
        self.columns = columns
        self.reader = c_void_p()
        self.codes: dict[str, np.ndarray] = {name: np.empty(0, "i4") for name in TEXTS}
        self.ranks: dict[tuple[int, int], int] = {}
        self.hosts: dict[tuple[int, int], int] = {}
        array = (c_char_p * len(paths))(*[os.fsencode(path) for path in paths])
        status = self.library.dft_reader_open(None, array, c_size_t(len(paths)), ctypes.byref(self.reader))
        if status:
            problem = self.first_problem()
            self.close()
            raise FileNotFoundError(f"no trace found in {', '.join(paths)}{problem}")

    def close(self) -> None:
        if self.reader:
            self.library.dft_reader_close(self.reader)

    def first_problem(self) -> str:
        problem = Problem(struct_size=ctypes.sizeof(Problem))
        if self.library.dft_reader_problem(self.reader, 0, ctypes.byref(problem)):
            return ""
        where = f", line {problem.line}" if problem.line else ""
        return f": {problem.message.decode()}{where}: {problem.detail.decode(errors='replace')}"

    def number(self, dictionary: str, text: str) -> int:
        data = text.encode()
        return int(self.library.dft_reader_number(self.reader, DICTIONARY[dictionary], data, c_size_t(len(data))))

    def coded(self, column: str, numbers: np.ndarray) -> np.ndarray:
        """Numbers of the reader's dictionary as codes of the column. In self.codes, -1 marks a number not seen yet."""
        codes = self.codes[column]
        if not len(numbers):
            return numbers.astype("i4")
        top = int(numbers.max()) + 1
        if top > len(codes):
            codes = self.codes[column] = np.concatenate([codes, np.full(top - len(codes) + 1024, -1, "i4")])
        for number in np.unique(numbers[codes[numbers] < 0]):
            text = self.library.dft_reader_text(self.reader, DICTIONARY[column], c_uint32(int(number)))
            codes[number] = self.columns.code(column, str(text))
        return np.asarray(codes[numbers])

    def read(self) -> None:
        cursor, rows = c_void_p(), POINTER(Rows)()
        if self.library.dft_cursor_open(self.reader, c_uint32(DFT_ALL), ctypes.byref(cursor)):
            raise MemoryError
        while not self.library.dft_cursor_next(cursor, ctypes.byref(rows)) and rows:
            if rows.contents.count:
                self.take(rows.contents)
        self.library.dft_cursor_close(cursor)
        self.name_late()
        count = self.library.dft_reader_problem_count(self.reader, 0)
        if count:
            warnings.warn(f"{count} problems; the first{self.first_problem()}", stacklevel=4)

    def name_late(self) -> None:
        """Sets names of hashes again, because a line that defines a hash may follow its first use."""
        for column in ("host", "file"):
            for number in np.flatnonzero(self.codes[column] >= 0):
                text = self.library.dft_reader_text(self.reader, DICTIONARY[column], c_uint32(int(number)))
                self.columns.rename(column, int(self.codes[column][number]), str(text))

    def take(self, rows: Rows) -> None:
        count, first_row = rows.count, self.columns.rows
        column = {name: np.ctypeslib.as_array(getattr(rows, name), (count,)) for name in
                  ("phase", "id", "start_ns", "dur_ns", "pid", "tid", "level", *TEXTS)}
        parent = np.ctypeslib.as_array(rows.parent, (count,))
        arg_first = np.ctypeslib.as_array(rows.arg_first, (count + 1,)).astype("i8")
        arg_count = int(arg_first[-1])
        data: Any = (ctypes.c_char * (arg_count * CELL.itemsize)).from_address(rows.args) if arg_count else b""
        cells = np.frombuffer(data, dtype=CELL, count=arg_count)
        self.note_ranks(rows.source, column, arg_first, cells)
        column["host"] = self.host_of(rows.source, column["pid"], column["host"])
        self.take_hashes(column["file"], first_row)
        column.update({name: self.coded(name, column[name]) for name in TEXTS})
        self.columns.add(dict(column, parent=np.where(parent == 0, -1, parent),
                              rank=self.rank_of(rows.source, column["pid"])))
        for key in self.columns.wanted:
            picked = np.flatnonzero(cells["key"] == self.number("key", key))
            owner = np.searchsorted(arg_first, picked, side="right") - 1 + first_row
            self.take_arg(key, owner, cells[picked])

    def take_hashes(self, numbers: np.ndarray, first_row: int) -> None:
        """Adds args.fhash, for which the reader has a separate column."""
        rows = np.flatnonzero(numbers) if "fhash" in self.columns.wanted else np.empty(0, "i8")
        if len(rows):
            unique, inverse = np.unique(numbers[rows], return_inverse=True)
            texts = [str(self.library.dft_reader_hash(self.reader, DICTIONARY["file"], c_uint32(int(number))))
                     for number in unique]
            self.columns.add_arg("fhash", rows + first_row, np.array(texts, dtype=object)[inverse])

    def take_arg(self, key: str, rows: np.ndarray, cells: np.ndarray) -> None:
        kinds = cells["type"]
        for kinds_of, dtype in (((INT, BOOL), "i8"), ((UINT,), "u8"), ((DOUBLE,), "f8")):
            is_it = np.isin(kinds, kinds_of)
            self.columns.add_arg(key, rows[is_it], cells["value"][is_it].view(dtype))
        is_text = np.isin(kinds, (STRING, RAW))
        texts = [ctypes.string_at(at, size).decode("utf-8", "replace") for at, size in
                 zip(cells["value"][is_text].tolist(), cells["len"][is_text].tolist(), strict=True)]
        self.columns.add_arg(key, rows[is_text], np.array(texts, dtype=object))

    # ---- Ranks: metadata PR, {"name": "rank", "value": "3"} ----------------------------------------------------------

    def note_ranks(self, source: int, column: dict[str, np.ndarray], arg_first: np.ndarray, cells: np.ndarray) -> None:
        for row in np.flatnonzero((column["phase"] == ord("M")) & (column["name"] == self.number("name", "PR"))):
            args = {}
            for cell in cells[arg_first[row] : arg_first[row + 1]]:
                if cell["type"] == STRING:
                    args[int(cell["key"])] = ctypes.string_at(int(cell["value"]), int(cell["len"])).decode()
            if args.get(self.number("key", "name")) == "rank":
                self.ranks[source, int(column["pid"][row])] = int(args[self.number("key", "value")])

    def rank_of(self, source: int, pid: np.ndarray) -> np.ndarray:
        ranks = np.full(len(pid), -1, "i4")
        for one in np.unique(pid):
            ranks[pid == one] = self.ranks.get((source, int(one)), -1)
        return ranks


    def host_of(self, source: int, pid: np.ndarray, host: np.ndarray) -> np.ndarray:
        """Fills in the host of counters, which is that of their process."""
        host = host.copy()
        for one in np.unique(pid[host == 0]):
            known = host[(pid == one) & (host != 0)]
            if len(known):
                self.hosts[source, int(one)] = int(known[0])
            host[(pid == one) & (host == 0)] = self.hosts.get((source, int(one)), 0)
        return host


def add_lines(columns: Columns, paths: list[str]) -> None:
    reading = Reading(columns, paths)
    try:
        reading.read()
    finally:
        reading.close()
