"""witness.py - a program nobody here wrote, three times: untraced, under strace, and under the preload library.

The traced run must do what the untraced one did: output, exit status, and every file it leaves. What it read from
and wrote to each file below its folder must be what strace, which knows nothing of us, saw of its twin. Streams read
ahead: there strace may have seen up to a block more for each time that the stream was opened or moved.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import collections
import glob
import hashlib
import os
import re
import shutil
import subprocess

from io_harness import Skip, expect, expect_equal, no_core_file, paths, read_folder, recover, traced, untraced

READS = {"read", "pread", "readv", "preadv", "preadv2", "fread", "fgets", "getline", "getdelim"}
WRITES = {
    "write",
    "pwrite",
    "writev",
    "pwritev",
    "pwritev2",
    "fwrite",
    "fputs",
    "puts",
    "fprintf",
    "vfprintf",
    "printf",
    "vprintf",
    "dprintf",
    "vdprintf",
}
CHARACTERS_IN = {"fgetc", "getc", "getchar"}
CHARACTERS_OUT = {"fputc", "putc", "putchar"}
MOVES = {"fopen", "fdopen", "freopen", "fseek", "fseeko", "rewind", "fsetpos"}
BLOCK = 4096
BETWEEN = {"sendfile", "copy_file_range", "splice"}
SECONDS_MOST = 100

SYSTEM_CALL = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+)")
DESCRIPTOR = re.compile(r"(\d+|AT_FDCWD)<(.*?)>(\(deleted\))?(?=[,)]|$)")
STRACED = "read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2,sendfile,copy_file_range,splice"

Bytes = dict[tuple[str, str], int]  # (path, "read" or "written") to a sum


def tree(folder: str) -> dict[str, str]:
    """Every file below a folder: what it holds."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in folders:
            found[os.path.relpath(os.path.join(place, name), folder)] = "a folder"
        for name in files:
            path = os.path.join(place, name)
            if os.path.islink(path):
                found[os.path.relpath(path, folder)] = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


def straced_bytes(folder: str) -> Bytes:
    total: Bytes = collections.Counter()
    for name in glob.glob(os.path.join(folder, "strace.*")):
        with open(name, encoding="utf-8", errors="replace") as file:
            for line in file:
                if not (match := SYSTEM_CALL.match(line)) or int(match[3]) <= 0:
                    continue
                call, done = match[1].removesuffix("64"), int(match[3])
                files = [found[1] for found in DESCRIPTOR.findall(match[2])]
                if call in BETWEEN:
                    source, target = files if call != "sendfile" else files[::-1]
                    total[source, "read"] += done
                    total[target, "written"] += done
                elif files:
                    total[files[0], "read" if call in READS else "written"] += done
    return total


def add_event(total: Bytes, event: dict, names: dict[str, str]) -> None:
    args, call = event["args"], event["name"]
    path, done = names.get(args.get("fhash"), ""), args["ret"]
    if call in CHARACTERS_IN or call in CHARACTERS_OUT:
        total[path, "read" if call in CHARACTERS_IN else "written"] += done >= 0
    elif call == "ungetc":
        total[path, "read"] -= done >= 0
    elif call in MOVES:
        total[path, "ahead"] += BLOCK
    elif done <= 0:
        return
    elif call in BETWEEN:
        total[path, "read"] += done
        total[names.get(args.get("path2_hash"), ""), "written"] += done
    elif call in READS or call in WRITES:
        total[path, "read" if call in READS else "written"] += done


def traced_bytes(traces: list) -> Bytes:
    total: Bytes = collections.Counter()
    for trace in traces:
        names = paths(trace)
        for event in trace.events:
            if event["cat"] in ("POSIX", "STDIO") and "ret" in event["args"]:
                add_event(total, event, names)
    return total


class Witness:
    """prepare(data) fills the folder that the command then works in, the same way each time."""

    def __init__(self, folder: str, prepare, *needed: str) -> None:
        for program in needed:
            if not shutil.which(program):
                raise Skip(f"no {program} here")
        self.folder = folder
        self.data = os.path.join(folder, "data")
        self.traces = os.path.join(folder, "traces")
        self.straces = os.path.join(folder, "straces")
        os.mkdir(self.traces)
        os.mkdir(self.straces)
        self.prepare = prepare

    def _run(self, command: list[str], env: dict[str, str]) -> tuple:
        shutil.rmtree(self.data, ignore_errors=True)
        os.mkdir(self.data)
        self.prepare(self.data)
        env = env | {"LC_ALL": "C", "TMPDIR": self.data, "TZ": "UTC"}
        done = subprocess.run(
            command,
            cwd=self.data,
            env=env,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS_MOST,
            preexec_fn=no_core_file,
        )
        return done.returncode, done.stdout, done.stderr

    def _below(self, total: Bytes, same) -> Bytes:
        """Of the folder alone; names that differ from run to run made the same."""
        found: Bytes = collections.Counter()
        for (path, way), count in total.items():
            if path.startswith(self.data + "/"):
                found[same(os.path.relpath(path, self.data)), way] += count
        return dict(found)

    def check(self, command: list[str], same=lambda name: name, left=tree, only=lambda name: True, **settings) -> list:
        """same: a name made independent of the run; left: what is to be equal of the folder; only: files whose bytes
        are compared, where others hold times. Returns the traces."""
        plain = self._run(command, untraced())
        plain_left = left(self.data)
        expect_equal(plain[0], 0, f"{command[0]} alone: {plain[2]}")
        strace = ["strace", "-ff", "-y", "-qq", "-s", "0", "-e", f"trace={STRACED}", "-o", f"{self.straces}/strace"]
        self._run(strace + command, untraced())
        seen = self._below(straced_bytes(self.straces), same)
        ours = self._run(command, traced(self.traces, **{"DATA_DIR": self.data} | settings))
        expect_equal(ours, plain, "status and output")
        expect_equal(left(self.data), plain_left, "files")
        recover(self.traces)
        traces = read_folder(self.traces)
        recorded = self._below(traced_bytes(traces), same)
        expect(sum(seen.values()) > 0, "the witness saw nothing")
        different = {}
        for path, way in {*recorded, *seen}:
            if way == "ahead" or not only(path):
                continue
            more = seen.get((path, way), 0) - recorded.get((path, way), 0)
            if more and not (way == "read" and 0 < more <= recorded.get((path, "ahead"), 0)):
                different[path, way] = recorded.get((path, way), 0), seen.get((path, way), 0)
        expect_equal(different, {}, f"bytes (recorded, seen by strace), of {len(seen)} sums")
        return traces
