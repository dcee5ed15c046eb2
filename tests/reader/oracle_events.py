"""What the oracle of the summary knows of events: what calls and regions are, and arithmetic with times."""

import bisect
import functools
import math
import re

import oracle

READS = ("read", "pread", "readv", "preadv", "preadv2", "fread", "fgets", "getline", "getdelim")
WRITES = ("write", "pwrite", "writev", "pwritev", "pwritev2", "fwrite", "fputs", "puts")
WRITES += ("printf", "fprintf", "dprintf", "vprintf", "vfprintf", "vdprintf")
GETS, PUTS = ("fgetc", "getc", "getchar"), ("fputc", "putc", "putchar")  # of one byte; ret is the character
SCANS, QUEUES = ("fscanf", "vfscanf", "aio_read"), ("aio_write",)  # of which nothing tells the bytes
MAPS = ("mmap",)
SEEKS = ("lseek",)
MOVES = ("fseek", "fseeko", "rewind")
OPENS = ("open", "openat", "openat2", "creat", "fopen", "freopen", "fdopen")
COPIES = ("copy_file_range", "sendfile", "splice")
PROCESSES = ("fork", "vfork", "wait", "waitpid", "wait3", "wait4", "waitid", "posix_spawn", "posix_spawnp")
PROCESSES += ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve")
LOST = ("dropped", "recovered_traces", "unrecovered_traces", "running_processes")  # the last two are of spools only
TOP = 2**64 - 1  # sums stay there when they have no more room


@functools.lru_cache
def events_of(text):
    return list(oracle.events_of(text))


def integer(value, otherwise):
    try:
        number = otherwise if isinstance(value, float) else int(value)
    except (TypeError, ValueError):
        return otherwise
    return number if number is None or -(2**63) <= number < 2**63 else otherwise


def typed(command):
    """As in a shell. A ";" joins arguments, but before a blank it is part of one."""
    plain = re.compile(r"[A-Za-z0-9\x80-\U0010ffff_=+.,:/@%^-]+")
    words = re.split(r";(?! )", command) if command else []
    return " ".join(word if plain.fullmatch(word) else "'" + word.replace("'", "'\\''") + "'" for word in words)


@functools.lru_cache
def io_kind(name, cat):
    if cat not in ("POSIX", "STDIO"):
        return None
    if cat == "POSIX" and name in PROCESSES:
        return None
    if name.endswith("64") and len(name) > 2:
        name = name[:-2]
    kinds = {"read": READS + GETS + SCANS, "write": WRITES + PUTS + QUEUES, "copy": COPIES, "map": MAPS}
    kinds |= {"seek": SEEKS, "move": MOVES, "open": OPENS}
    for kind, names in kinds.items():
        if name in names:
            return kind
    return "other"


# Categories that say the same.
TELLING = {
    "comm": ("comm", "communication", "collective", "nccl", "NCCL"),
    "checkpoint": ("checkpoint", "checkpointing"),
    "io": ("io", "IO"),
}
SAME = {cat: kind for kind, cats in TELLING.items() for cat in cats}


@functools.lru_cache
def ai_kind(name, cat):
    cat = SAME.get(cat, cat)
    if cat == "pipeline" and name in ("step", "step.iter"):
        return "step"
    if name.endswith((".iter.cut", ".block.cut")):
        name = name[: -len(".cut")]
    if cat == "dataloader" and name in ("fetch.init", "fetch.end"):
        return "start"
    if (name, cat) in (("epoch", "pipeline"), ("epoch.block", "pipeline")):
        return "epoch"
    if cat == "dlio_benchmark" and name.endswith("._train"):
        return "epoch"
    if cat in ("POSIX", "STDIO") or name.endswith((".block", ".init")):
        return None
    if cat == "compute" or (cat == "ai_framework" and name.endswith(".compute")):
        return "compute"
    if (cat == "dataloader" and name.startswith("fetch")) or (cat == "data_loader" and name == "loop.iter"):
        return "fetch"
    if (name, cat) == ("data.batch.cut", "data"):
        return "empty"
    if cat in ("data", "reader"):
        return "data"
    if cat == "mpi" or (cat == "MPI" and not name.startswith(("MPI_Init", "MPI_Finalize", "MPI_Session"))):
        return "comm"
    return cat if cat in ("comm", "device", "checkpoint") else None


def result_of(event, args, error):
    """Of a call: what it returned; of a transfer the bytes, or None."""
    ret, name = integer(args.get("ret"), None), event["name"]
    name = name[:-2] if name.endswith("64") else name
    is_end = ret is not None and ret < 0 and not error
    if ret is None or event["cat"] not in ("POSIX", "STDIO") or name not in GETS + PUTS + SCANS + QUEUES:
        return ret
    if name in SCANS + QUEUES:
        return ret if ret < 0 and error else None
    return 1 if ret >= 0 else 0 if is_end and name in GETS else ret


def is_ours(event):
    return event["cat"] == "dftracer" and event["name"] in ("start", "end")


class Span:
    """One complete event."""

    def __init__(self, source, event, unit):
        self.event, self.source = event, source
        self.kind = io_kind(event["name"], event["cat"])
        self.is_process_call = event["cat"] == "POSIX" and event["name"] in PROCESSES
        self.args = event.get("args", {})
        self.start = event["ts"] * unit
        self.end = self.start + max(event["dur"], 0) * unit
        self.time = self.end - self.start
        self.process = (source, event["pid"])
        self.thread = (source, event["pid"], event["tid"])
        self.level = self.args.get("level", 0)
        self.file = str(self.args.get("fhash", ""))
        self.second_file = str(self.args.get("path2_hash", ""))
        self.error = max(integer(self.args.get("errno"), 0), 0)
        self.result = result_of(event, self.args, self.error)
        self.is_failed = self.error > 0 or (self.result is not None and self.result < 0)
        self.self = 0


def self_times(spans):
    """Sets self of every span of one thread: its time that none before it, in the order of ends, covers."""
    points = sorted({span.start for span in spans} | {span.end for span in spans})
    owner = [None] * len(points)
    free = list(range(len(points) + 1))  # the next segment nobody owns, found by halving paths

    def next_free(i):
        while free[i] != i:
            free[i] = free[free[i]]
            i = free[i]
        return i

    spans.sort(key=lambda span: (span.end, -span.start, -span.level))  # stable: as they came
    for span in spans:
        last = bisect.bisect_left(points, span.end)
        i = next_free(bisect.bisect_left(points, span.start))
        while i < last:
            span.self += points[i + 1] - points[i]
            owner[i] = span
            free[i] = i + 1
            i = next_free(i)
    return points[-1] - points[0] if points else 0


def union(intervals):
    merged = []
    for start, end in sorted(interval for interval in intervals if interval[1] > interval[0]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def shared(one, two):
    return length(one) + length(two) - length(union([*map(tuple, one), *map(tuple, two)]))


def percentile(values, share):
    ordered = sorted(values) or [0]
    return ordered[max(1, math.ceil(share * len(ordered))) - 1]
