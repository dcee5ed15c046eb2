"""measures.py - the measures: which program is run how, and what its samples are held against.

A measure is a function of a Bench that returns rows; MEASURES is the list of them. The bars stand here.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import hdf5_measures
import machine
import mpi_measures
import nvtx_measures
import python_measures
import torch_measures
from command import command
from interception import interception
from report import Row, difference_row, ratio_row
from summary import summary

Samples = dict[str, list[float]]

FLOOR_BAR = 1.3
TSC_BAR_NS = 45.0  # a region where the time stamp counter is used
ARGS_BAR = 2.0
MACROS_BAR = 1.5
THREADS_BAR = 1.15
DISABLED_BAR_NS = 2.0
FORTRAN_HANDLE_BAR = 1.15  # of the same region in C by handle
FORTRAN_NAME_BAR = 1.6
SUSTAINED_BAR_NS = {"zlib": 1000.0, "isal": 450.0}
FLAT_BAR_MIB = 1.0  # growth from half of the events to all of them
MEMORY_BAR_MIB = 8.0
MEMORY_BAR_THREAD_MIB = 64 / 1024
SIZE_BAR_BYTES = 20.0
STARTUP_BAR_US = 1000.0

QUIET_LIMIT = 1.1  # a probe slower than this times the fastest: something else was using the core
QUIET_LEAST = 5
TMPFS = Path("/dev/shm")


class BenchError(Exception):
    """A program could not be run, or what it made is not what it should be."""


# ---- Running programs ------------------------------------------------------------------------------------------------


@dataclass
class Bench:
    build: Path
    backend: str
    zlib_build: Path | None
    quick: bool
    folder: Path  # for traces; each run gets a new folder below it
    runs: int = 0

    def backends(self) -> list[tuple[str, Path]]:
        found = [(self.backend, self.build)]
        return [*found, ("zlib", self.zlib_build)] if self.zlib_build else found

    def run(
        self, name: str, *arguments: int, build: Path | None = None, **settings: str
    ) -> tuple[Samples, float, Path]:
        """Runs a program with the settings as DFTRACER_*: its samples, the CPU seconds of it all, its trace folder."""
        program = (build or self.build) / "bench" / name
        self.runs += 1
        traces = self.folder / f"{self.runs}-{name}"
        traces.mkdir()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("DFTRACER_")}
        environment["DFTRACER_LOG_FILE"] = str(traces / "trace")
        environment |= {f"DFTRACER_{key}": value for key, value in settings.items()}
        command = [str(program), *map(str, arguments)]
        try:
            child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        except OSError as error:
            raise BenchError(f"{program}: {error.strerror}; is the build made with DFTRACER_BENCH=ON?") from error
        assert child.stdout
        output = child.stdout.read()
        child.stdout.close()
        _, status, usage = os.wait4(child.pid, 0)  # with the usage of this child, and of those it waited for
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise BenchError(f"{' '.join(command)} ended with status {child.returncode}")
        samples: Samples = {}
        for line in output.splitlines():
            key, value = line.split()
            samples.setdefault(key, []).append(float(value))
        return samples, usage.ru_utime + usage.ru_stime, traces


# ---- Reading traces back, with nothing of the library ----------------------------------------------------------------


@dataclass
class Trace:
    size: int  # bytes of the file
    found: int  # events with the name looked for and the category bench
    events: int  # what the `end` event says
    dropped: int


def trace_text(path: Path) -> Iterator[bytes]:
    """The text of a trace, in pieces cut at line ends."""
    rest, is_inside = b"", False
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            while data:
                if not is_inside:
                    inflate, is_inside = zlib.decompressobj(wbits=31), True
                text = rest + inflate.decompress(data)
                data, is_inside = inflate.unused_data, not inflate.eof
                cut = text.rfind(b"\n") + 1
                rest = text[cut:]
                if cut:
                    yield text[:cut]
    if is_inside or rest:
        raise BenchError(f"{path}: the end of the file is torn")


def read_trace(folder: Path, name: str = "") -> Trace:
    """Reads the one trace of a folder, and counts the events of a name."""
    files = list(folder.glob("*.pfw.gz"))
    if len(files) != 1:
        raise BenchError(f"{folder}: {len(files)} traces instead of one")
    pattern, found, last = f'"name":"{name}","cat":"bench"'.encode(), 0, ""
    for text in trace_text(files[0]):
        found += text.count(pattern)
        last = text[text.rfind(b"\n", 0, -1) + 1 :].decode()
    if '"name":"end"' not in last:
        raise BenchError(f"{files[0]}: the last line is not the event `end`: {last[:200]}")
    numbers = dict(re.findall(r'"(num_events|num_dropped)":"?(\d+)', last))
    return Trace(files[0].stat().st_size, found, int(numbers.get("num_events", 0)), int(numbers.get("num_dropped", 0)))


# ---- The measures ----------------------------------------------------------------------------------------------------


def rounds(bench: Bench) -> int:
    return 7 if bench.quick else 31


def undisturbed(got: Samples) -> Samples:
    """Of the samples that have a probe, those taken while the core ran at full speed; never fewer than a few."""
    fastest = min(min(values) for name, values in got.items() if name.endswith(".probe"))
    kept = {}
    for name, values in got.items():
        if probes := got.get(f"{name}.probe"):
            order = sorted(zip(probes, values))
            quiet = [value for probe, value in order if probe <= QUIET_LIMIT * fastest]
            kept[name] = quiet if len(quiet) >= QUIET_LEAST else [value for _, value in order[:QUIET_LEAST]]
    return kept


def tsc_row(samples: list[float], is_tsc: bool) -> Row:
    median = statistics.median(samples)
    result = f"{median:.1f} ns (min {min(samples):.1f})"
    if not is_tsc:
        return Row("region, no arguments: the time stamp counter is not safe here", "ns", samples, [], result)
    return Row("region, no arguments, time stamp counter", "ns", samples, [], result, f"<= {TSC_BAR_NS:g} ns",
               median <= TSC_BAR_NS)


def region(bench: Bench) -> list[Row]:
    every, _, _ = bench.run("region", 4 * rounds(bench), ENABLE="1", SINK="null")
    kernels, _, _ = bench.run("region", rounds(bench), ENABLE="1", SINK="null", CLOCK="monotonic")
    got = undisturbed(every)
    kept = f"{len(got['region'])} of {len(every['region'])} bursts: undisturbed"
    return [
        ratio_row("region, no arguments", every["region"], every["floor"], FLOOR_BAR),
        ratio_row("region, int + string", every["region_args"], every["floor"], ARGS_BAR),
        tsc_row(every["region"], every["is_tsc"][0] != 0),
        ratio_row("region, no arguments, DFTRACER_CLOCK=monotonic", kernels["region"], kernels["floor"]),
        ratio_row("region, int + string, DFTRACER_CLOCK=monotonic", kernels["region_args"], kernels["floor"]),
        ratio_row("DFTRACER_C_REGION_START/END", every["macros"], every["floor"], MACROS_BAR),
        ratio_row(f"region, no arguments ({kept})", got["region"], got["floor"]),
        ratio_row("region, int + string, undisturbed", got["region_args"], got["floor"]),
        ratio_row("region, int + string, static keys, undisturbed", got["region_keys"], got["floor"]),
        ratio_row("region by name, undisturbed", got["region_named"], got["floor"]),
        ratio_row("dft_record, no arguments, undisturbed", got["record"], got["floor"]),
        ratio_row("DFTRACER_C_REGION_START/END, undisturbed", got["macros"], got["floor"]),
        ratio_row("the same, int + string, undisturbed", got["macros_args"], got["floor"]),
    ]


def threads(bench: Bench) -> list[Row]:
    got, _, _ = bench.run("threads", rounds(bench), ENABLE="1", SINK="null")
    return [
        ratio_row("2 threads, CPU a region", got["two"], got["one"], THREADS_BAR),
        ratio_row("2 threads, CPU of the floor", got["floor_two"], got["floor_one"]),
    ]


def disabled(bench: Bench) -> list[Row]:
    got, _, _ = bench.run("disabled", rounds(bench))
    return [
        difference_row("disabled region", "ns", got["region"], got["empty"], DISABLED_BAR_NS),
        difference_row("disabled region, int + string", "ns", got["region_args"], got["empty"], None),
    ]


def python(bench: Bench) -> list[Row]:
    return python_measures.python_rows(bench.build, bench.folder, rounds(bench))


def torch(bench: Bench) -> list[Row]:
    return torch_measures.torch_rows(bench.build, bench.folder, rounds(bench))


def fortran(bench: Bench) -> list[Row]:
    if not (bench.build / "bench" / "fortran").exists():
        return [Row("Fortran", "", [], [], "not measured: built without a Fortran compiler")]
    every, _, _ = bench.run("fortran", 2 * rounds(bench), ENABLE="1", SINK="null")
    got = undisturbed(every)
    off, _, _ = bench.run("fortran", 4 * rounds(bench))
    return [
        ratio_row("Fortran region by handle, of C", every["handle"], every["c"], FORTRAN_HANDLE_BAR),
        ratio_row("Fortran region by name, of C by handle", every["name"], every["c"], FORTRAN_NAME_BAR),
        ratio_row("Fortran region by handle, of C, undisturbed", got["handle"], got["c"]),
        ratio_row("Fortran region by name, of C by handle, undisturbed", got["name"], got["c"]),
        ratio_row("Fortran region, int + string, of C, undisturbed", got["handle_args"], got["c_args"]),
        difference_row("Fortran region, disabled", "ns", off["handle"], off["empty"], None),
        difference_row("Fortran region by name, disabled", "ns", off["name"], off["empty"], None),
    ]


def cpu_row(measure: str, cpu_ns: float, wall_ns: float, bar: float | None) -> Row:
    result = f"{cpu_ns:.0f} ns (wall {wall_ns:.0f})"
    return Row(measure, "ns", [cpu_ns], [], result, f"<= {bar:g} ns" if bar else "", cpu_ns <= bar if bar else None)


def lost_row(measure: str, recorded: int, trace: Trace) -> Row:
    """Reached when the lines found, and what the trace says of itself, both equal what was recorded."""
    lost = recorded - trace.found
    is_reached = lost == 0 and trace.dropped == 0 and trace.events == recorded
    return Row(measure, "", [], [], f"{lost} of {recorded} (said: {trace.events} + {trace.dropped})", "0", is_reached)


def flat_row(measure: str, got: Samples) -> Row:
    beside = [kib / 1024 for kib in got["rss_kib"]]
    result = f"{' '.join(f'{mib:.1f}' for mib in beside)} (spool {max(got['spool_kib']) / 1024:.0f})"
    is_reached = beside[-1] - beside[1] <= FLAT_BAR_MIB
    return Row(measure, "MiB", beside, [], result, f"<= +{FLAT_BAR_MIB:g} MiB", is_reached)


def sustained(bench: Bench) -> list[Row]:
    count = 5_000_000 if bench.quick else 100_000_000
    rows = []
    for backend, build in bench.backends():
        for thread_count in (1, 2):
            started = time.monotonic()
            got, cpu_s, traces = bench.run("sustained", count, thread_count, build=build, ENABLE="1")
            wall_ns = (time.monotonic() - started) * 1e9 / count
            trace = read_trace(traces, "sustained")
            for file in traces.glob("*.pfw.gz"):
                file.unlink()  # a hundred million events take a gigabyte
            title = f"sustained, {backend}, {thread_count} thread" + "s" * (thread_count > 1)
            recorded = int(got["recorded"][0])
            rows += [
                cpu_row(f"{title}: CPU", cpu_s * 1e9 / count, wall_ns, SUSTAINED_BAR_NS.get(backend)),
                lost_row(f"{title}: lost", recorded, trace),
                flat_row(f"{title}: memory", got),
                Row(f"{title}: size", "B", [trace.size / recorded], [], f"{trace.size / recorded:.1f} B an event"),
            ]
    return rows


def memory(bench: Bench) -> list[Row]:
    rows = []
    for thread_count in (1, 64):
        looks: dict[str, list[float]] = {"0": [], "1": []}
        lost = 0.0
        for _ in range(1 if bench.quick else 3):
            for enable, found in looks.items():
                got, _, _ = bench.run("memory", thread_count, ENABLE=enable)
                found.append(got["private_kib"][0] / 1024)
                lost += got["dropped"][0]
        bar = MEMORY_BAR_MIB + MEMORY_BAR_THREAD_MIB * thread_count
        title = f"memory beside the spool, {thread_count} thread" + "s" * (thread_count > 1)
        rows.append(difference_row(title, "MiB", looks["1"], looks["0"], bar))
        if lost:
            rows.append(Row(f"{title}: lost", "", [], [], f"{lost:.0f}", "0", False))
    return rows


def size(bench: Bench) -> list[Row]:
    rows = []
    for backend, build in bench.backends():
        _, _, traces = bench.run("mixed", 1000 if bench.quick else 5000, build=build, ENABLE="1")
        trace = read_trace(traces)
        if trace.events == 0:
            raise BenchError("the mixed trace is empty")
        each = trace.size / trace.events
        rows.append(Row(f"trace size, mixed, {backend}", "B", [each], [], f"{each:.2f} B an event ({trace.events})",
                        f"<= {SIZE_BAR_BYTES:g} B", each <= SIZE_BAR_BYTES))
    return rows


def hdf5(bench: Bench) -> list[Row]:
    return hdf5_measures.hdf5_rows(bench, bench.quick)


def mpi(bench: Bench) -> list[Row]:
    return mpi_measures.mpi_rows(bench)


def nvtx(bench: Bench) -> list[Row]:
    return nvtx_measures.nvtx_rows(bench)


def startup(bench: Bench) -> list[Row]:
    # Few rounds: ext4 is slow to make files where many were deleted in the last minutes, and each of these deletes two.
    count = 40 if bench.quick else 100
    every, _, _ = bench.run("startup", count)
    got = undisturbed(every)
    rows = [
        difference_row("process of 10 events", "us", every["on"], every["off"], STARTUP_BAR_US),
        difference_row(f"the same, {len(got['on'])} undisturbed", "us", got["on"], got["off"], None),
    ]
    if machine.file_system(TMPFS) == "tmpfs" and os.access(TMPFS, os.W_OK):
        with tempfile.TemporaryDirectory(prefix="dftracer-bench-", dir=TMPFS) as folder:
            got = undisturbed(bench.run("startup", count, LOG_FILE=f"{folder}/trace")[0])
        rows.append(difference_row("process of 10 events, on tmpfs", "us", got["on"], got["off"], None))
    return rows


MEASURES: dict[str, Callable[[Bench], list[Row]]] = {
    measure.__name__: measure
    for measure in (region, threads, disabled, fortran, python, torch, interception, mpi, nvtx, sustained, memory, size,
                    hdf5, startup, command, summary)
}
