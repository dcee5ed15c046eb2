"""test_textio.py - text calls: the bytes that they moved are those of the file; what cannot be known is called unknown.
SPDX-License-Identifier: MIT
"""

import json
import os
import re
import subprocess

from io_harness import COMMAND, SOURCE, expect, expect_equal, main, read_folder, run, traced, untraced


def recorded(folder, *flags):
    """Runs the program; the folders of its files and its traces, and the size of each file as the program knows it."""
    data, traces, program = (os.path.join(folder, name) for name in ("data", "traces", "program"))
    os.mkdir(data)
    subprocess.run(["cc", "-w", *flags, f"{SOURCE}/tests/intercept/programs/textio.c", "-o", program], check=True)
    done = run([program, data, f"{folder}/told"], traced(traces, DATA_DIR=data))
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "the program")
    with open(f"{folder}/told", encoding="utf-8") as file:
        sizes = {name: int(size) for name, size in (line.split() for line in file)}
    expect_equal({name: os.path.getsize(f"{data}/{name}") for name in sizes}, sizes, "sizes")
    return data, traces, sizes


def summary(traces, *options):
    done = run([COMMAND, "summary", *options, traces], untraced())
    expect_equal((done.returncode, done.stderr), (0, ""), "summary")
    return done.stdout


def files_of(data, traces):
    io = json.loads(summary(traces, "--json"))["io"]
    return io["all"], {os.path.relpath(file["file"], os.path.realpath(data)): file for file in io["files"]}


def case_every_byte_is_counted(folder):
    data, traces, sizes = recorded(folder, "-O0", "-fno-builtin")
    everything, files = files_of(data, traces)
    expect(sum(sizes.values()) > 1.27e6, f"{sum(sizes.values())} bytes")
    moved = {name: (files[name]["write_bytes"], files[name]["read_bytes"]) for name in sizes}
    expect_equal(moved, {name: (size, size) for name, size in sizes.items()}, "bytes written and read")
    expect_equal({name for name in sizes if files[name]["failed"] or files[name]["unknown"]}, set(), "not good")
    scanned = os.path.getsize(f"{data}/scanned")
    expect_equal(everything["write_bytes"], sum(sizes.values()) + scanned, "bytes written")
    expect_equal(everything["read_bytes"], sum(sizes.values()), "bytes read")
    calls = {event["name"] for trace in read_folder(traces) for event in trace.user_events()}
    expected = "fprintf vfprintf dprintf fputs fputc putc printf vprintf puts putchar fgets fgetc getc getchar"
    expect_equal(set(expected.split()) - calls, set(), "calls that the program did not make")


def case_every_byte_of_an_optimised_program_is_counted(folder):
    """Some of its calls are others than those of the source. Those that the compiler inlines are not seen."""
    data, traces, sizes = recorded(folder, "-O2", "-D_FORTIFY_SOURCE=2")
    _, files = files_of(data, traces)
    seen = {name: size for name, size in sizes.items() if not name.endswith("_unlocked") or name.startswith("zeros")}
    moved = {name: (files[name]["write_bytes"], files[name]["read_bytes"]) for name in seen}
    expect_equal(moved, {name: (size, size) for name, size in seen.items()}, "bytes written and read")


def case_what_is_not_known(folder):
    """fscanf reads an unknown number of bytes. Of a mapping only the size is known. Ends of files are not failures."""
    data, traces, _ = recorded(folder, "-O0", "-fno-builtin")
    everything, files = files_of(data, traces)
    told = {key: files["scanned"][key] for key in ("reads", "read_bytes", "unknown", "failed")}
    expect_equal(told, {"reads": 501, "read_bytes": 0, "unknown": 501, "failed": 0}, "fscanf")
    told = {key: files["mapped"][key] for key in ("reads", "writes", "mapped_bytes", "failed")}
    expect_equal(told, {"reads": 0, "writes": 0, "mapped_bytes": 100000, "failed": 1}, "mmap; one of two was refused")
    told = {key: files["refused"][key] for key in ("reads", "writes", "read_bytes", "write_bytes", "unknown", "failed")}
    refused = {"reads": 3, "writes": 2, "read_bytes": 0, "write_bytes": 0, "unknown": 0, "failed": 5}
    expect_equal(told, refused, "calls that fail")
    expect_equal((everything["mapped_bytes"], everything["unknown"], everything["failed"]), (100000, 501, 6), "all")
    text = summary(traces, "--files", "--top", "100")
    expect(re.search(r"/scanned +[\d,]+ +[\d.]+ [mu]?s +unknown ", text), text)
    expect("the bytes of 501 transfers are unknown: the trace does not tell them" in text, text)
    expect("97.7 KiB of files were mapped into memory: what was read and written there is not seen" in text, text)


main(globals())
