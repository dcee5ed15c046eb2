"""peers.py - the same work on dftracer and on the peers that can be had, in turn, in one run and one table.

A peer that cannot be installed, built or run is named with the reason, and left out. What is installed goes to
build/peers, LTTng's packages excepted.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import machine
from report import number

SOURCE = Path(__file__).resolve().parent / "peers"
DFTRACER = "dftracer==2.2.0"
LTTNG_PACKAGES = ("liblttng-ust-dev", "lttng-tools")
Samples = dict[str, list[float]]


class PeerError(Exception):
    """Why a peer is left out."""


def call(*command: object, timeout: float = 900, environment: dict[str, str] | None = None) -> str:
    """Runs a command; its output. PeerError with the last lines when it fails."""
    try:
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, timeout=timeout, env=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerError(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        raise PeerError(f"{' '.join(map(str, command[:4]))} ...: {' '.join(done.stdout.split()[-30:])}")
    return done.stdout


@dataclass
class Peer:
    """One implementation: the program made for it, and how it is run."""

    name: str
    program: Path
    folder: Path  # for traces
    environment: dict[str, str] = field(default_factory=dict)
    samples: Samples = field(default_factory=dict)

    def run(self, *arguments: object, is_traced: bool = True) -> tuple[Samples, float, float]:
        """Its samples, the CPU seconds and the seconds of the whole process."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("DFTRACER_")}
        started = time.perf_counter()
        child = subprocess.Popen([str(self.program), *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                                 env=clean | (self.environment if is_traced else {}))
        assert child.stdout
        output = child.stdout.read()
        child.stdout.close()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise PeerError(f"{self.program} {' '.join(map(str, arguments))} ended with status {child.returncode}")
        got: Samples = {}
        for line in output.splitlines():
            key, value = line.split()
            got.setdefault(key, []).append(float(value))
        return got, usage.ru_utime + usage.ru_stime, wall

    def add(self, measure: str, values: list[float]) -> None:
        self.samples.setdefault(measure, []).extend(values)

    def traced_bytes(self) -> int:
        """The size of the traces so far, which are removed."""
        files = [file for file in self.folder.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files)
        for file in files:
            file.unlink()
        return size


# ---- Making them -----------------------------------------------------------------------------------------------------


def compile_work(compiler: str, program: Path, *flags: object) -> Path:
    call(compiler, "-O3", "-D_GNU_SOURCE", SOURCE / "work.c", "-o", program, *flags, "-lpthread")
    return program


def settings(folder: Path) -> dict[str, str]:
    # Metadata on: DFTracer 2.2.0 leaves out the arguments of events without it.
    return {"DFTRACER_ENABLE": "1", "DFTRACER_INC_METADATA": "1", "DFTRACER_LOG_FILE": str(folder / "trace"),
            "DFTRACER_DATA_DIR": str(folder / "none")}


def make_ours(build: Path, place: Path, compiler: str) -> Peer:
    include, library = SOURCE.parents[2] / "c/include", build / "c"
    program = compile_work(compiler, place / "work-ours", f"-I{include}", f"-I{build}/include", f"-L{library}",
                           f"-Wl,-rpath,{library}", "-ldftracer_core")
    folder = place / "ours"
    return Peer("dftracer", program, folder, settings(folder))


def make_dftracer(place: Path, compiler: str) -> Peer:
    """From its wheel, in a virtual environment of its own; the C program is made against the headers in there."""
    venv = place / "dftracer"
    python = venv / "bin/python"
    if not list(venv.glob("lib/python*/site-packages/dftracer-2.2.0.dist-info")):
        print(f"installing {DFTRACER} in {venv}", file=sys.stderr, flush=True)
        call(sys.executable, "-m", "venv", "--clear", venv)
        call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", DFTRACER)
    found = list(venv.glob("lib/python*/site-packages/dftracer/include/dftracer/dftracer.h"))
    if not found:
        raise PeerError("its wheel has no header dftracer/dftracer.h")
    package = found[0].parents[2]
    libraries = [package / "lib64", package / "lib", package.parent / "dftracer.libs"]
    program = compile_work(compiler, place / "work-dftracer", f"-I{package / 'include'}", f"-L{libraries[0]}",
                           f"-Wl,-rpath,{':'.join(map(str, libraries))}", "-ldftracer_core")
    folder = place / "theirs"
    return Peer("DFTracer 2.2.0", program, folder, settings(folder))


def make_lttng(place: Path, compiler: str) -> Peer:
    flags = ("-DPEER_LTTNG", f"-I{SOURCE}", "-llttng-ust", "-ldl")
    try:
        compile_work(compiler, place / "work-lttng", *flags)
    except PeerError:
        if not (os.geteuid() == 0 and shutil.which("apt-get")):
            raise PeerError(f"not installed; it needs {' and '.join(LTTNG_PACKAGES)}") from None
        print(f"installing {' '.join(LTTNG_PACKAGES)}", file=sys.stderr, flush=True)
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        call("apt-get", "-qq", "install", "-y", "--no-install-recommends", *LTTNG_PACKAGES, environment=quiet)
        compile_work(compiler, place / "work-lttng", *flags)
    if not shutil.which("lttng-sessiond"):
        raise PeerError("lttng-sessiond is not installed")
    version = re.search(r"\d+\.\d+\.\d+", call("lttng", "--version"))
    return Peer(f"LTTng-UST {version[0] if version else ''}", place / "work-lttng", place / "lttng")


@contextmanager
def lttng_session(peer: Peer) -> Iterator[None]:
    """A daemon of our own, ended by its id, and a session whose buffers hold a burst."""
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(50):
            if daemon.poll() is not None:
                raise PeerError("lttng-sessiond does not start (another one may be running)")
            if subprocess.run(["lttng", "--no-sessiond", "list"], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)
        call("lttng", "create", "dftracer-bench", f"--output={peer.folder}")
        call("lttng", "enable-channel", "-u", "bench", "--subbuf-size=4M", "--num-subbuf=8")
        call("lttng", "enable-event", "-u", "bench:*", "-c", "bench")
        call("lttng", "start")
        yield
        if "Discarded events: 0" not in call("lttng", "list", "dftracer-bench"):
            print("LTTng-UST has discarded events: its figures are of a smaller work", file=sys.stderr)
        call("lttng", "destroy", "dftracer-bench")
    finally:
        daemon.terminate()
        daemon.wait()


# ---- Measuring -------------------------------------------------------------------------------------------------------


def measure(peers: list[Peer], is_quick: bool) -> None:
    """All peers in turn, round by round, so that each meets the same machine."""
    rounds, events = (3, 50_000) if is_quick else (9, 300_000)
    for _ in range(rounds):
        for peer in peers:
            got, _, _ = peer.run("bursts", 3)
            peer.add("region", got["region"])
            peer.add("region_args", got["region_args"])
            got, _, _ = peer.run("threads", 2)
            peer.add("two_threads", got["two"])
            peer.add("one_thread", got["one"])
    for _ in range(4 * rounds):
        for peer in peers:
            peer.add("startup", [peer.run("events", 10)[2] * 1e6])
            peer.add("startup_off", [peer.run("events", 10, is_traced=False)[2] * 1e6])
    for peer in peers:
        peer.traced_bytes()
        if peer.environment:  # LTTng's events are written by its daemon, whose time is not the program's
            _, cpu, _ = peer.run("events", events)
            peer.add("cpu", [cpu * 1e9 / events])
            peer.add("bytes", [peer.traced_bytes() / events])


def measure_disabled(peers: list[Peer], is_quick: bool) -> None:
    for _ in range(2 if is_quick else 5):
        for peer in peers:
            peer.add("disabled", peer.run("bursts", 3, is_traced=False)[0]["region"])


ROWS = (
    ("region", "region, ns"),
    ("region_args", "region with int + string, ns"),
    ("one_thread", "region, 1 thread, CPU ns"),
    ("two_threads", "region, 2 threads, CPU ns"),
    ("disabled", "region while tracing is off, ns"),
    ("startup", "added to a process with 10 events, us"),
    ("cpu", "total CPU time per event, ns"),
    ("bytes", "trace, bytes per event"),
)


def cell(samples: Samples, key: str) -> str:
    """The median, and the minimum of several samples; what was measured with tracing off is subtracted."""
    values, off = samples.get(key, []), samples.get(f"{key}_off", [0.0])
    if not values:
        return ""
    least = number(min(values) - min(off))
    return f"{number(statistics.median(values) - statistics.median(off))} ({least})" if len(values) > 1 else least


def table(peers: list[Peer]) -> str:
    """Markdown: medians, minima in parentheses."""
    lines = ["| | " + " | ".join(peer.name for peer in peers) + " |", "|---|" + "---:|" * len(peers)]
    for key, title in ROWS:
        lines.append(f"| {title} | " + " | ".join(cell(peer.samples, key) for peer in peers) + " |")
    return "\n".join(lines)


def run(build: Path, is_quick: bool) -> str:
    """Prints the table of what could be had, and returns it."""
    place = build.parent / "peers"
    compiler = machine.cmake_cache(build)["CMAKE_C_COMPILER"]
    makers = {"DFTracer 2.2.0": make_dftracer, "LTTng-UST": make_lttng}
    place.mkdir(exist_ok=True)
    peers = [make_ours(build, place, compiler)]
    left_out = {}
    for name, make in makers.items():
        try:
            peers.append(make(place, compiler))
        except PeerError as error:
            left_out[name] = str(error)
    for peer in peers:
        shutil.rmtree(peer.folder, ignore_errors=True)
        peer.folder.mkdir()
    measure_disabled(peers, is_quick)
    with_daemon = [peer for peer in peers if not peer.environment]
    print(f"measuring {', '.join(peer.name for peer in peers)} in turn ...", file=sys.stderr, flush=True)
    try:
        if with_daemon:
            with lttng_session(with_daemon[0]):
                measure(peers, is_quick)
        else:
            measure(peers, is_quick)
    except PeerError as error:
        if not with_daemon:
            raise
        left_out[with_daemon[0].name] = str(error)
        peers.remove(with_daemon[0])
        for peer in peers:
            peer.samples = {"disabled": peer.samples["disabled"]}
        measure(peers, is_quick)
    result = table(peers)
    print("\n" + result)
    for name, reason in left_out.items():
        print(f"\nleft out: {name}: {reason}")
    return result
