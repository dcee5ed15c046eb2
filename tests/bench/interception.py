"""interception.py - what the preload library costs programs: untraced, traced, filtered out and switched off, in turn.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from report import Row, difference_row, paired_row

READ_BAR = 1.15
FILES_BAR = 1.20
FILTERED_BAR = 1.03
START_BAR_US = 1000.0
PIPELINES_BAR = 2.0
MEMORY_BAR_MIB = 8.0 + 64 / 1024  # the core's, for one thread

TURNS = 40  # bursts of one process: together they take each of the small files once
WARM_UP = 2  # of these are for what happens once: the drain thread, the core, the first pages

PIPELINES = "for i in {1..20}; do cat %s | grep -c x | wc -l; done"


class Ways:
    """The environments that take turns."""

    def __init__(self, build: Path, folder: Path) -> None:
        self.build = build
        self.data = folder / "io-data"
        self.traces = folder / "io-traces"
        self.elsewhere = folder / "io-elsewhere"
        for made in (self.data, self.traces, self.elsewhere):
            made.mkdir(exist_ok=True)
        plain = {key: value for key, value in os.environ.items() if not key.startswith(("DFTRACER_", "LD_PRELOAD"))}
        preload = plain | {"LD_PRELOAD": str(build / "c" / "libdftracer_preload.so")}
        traced = preload | {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(self.traces / "trace")}
        self.all = {
            "untraced": plain,
            "empty": plain | {"LD_PRELOAD": str(build / "bench" / "libbench_empty.so")},
            "traced": traced | {"DFTRACER_DATA_DIR": str(self.data)},
            "everything": traced | {"DFTRACER_DATA_DIR": "all"},
            "filtered": traced | {"DFTRACER_DATA_DIR": str(self.elsewhere)},
            "disabled": preload,
        }

    def run(self, way: str, *command: str) -> tuple[str, float, float]:
        """Output, wall microseconds, CPU microseconds of it and of what it waited for."""
        before = time.perf_counter()
        child = subprocess.Popen(command, env=self.all[way], stdout=subprocess.PIPE, text=True)
        assert child.stdout
        output = child.stdout.read()
        child.stdout.close()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - before
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with status {child.returncode}, {way}")
        for file in self.traces.glob("*.pfw.gz"):
            file.unlink()
        return output, wall * 1e6, (usage.ru_utime + usage.ru_stime) * 1e6

    def turns(self, ways: list[str], generations: int, *command: str) -> dict[tuple[str, str], list[float]]:
        """What processes print, one for each way, that live at the same time and do one burst after the other.

        Where its memory lies makes a process faster or slower by some per cent, so there are generations of them. What
        the one before has left in the caches does so by one, so they follow each other in an order drawn every time."""
        got: dict[tuple[str, str], list[float]] = {}
        draw = random.Random(1)
        for _ in range(generations):
            with contextlib.ExitStack() as stack:
                players = {way: stack.enter_context(Player(command, self.all[way])) for way in ways}
                for turn in range(TURNS):
                    for way in draw.sample(ways, len(ways)):
                        samples = list(players[way].burst())
                        if turn >= WARM_UP:
                            for name, value in samples:
                                got.setdefault((way, name), []).append(value)
                for way, player in players.items():
                    for name, value in player.end():
                        got.setdefault((way, name), []).append(value)
            for file in self.traces.glob("*.pfw.gz"):
                file.unlink()
        return got


class Player:
    """A process that does one burst for each line it gets."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.__exit__(None, None, None)

    def samples(self) -> Iterator[tuple[str, float]]:
        assert self.process.stdout
        for line in self.process.stdout:
            if line == "done\n":
                return
            name, value = line.split()
            yield name, float(value)

    def burst(self) -> Iterator[tuple[str, float]]:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        yield from self.samples()

    def end(self) -> Iterator[tuple[str, float]]:
        assert self.process.stdin
        self.process.stdin.close()
        yield from self.samples()
        if self.process.wait() != 0:
            raise RuntimeError(f"a process that took turns ended with status {self.process.returncode}")


def interception(bench) -> list[Row]:
    ways = Ways(bench.build, bench.folder)
    program = str(bench.build / "bench" / "io")
    subprocess.run([program, "make", str(ways.data)], env=ways.all["untraced"], check=True)
    generations = 32 if bench.quick else 50
    four = ["untraced", "traced", "filtered", "disabled"]
    read = ways.turns(four, generations, program, "read", str(ways.data / "cached"))
    files = ways.turns(four, generations, program, "files", str(ways.data))
    rows = []
    for title, got, bar in (("read of 4 KiB", read, READ_BAR), ("open, read, close of a small file", files, FILES_BAR)):
        for way, words, most in (
            ("traced", "traced", bar),
            ("filtered", "filtered out", FILTERED_BAR),
            ("disabled", "switched off", FILTERED_BAR),
        ):
            rows.append(paired_row(f"{title}, {words}", "ns", got[way, "wall"], got["untraced", "wall"], most))
            rows.append(
                paired_row(f"{title}, {words}: CPU of the thread", "ns", got[way, "cpu"], got["untraced", "cpu"])
            )
    rows.append(memory_row(files))
    return rows + start(ways, 30 if bench.quick else 150) + pipelines(ways, 5 if bench.quick else 8)


def memory_row(files: dict[tuple[str, str], list[float]]) -> Row:
    traced, untraced = ([kib / 1024 for kib in files[way, "private_kib"]] for way in ("traced", "untraced"))
    return difference_row("memory beside the spool, 10,000 small files", "MiB", traced, untraced, MEMORY_BAR_MIB)


def start(ways: Ways, rounds: int) -> list[Row]:
    wall: dict[str, list[float]] = {"untraced": [], "everything": []}
    for _ in range(rounds):
        for way, found in wall.items():
            found.append(ways.run(way, "/bin/true")[1])
    return [difference_row("start and exit of /bin/true", "us", wall["everything"], wall["untraced"], START_BAR_US)]


def pipelines(ways: Ways, rounds: int) -> list[Row]:
    cpu: dict[str, list[float]] = {"empty": [], "everything": [], "untraced": []}
    script = PIPELINES % (ways.data / "part-0" / "sample-0")
    for number in range(rounds):
        first = number % len(cpu)
        for way in [*cpu][first:] + [*cpu][:first]:
            cpu[way].append(ways.run(way, "bash", "-c", script)[2])
    name = "20 pipelines of three, CPU, against"
    return [
        paired_row(f"{name} an empty library", "us", cpu["everything"], cpu["empty"], PIPELINES_BAR),
        paired_row(f"{name} none", "us", cpu["everything"], cpu["untraced"]),
    ]
