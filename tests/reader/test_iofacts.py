"""How I/O was done, in traces whose truth is known because they were made up for it: one fact in each."""

import os

from cases import run_cases
from test_meaning import Trace, summary

MIB = 1 << 20


def facts(line, *keys):
    return tuple(line[key] for key in keys)


def io_of(folder, *options):
    return summary(folder, *options)[1]["io"]


def small_transfers(folder):
    """Less than a MiB, but not nothing."""
    trace = Trace(1)
    for at, size in enumerate((MIB - 1, MIB, 1, 0, -1)):
        trace.event("read", "POSIX", at * 10, at * 10 + 2, fhash="f", ret=size)
    trace.event("write", "POSIX", 60, 63, fhash="f", ret=100)
    trace.event("copy_file_range", "POSIX", 70, 74, fhash="f", path2_hash="g", ret=50)
    trace.save(folder)
    found = io_of(folder)["all"]
    assert facts(found, "small_reads", "small_read_bytes", "small_read_ns") == (3, MIB + 50, 8 * 10**6), found
    assert facts(found, "small_writes", "small_write_bytes", "small_write_ns") == (2, 150, 7 * 10**6), found


def random_and_unaligned_transfers(folder):
    trace = Trace(1)
    for at, offset in enumerate((0, 4096, 4096, 512, 12288)):
        trace.event("pread", "POSIX", at * 10, at * 10 + 1 + at, fhash="f", offset=offset, ret=4096)
    trace.event("pwrite", "POSIX", 60, 67, fhash="f", offset=1, ret=10)
    trace.event("read", "POSIX", 70, 80, fhash="g", ret=10)  # nobody opened it: its position is not known
    trace.event("read", "POSIX", 80, 90, fhash="g", ret=10)
    trace.save(folder)
    found = io_of(folder)["all"]
    assert facts(found, "sequential", "random", "random_reads", "random_writes") == (2, 4, 3, 1), found
    assert facts(found, "random_read_ns", "random_write_ns") == ((3 + 4 + 5) * 10**6, 7 * 10**6), found
    assert facts(found, "placed_reads", "unaligned_reads", "unaligned_read_ns") == (5, 1, 4 * 10**6), found
    assert facts(found, "placed_writes", "unaligned_writes", "unaligned_write_ns") == (1, 1, 7 * 10**6), found


def positions_that_are_known(folder):
    """After an open, a seek, or a move from the start; not after an open to append, nor behind the end of the file."""
    trace, at = Trace(1), 0
    cases = [
        ("open", {"flags": os.O_RDWR}, 1),
        ("open", {"flags": os.O_WRONLY | os.O_APPEND}, 0),
        ("lseek", {"offset": 8, "whence": 2, "ret": 8}, 1),
        ("fopen", {"mode": "a+"}, 0),
        ("fseek", {"offset": 8, "whence": 1, "ret": 0}, 0),
        ("rewind", {"ret": 0}, 1),
        ("fseek", {"offset": 8, "whence": 1, "ret": 0}, 1),
        ("fseek", {"offset": 0, "whence": 2, "ret": 0}, 0),
        ("fopen", {"mode": "r"}, 1),
        ("fscanf", {"ret": 2}, 0),  # it read, but nobody knows how much
    ]
    for number, (name, args, _) in enumerate(cases):
        trace.event(name, "POSIX", at, at + 1, **{"fhash": "f", "ret": 3} | args)
        trace.event("write", "POSIX", at + 1, at + 2, fhash="f", ret=1 << number)
        at += 10
    trace.save(folder)
    found = io_of(folder)["all"]
    assert found["placed_writes"] == sum(known for *_, known in cases) == 5, found


def bytes_that_were_read_before(folder):
    trace, at = Trace(1), 0

    def calls(file, *calls):
        nonlocal at
        for name, size, *offset in calls:
            args = {"offset": offset[0]} if offset else {}
            trace.event(name, "POSIX", at, at + 1, fhash=file, ret=size, **args)
            at += 2

    twice = [("open", 3), ("read", 100), ("read", 100), ("close", 0)]
    calls("a", *twice, *twice, *twice)  # 400 bytes again
    calls("b", ("pread", 100, 0), ("pread", 100, 50))  # 50
    calls("c", ("pread", 100, 0), ("pread", 10, 500), ("pread", 10, 500))  # the longest piece is known: at least 0
    calls("d", ("pread", 10, 0), ("pread", 100, 500), ("pread", 100, 550))  # 50
    calls("e", ("pread", 100, 0), ("pwrite", 1, 50), ("pread", 100, 0), ("pwrite", 3, 49))  # read again, as it changed
    calls("f", ("read", 100), ("read", 100))  # nobody knows where
    trace.event("pread", "POSIX", at, at + 1, tid=2, fhash="a", offset=0, ret=200)  # another thread
    trace.save(folder)
    found = io_of(folder)
    again = {line["file"]: facts(line, "again_read_bytes", "again_write_bytes") for line in found["files"]}
    assert again == {"a": (400, 0), "b": (50, 0), "c": (0, 0), "d": (50, 0), "e": (0, 1), "f": (0, 0)}, again
    assert facts(found["all"], "again_read_bytes", "again_write_bytes") == (500, 1), found["all"]


def opens_streams_and_failures(folder):
    trace = Trace(1)
    trace.event("open", "POSIX", 0, 2, fhash="f", ret=-1, errno=2)
    trace.event("openat", "POSIX", 10, 13, fhash="f", ret=3)
    trace.event("close", "POSIX", 20, 25, fhash="f", ret=0)
    trace.event("fopen", "STDIO", 30, 37, fhash="g", ret=0)
    trace.event("fread", "STDIO", 40, 51, fhash="g", ret=70)
    trace.event("read", "POSIX", 60, 61, fhash="f", ret=30)
    trace.event("fputc", "STDIO", 70, 83, fhash="g", ret=65)
    trace.event("fclose", "STDIO", 90, 107, fhash="g", ret=0)
    trace.event("waitpid", "POSIX", 110, 112, ret=-1, errno=10)
    trace.save(folder)
    for options in ((), ("--by", "file")):
        found = io_of(folder, *options)
        whole = facts(found["all"], "opens", "open_ns", "closes", "close_ns", "failed", "failed_ns")
        assert whole == (3, 12 * 10**6, 2, 22 * 10**6, 1, 2 * 10**6), whole
        stdio = facts(found["all"], "stdio_read_bytes", "stdio_read_ns", "stdio_write_bytes", "stdio_write_ns")
        assert stdio == (70, 11 * 10**6, 1, 13 * 10**6), stdio
        calls = {
            line["name"]: facts(line, "kind", "count", "time_ns", "failed", "failed_ns") for line in found["calls"]
        }
        assert calls["open"] == ("metadata", 1, 2 * 10**6, 1, 2 * 10**6), calls
        assert calls["waitpid"] == ("process", 1, 2 * 10**6, 1, 2 * 10**6), calls
        assert calls["fread"] == ("read", 1, 11 * 10**6, 0, 0) and len(calls) == 9, calls


def files_that_processes_share(folder):
    """Three processes read a file and two write it, one of them from two threads."""
    for pid in (1, 2, 3):
        trace = Trace(pid, rank=pid)
        trace.event("read", "POSIX", pid * 10, pid * 10 + 1, fhash="f", ret=1)
        for tid in (7, 8) if pid > 1 else ():
            trace.event("write", "POSIX", pid * 10 + 2, pid * 10 + 3, tid=tid, fhash="f", ret=1)
        trace.event("stat", "POSIX", pid * 10 + 4, pid * 10 + 5, fhash=f"own{pid}", ret=0)
        trace.event("sync", "POSIX", pid * 10 + 6, pid * 10 + 7)  # of no file
        trace.save(folder)
    found = io_of(folder)
    uses = {line["file"]: facts(line, "uses", "write_uses") for line in found["files"]}
    assert uses == {"f": (3, 2), "own1": (1, 0), "own2": (1, 0), "own3": (1, 0), "(no file)": (0, 0)}, uses
    assert [facts(line, "uses", "write_uses") for line in found["processes"]].count((2, 1)) == 2, found["processes"]
    assert facts(found["all"], "uses", "write_uses") == (6, 2), found["all"]
    times = [facts(line, "start_ns", "end_ns") for line in found["files"] if line["file"] == "f"]
    assert [(end - start) // 10**6 for start, end in times] == [23], times


def folders_that_hold_the_time(folder):
    """A folder is named if it holds 80 % of the time: the deepest one."""
    trace, at = Trace(1), 0
    for i, (path, name, time) in enumerate(
        [
            ("/data/train/a/1.npy", "open", 40),
            ("/data/train/b/2.npy", "open", 40),
            ("/data/val/3.npy", "stat", 19),
            ("/etc/x", "close", 1),
            ("/data/train/a/1.npy", "read", 80),
            ("/home/x", "read", 20),
            ("/data/one.bin", "write", 60),
            ("two.bin", "write", 40),
        ]
    ):
        trace.metadata("FH", path, f"f{i}")
        trace.event(name, "POSIX", at, at + time, fhash=f"f{i}", ret=1000)
        at += time
    trace.save(folder)
    found = io_of(folder)["folders"]
    keys = ("folder", "all_ns", "time_ns", "files", "calls", "read_bytes", "write_bytes")
    assert facts(found["metadata"], *keys) == ("/data/train/", 10**8, 8 * 10**7, 2, 2, 0, 0), found
    assert facts(found["read"], *keys) == ("/data/train/a/", 10**8, 8 * 10**7, 1, 1, 1000, 0), found
    assert facts(found["write"], *keys) == (None, 10**8, 10**8, 2, 2, 0, 2000), found


def lines_in_reverse(folder):
    """A file that is read twice from front to end, in a trace whose last line comes first: more than is held back."""
    trace, reads = Trace(1, rank=0), 140_000
    for half in range(2):
        trace.event("open", "POSIX", half * 1000, half * 1000 + 0.001, fhash="f", ret=3)
        for i in range(reads):
            at = half * 1000 + 1 + i / 500
            trace.event("read", "POSIX", at, at + 0.001, fhash="f", ret=64)
    trace.event("load", "app", 0, 2000)
    trace.lines[2:] = reversed(trace.lines[2:])
    trace.save(folder)
    found = summary(folder)[1]
    for line in (found["io"]["all"], *found["io"]["files"], *found["io"]["processes"]):
        assert facts(line, "reads", "sequential", "random") == (2 * reads, 2 * reads - 2, 0), line
        assert facts(line, "placed_reads", "unaligned_reads") == (2 * reads, 2 * (reads - -(-reads // 64))), line
        assert facts(line, "again_read_bytes", "uses", "opens") == (64 * reads, 1, 2), line
    assert [line["count"] for line in found["groups"] if line["name"] == "load"] == [1], found["groups"]


if __name__ == "__main__":
    run_cases(
        small_transfers,
        random_and_unaligned_transfers,
        positions_that_are_known,
        bytes_that_were_read_before,
        opens_streams_and_failures,
        files_that_processes_share,
        folders_that_hold_the_time,
        lines_in_reverse,
    )
