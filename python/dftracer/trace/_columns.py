"""Columns that grow piece by piece: numbers, text as codes into a list, and arguments with a mask.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import numpy as np

NUMBERS = {"phase": "u1", "id": "u8", "start_ns": "i8", "dur_ns": "i8", "pid": "u4", "tid": "u4", "rank": "i4",
           "level": "u4", "parent": "i8"}
TEXTS = ("name", "cat", "host", "file")


class Columns:
    def __init__(self, wanted: list[str]) -> None:
        self.wanted = wanted
        self.numbers: dict[str, np.ndarray] = {}
        self.codes: dict[str, np.ndarray] = {}
        self.texts: dict[str, np.ndarray] = {}
        self.args: dict[str, np.ma.MaskedArray] = {}
        self._rows = 0
        self._pieces: dict[str, list[np.ndarray]] = {name: [] for name in (*NUMBERS, *TEXTS)}
        self._code_of: dict[str, dict[str, int]] = {name: {} for name in TEXTS}
        self._new_texts: dict[str, dict[int, str]] = {name: {} for name in TEXTS}
        self._found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {name: [] for name in wanted}

    @property
    def rows(self) -> int:
        return self._rows

    def add(self, columns: dict[str, np.ndarray]) -> None:
        """Adds rows: an array for each of NUMBERS, and codes (see `code`) for each of TEXTS. They are copied."""
        for name, kind in NUMBERS.items():
            self._pieces[name].append(np.array(columns[name], dtype=kind))
        for name in TEXTS:
            self._pieces[name].append(np.array(columns[name], dtype="i4"))
        self._rows += len(columns["id"])

    def code(self, column: str, text: str) -> int:
        codes = self._code_of[column]
        return codes.setdefault(text, len(codes))

    def rename(self, column: str, code: int, text: str) -> None:
        self._new_texts[column][code] = text

    def add_arg(self, key: str, rows: np.ndarray, values: np.ndarray) -> None:
        """Adds values of an argument, and the numbers of their rows."""
        if len(rows):
            self._found[key].append((np.asarray(rows, dtype="i8"), values))

    def _arg(self, key: str) -> np.ma.MaskedArray:
        found = self._found[key]
        kinds = {values.dtype.kind for _, values in found}
        kind = "O" if not kinds or "O" in kinds else "f8" if "f" in kinds or kinds == {"i", "u"} else f"{kinds.pop()}8"
        values: np.ma.MaskedArray = np.ma.array(np.empty(self._rows, dtype=kind), mask=True)
        if kind == "O":
            values.data[:] = None
        for rows, some in found:
            values[rows] = some.astype(str).astype("O") if kind == "O" and some.dtype.kind != "O" else some
        return values

    def _name_phases(self, letters: np.ndarray) -> None:
        used = np.flatnonzero(np.bincount(letters, minlength=256))
        codes = np.zeros(256, "i1")
        codes[used] = np.arange(len(used))
        self.codes["phase"] = codes[letters]
        self.texts["phase"] = np.array([chr(letter) for letter in used], dtype=object)

    def finish(self) -> Columns:
        for name, kind in NUMBERS.items():
            pieces = self._pieces.pop(name)
            self.numbers[name] = np.concatenate(pieces) if pieces else np.empty(0, kind)
        self._name_phases(self.numbers.pop("phase"))
        for name in TEXTS:
            pieces = self._pieces.pop(name)
            codes = np.concatenate(pieces) if pieces else np.empty(0, "i4")
            texts = [self._new_texts[name].get(code, text) for text, code in self._code_of[name].items()]
            places = {text: place for place, text in enumerate(dict.fromkeys(texts))}  # two may have become equal
            self.codes[name] = np.array([places[text] for text in texts], dtype="i4")[codes] if texts else codes
            self.texts[name] = np.array(list(places), dtype=object)
        self.args = {key: self._arg(key) for key in self.wanted}
        return self
