"""Traces as NumPy arrays, pandas data frames or Arrow tables.

    from dftracer.trace import read

    frame = read("out").pandas()                        # every trace in the folder
    frame.groupby("name").dur_ns.sum()

    table = read("job.h5", args=["step", "fhash"]).arrow()

`read` takes one or several paths: files (.pfw, .pfw.gz, .h5), folders, globs of JSON lines files, and spools of
processes that still run. In a folder it reads JSON lines or, if there are none, the .h5 files. dftracer's C library
reads the lines, h5py the HDF5 files. NumPy is required; pandas, pyarrow and h5py only for the calls that use them.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

try:
    import numpy as np
except ImportError as error:
    raise ImportError(f"numpy is needed by dftracer.trace: pip install numpy ({error})", name="numpy") from error

from dftracer.trace._columns import Columns
from dftracer.trace._need import need
from dftracer.trace._tables import add_folder, add_table, has_spools, tables_in

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["Trace", "read"]


class Trace:
    """Events of one or many traces, as columns of equal length.

    phase     "X" complete event, "M" metadata, "C" counter
    start_ns  since the epoch; dur_ns: duration
    id, parent, level     parent is -1 if there is none; level 0: level and parent are unknown
    pid, tid, rank        rank is -1 if the trace contains none
    name, cat, host, file     text, like phase; file is the path behind args.fhash
    and one column for each requested argument; events without it are masked.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns.numbers["id"])

    def numpy(self) -> dict[str, np.ndarray]:
        """A dictionary of arrays. Text columns are arrays of str objects, arguments are masked arrays."""
        own = self._columns
        arrays = dict(own.numbers)
        for name, codes in own.codes.items():
            arrays[name] = own.texts[name][codes]
        for name, values in own.args.items():
            arrays[name] = values
        return arrays

    def pandas(self) -> pandas.DataFrame:
        """A data frame. Text columns are categories, arguments are nullable columns."""
        pd = need("pandas", "for data frames")
        own = self._columns
        series: dict[str, Any] = dict(own.numbers)
        for name, codes in own.codes.items():
            series[name] = pd.Categorical.from_codes(codes, categories=own.texts[name])
        for name, values in own.args.items():
            kind = {"i": "Int64", "u": "UInt64", "f": "Float64"}.get(values.dtype.kind, "string")
            column = pd.array(values.filled(pd.NA if kind == "string" else 0), dtype=kind)
            column[np.ma.getmaskarray(values)] = pd.NA
            series[name] = column
        return pd.DataFrame(series, copy=False)

    def arrow(self) -> pyarrow.Table:
        """An Arrow table. Text columns are dictionaries."""
        pa = need("pyarrow", "for Arrow tables")
        own = self._columns
        arrays: dict[str, Any] = {name: pa.array(values) for name, values in own.numbers.items()}
        for name, codes in own.codes.items():
            arrays[name] = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(own.texts[name], pa.string()))
        for name, values in own.args.items():
            arrays[name] = pa.array(values.data, mask=np.ma.getmaskarray(values))
        return pa.table(arrays)

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} events>"


def read(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], args: Iterable[str] = ()) -> Trace:
    """Reads traces. `args` names the arguments that become columns.

    Raises FileNotFoundError if there is nothing to read. Damaged parts of a trace are skipped with a warning.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    names = [os.fspath(path) for path in paths]
    wanted = list(dict.fromkeys(args))
    tables = [name for name in names if name.endswith(".h5")]
    folders = {name: tables_in(name) for name in names if os.path.isdir(name)}
    lines = [name for name in names if name not in tables and (not folders.get(name) or has_spools(name))]
    columns = Columns(wanted)
    if lines:
        from dftracer.trace._lines import add_lines

        add_lines(columns, lines)
    for name in tables:
        add_table(columns, name)
    for found in folders.values():
        add_folder(columns, found)
    return Trace(columns.finish())
