"""Traces as NumPy arrays, pandas data frames or Arrow tables.

    from dftracer.trace import read

    frame = read("out").pandas()                        # every trace in the folder
    frame.groupby("name").dur_ns.sum()

    table = read("job.h5", args=["step", "fhash"]).arrow()

`read` takes files (.pfw, .pfw.gz, .h5), folders, globs of lines and spools of processes that still run, one or several.
Of a folder lines are read, and where there are none its .h5 files. Lines are read by dftracer's own reader in C, HDF5
files by h5py. NumPy is needed; pandas, pyarrow and h5py only where used.
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
    id, parent, level     parent is -1 without one; level 0: neither level nor parent
    pid, tid, rank        rank is -1 where the trace does not tell one
    name, cat, host, file     texts, as phase is; file is the path behind args.fhash
    and one column for each argument that was asked for; events without it are masked.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns.numbers["id"])

    def numpy(self) -> dict[str, np.ndarray]:
        """A dictionary of arrays; texts as arrays of str objects, arguments as masked arrays."""
        own = self._columns
        arrays = dict(own.numbers)
        for name, codes in own.codes.items():
            arrays[name] = own.texts[name][codes]
        for name, values in own.args.items():
            arrays[name] = values
        return arrays

    def pandas(self) -> pandas.DataFrame:
        """A data frame; texts as categories, arguments as nullable columns."""
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
        """An Arrow table; texts as dictionaries."""
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

    Raises FileNotFoundError when there is nothing to read. Damage inside a trace is passed over and told in a warning.
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
