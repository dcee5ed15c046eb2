"""trace.py - reads traces and checks them against the format; shares no code with what wrote them.

    for trace in read_folder("out"):          # every rule holds, or Broken is raised
        trace.named("step")                    # the events of that name, in the file's order
        trace.end["args"]["num_events"]

Rules are called by the codes of the format's description: F (files), L (lines), T (times), A (levels), H (hashes).
Where the environment names a linter in DFT_TRACELINT, read_folder runs it as well.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import collections
import glob
import json
import os
import re
import subprocess
import sys
import zlib

MEMBER_LEAST = 256 << 10
MEMBER_MOST = 1 << 20
LANE_TID = 1 << 22  # thread ids from here on are lanes of overlapping events
HASH = re.compile(r"[0-9a-f]{16}\Z")
TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"')
OUR_METADATA = ("HH", "FH", "SH", "PR", "thread_name", "process_name")


class Broken(Exception):
    """A rule of the format does not hold."""


def require(holds: object, rule: str, detail: object = "") -> None:
    if not holds:
        raise Broken(f"{rule} {str(detail)[:300]}")


def reject_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


DECODER = json.JSONDecoder(parse_constant=reject_constant)


def check_event(event: dict, line: str) -> None:
    ph = event.get("ph")
    require(ph in ("X", "M", "C"), "L2", line)
    for key in ("name", "cat"):
        require(type(event.get(key)) is str and event[key], "L3", line)
    for key in ("pid", "tid"):
        require(type(event.get(key)) is int and 0 <= event[key] < 2**32, "L4", line)
    require(type(event.get("args")) is dict, "L5", line)
    require(type(event.get("id")) is int and event["id"] > 0, "L6", line)
    if line.count("{") > 2 or "[" in line:
        require(not any(isinstance(value, (dict, list)) for value in event["args"].values()), "L7 nested", line)
    if ph != "M":
        require(type(event.get("ts")) is int, "T1", line)
    if ph == "X":
        require(type(event.get("dur")) is int and event["dur"] >= 0, "T1", line)


def decode_lines(lines: list[str]) -> list[dict]:
    """All at once, which takes half the time; the zeros in between show that each line is one value."""
    try:
        values = DECODER.decode("[" + ",0,".join(lines) + "]")
        if len(values) == 2 * len(lines) - 1 and not any(values[1::2]):
            return values[::2]
    except ValueError:
        pass
    for line in lines:
        try:
            DECODER.decode(line)
        except ValueError as error:
            raise Broken(f"L1 {error}: {line[:200]!r}") from error
    raise Broken("L1 a line is not one value")


def read_events(text: bytes) -> list[dict]:
    try:
        lines = text.decode().split("\n")
    except ValueError as error:
        raise Broken(f"L1 {error}") from error
    for line in lines:
        require(line[:1] == "{" and line[-1:] == "}", "F8", line)
        require(" " not in line or " " not in TEXTS.sub("", line), "F9 not compact", line)
    events = decode_lines(lines)
    for event, line in zip(events, lines):
        check_event(event, line)
    return events


class Trace:
    """One file. Attributes: path, events (every line but the first, in order), members (bytes of text in each)."""

    def __init__(self, path: str, overlap: bool = False, dangling: bool = False, small: bool = False) -> None:
        """overlap: explicit-time events may overlap; dangling: a parent may be the one record that a death took; small:
        members too, where the machine had no room to gather large ones."""
        self.path = path
        self.members: list[int] = []
        text = self._text(small)
        require(text.startswith(b"[\n"), "F6", path)
        require(text.endswith(b"\n"), "F7 the last line has no end", path)
        self.events = read_events(text[2:-1])
        self._check_bookkeeping()
        self._check_ids(dangling)
        self._check_hashes()
        self._check_times(overlap)

    # ---- Questions --------------------------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        return self.end["pid"]

    @property
    def end(self) -> dict:
        return self.events[-1]

    def named(self, name: str) -> list[dict]:
        return [event for event in self.events if event["name"] == name]

    def values(self, name: str, key: str) -> list:
        """The argument `key` of every event of that name, in the file's order."""
        return [event["args"][key] for event in self.events if event["name"] == name]

    def user_events(self) -> list[dict]:
        return [event for event in self.events if not is_ours(event)]

    # ---- Bytes ------------------------------------------------------------------------------------------------------

    def _text(self, small: bool) -> bytes:
        with open(self.path, "rb") as file:
            rest = file.read()
        if not self.path.endswith(".gz"):
            require(self.path.endswith(".pfw"), "F1", self.path)
            return rest
        parts = []
        while rest:
            member = zlib.decompressobj(31)
            try:
                part = member.decompress(rest)
            except zlib.error as error:
                raise Broken(f"F2 {self.path}: member {len(parts)}: {error}") from error
            require(member.eof, "F2 a torn member", self.path)
            require(part, "F2 an empty member", self.path)
            require(part.endswith(b"\n"), "F2 a member is not cut at a line end", self.path)
            rest = member.unused_data
            parts.append(part)
        self.members = [len(part) for part in parts]
        for size in self.members[:-1]:
            require(small or MEMBER_LEAST <= size <= MEMBER_MOST, "F3", f"{self.path}: members of {self.members}")
        require(not parts or self.members[-1] <= MEMBER_MOST, "F3", f"{self.path}: members of {self.members}")
        return b"".join(parts)

    # ---- Rules over the whole file ----------------------------------------------------------------------------------

    def _check_bookkeeping(self) -> None:
        end = self.end
        require((end["name"], end["cat"], end["ph"]) == ("end", "dftracer", "X"), "F7", end)
        names = [event["name"] for event in self.events[:7]]
        with_metadata = "num_events" in end["args"]
        expected = ["HH", "thread_name", "CM", *(["FH", "SH", "SH"] if with_metadata else []), "start"]
        require(names[: len(expected)] == expected, "the first lines", names)
        for name in ("start", "end", "HH"):
            count = sum(event["name"] == name and event["cat"] == "dftracer" for event in self.events)
            require(count == 1, f"{name} comes {count} times", self.path)
        require(self.user_events(), "F10", self.path)
        complete = sum(event["ph"] == "X" for event in self.user_events())
        if with_metadata:
            require(end["args"]["num_events"] == complete, "num_events", f"{end['args']} of {complete}")
        require(len({event["pid"] for event in self.events}) == 1, "F1 one process", self.path)

    def _check_ids(self, dangling: bool) -> None:
        levels = {event["id"]: event["args"].get("level") for event in self.events}
        require(len(levels) == len(self.events), "L6 ids are not unique", self.path)
        levels[-1] = 0
        for event in self.events:
            args = event["args"]
            if "level" not in args:
                continue
            around = levels.get(args["p_idx"])
            if around is None:
                require(dangling, "A3 no such parent", event)
            elif args["level"] != around + 1:
                raise Broken(f"A3 {event} in level {around}")

    def _check_hashes(self) -> None:
        defined: dict[str, str] = {}
        for event in self.events:
            args = event["args"]
            if event["ph"] == "M" and event["name"] in ("HH", "FH", "SH"):
                require(isinstance(args["value"], str) and HASH.match(args["value"]), "H1", event)
                require(args["name"], "H2", event)
                require(event["name"] != "HH" or args["hhash"] == args["value"], "H3", event)
                require(defined.setdefault(args["value"], args["name"]) == args["name"], "H4 two texts", event)
            for key in ("fhash", "hhash"):
                if key in args:
                    require(args[key] in defined, "H5 used before it is defined", event)

    def _check_times(self, overlap: bool) -> None:
        starts = [event["ts"] for event in self.events if event["ph"] != "M"]
        unit = next(event["args"]["value"] for event in self.events if event["args"].get("name") == "time_metric")
        if unit == "US":
            require(all(10**15 < ts < 9 * 10**15 for ts in starts), "T2", self.path)
        threads = collections.defaultdict(list)
        for event in self.events:
            if event["ph"] == "X":
                threads[event["tid"]].append((event["ts"], -event["dur"]))
        for tid, spans in threads.items() if not overlap else ():
            ends: list[int] = []
            for start, minus_duration in sorted(spans):
                while ends and ends[-1] <= start:
                    ends.pop()
                require(not ends or start - minus_duration <= ends[-1], "T4", f"{self.path}: thread {tid} at {start}")
                ends.append(start - minus_duration)


def is_ours(event: dict) -> bool:
    """Bookkeeping, as opposed to events of the user."""
    if event["cat"] != "dftracer":
        return False
    if event["name"] in ("start", "end"):
        return True
    return event["ph"] == "M" and (event["name"] in OUR_METADATA or event["args"].get("name") == "time_metric")


def read_folder(folder: str, overlap: bool = False, dangling: bool = False, small: bool = False) -> list[Trace]:
    """Every published trace of a folder, by name. Nothing else in it may look like one (F1)."""
    names = sorted(glob.glob(os.path.join(folder, "**", "*.pfw*"), recursive=True, include_hidden=True)
                   if sys.version_info >= (3, 11) else glob.glob(os.path.join(folder, "*.pfw*")))
    for name in names:
        require(name.endswith((".pfw", ".pfw.gz")) and "/.dftracer/" not in name, "F1", name)
    linter = os.environ.get("DFT_TRACELINT")
    if linter and names:
        options = ["--overlap"] if overlap else []
        done = subprocess.run([sys.executable, linter, *options, *names], capture_output=True, text=True, check=False)
        require(done.returncode == 0, "the linter says", done.stdout + done.stderr)
    return [Trace(name, overlap, dangling, small) for name in names]
