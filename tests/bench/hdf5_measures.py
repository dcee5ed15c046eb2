"""hdf5_measures.py - the HDF5 sink: CPU time an event, size, memory, and how fast a column is read back with h5py.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from report import Row, difference_row

EVENTS_A_SECOND_BAR = 2e6
SIZE_BAR_BYTES = 9.0
COLUMN_BAR_S = 0.5  # of 10 million events
MEMORY_BAR_MIB = 16.0  # more than jsonl


def the_file(folder: Path) -> Path:
    (path,) = folder.glob("*.h5")
    return path


def column_row(path: Path) -> Row:
    """One column of all events, with h5py; the file is in the page cache."""
    try:
        import h5py
    except ImportError:
        return Row("HDF5: one column read", "", [], [], "not measured: there is no h5py")
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        with h5py.File(path) as file:
            found = len(file["events/ts"][:])
        seconds.append(time.perf_counter() - started)
    title = f"HDF5: one column of {found} events read"
    return Row(title, "s", seconds, [], f"{min(seconds):.3f} s", f"<= {COLUMN_BAR_S} s", min(seconds) <= COLUMN_BAR_S)


def hdf5_rows(bench: Any, quick: bool) -> list[Row]:
    if not list(bench.build.rglob("h5join")):
        return [Row("HDF5", "", [], [], "not measured: built without HDF5")]
    count = 10_000_000
    rates = []
    for _ in range(1 if quick else 3):  # CPU of the program, its drain thread and h5join: what one core would need
        got, cpu_s, traces = bench.run("sustained", count, 1, ENABLE="1", SINK="hdf5")
        rates.append(got["recorded"][0] / cpu_s / 1e6)
    rate = max(rates)
    rows = [Row("HDF5: events recorded and written a second of CPU", "M/s", rates, [], f"{rate:.2f} M/s",
                f">= {EVENTS_A_SECOND_BAR / 1e6:g} M/s", rate * 1e6 >= EVENTS_A_SECOND_BAR),
            column_row(the_file(traces))]
    _, _, traces = bench.run("mixed", 5000, ENABLE="1", SINK="jsonl,hdf5")
    lines = sum(1 for _ in read_lines(next(traces.glob("*.pfw.gz"))))
    each = the_file(traces).stat().st_size / lines
    rows.append(Row("HDF5: size, mixed", "B", [each], [], f"{each:.2f} B an event ({lines})",
                    f"<= {SIZE_BAR_BYTES:g} B", each <= SIZE_BAR_BYTES))
    looks: dict[str, list[float]] = {"jsonl": [], "hdf5": []}
    for _ in range(1 if quick else 3):
        for sink, found in looks.items():
            got, _, _ = bench.run("memory", 1, ENABLE="1", SINK=sink)
            found.append(got["private_kib"][0] / 1024)
    rows.append(difference_row("HDF5: memory beside the spool, more than jsonl", "MiB", looks["hdf5"], looks["jsonl"],
                               MEMORY_BAR_MIB))
    return rows


def read_lines(path: Path) -> list[bytes]:
    import gzip

    with gzip.open(path) as file:
        return file.read().splitlines()[1:]
