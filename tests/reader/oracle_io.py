"""What summary says of I/O, worked out again from docs/summary.md: by file, process, name of the call and folder."""

import collections
import os

from oracle_events import TOP, integer, percentile

MOST = 2**63 - 1  # of a position in a file
SMALL = 1 << 20
CLOSES = ("close", "fclose")
SYNCS = ("fsync", "fdatasync", "sync_file_range", "msync", "fflush", "sync", "syncfs")
SIDE = ("{}s", "{}_bytes", "{}_ns", "random_{}s", "random_{}_ns", "small_{}s", "small_{}_bytes", "small_{}_ns")
SIDE += ("placed_{}s", "unaligned_{}s", "unaligned_{}_ns", "again_{}_bytes", "stdio_{}_bytes", "stdio_{}_ns")
KEYS = ("metadata", "metadata_ns", "mapped_bytes", "sequential", "random", "opens", "open_ns", "closes", "close_ns")
KEYS += ("syncs", "sync_ns")
KEYS += ("failed", "failed_ns", "unknown", "uses", "write_uses")
KEYS += tuple(key.format(side) for side in ("read", "write") for key in SIDE)


# ---- Where transfers begin


def appends(args):
    mode = args.get("mode")
    return bool(integer(args.get("flags"), 0) & os.O_APPEND) or (isinstance(mode, str) and mode.startswith("a"))


def common(one, two):
    return max(0, min(one[1], two[1]) - max(one[0], two[0]))


class Place:
    """A file as a thread sees it: the position, None if unknown; the longest gapless pieces that it read and wrote."""

    def __init__(self):
        self.position = None
        self.is_written = False
        self.pieces = {"read": (0, 0), "write": (0, 0)}

    def again(self, kind, piece):
        known = self.pieces[kind]
        again = common(known, piece)
        size, known_size = piece[1] - piece[0], known[1] - known[0]
        if known_size and piece[0] <= known[1] and piece[1] >= known[0]:
            self.pieces[kind] = (min(known[0], piece[0]), max(known[1], piece[1]))
        elif size > known_size:
            self.pieces[kind] = piece
        if kind == "write" and common(self.pieces["read"], piece):
            self.pieces["read"] = (0, 0)
        return again


def place(spans):
    """Sets begin and again of the spans of one thread, in the order of ends: where a transfer begins, None if unknown,
    and how many of its bytes this thread surely transferred before."""
    files = collections.defaultdict(Place)
    for span in spans:
        span.begin, span.again = None, 0
        span.is_sync = bool(span.kind) and span.event["name"].removesuffix("64") in SYNCS
        file, result = files[span.file], span.result
        offset = integer(span.args.get("offset", -1), -1)
        if not span.file:
            continue
        if span.event["name"] in CLOSES:
            span.is_sync, file.is_written = file.is_written, False
        file.is_written |= span.kind == "write"
        if span.kind == "open":
            file.position = None if appends(span.args) else 0
        elif span.kind == "seek" and (result or 0) >= 0 and result is not None:
            file.position = result
        elif span.kind == "move" and result is not None and result >= 0:
            whence = integer(span.args.get("whence", 0), None)
            from_here = {0: 0, 1: file.position}.get(whence)
            goal = None if from_here is None else from_here + offset
            file.position = goal if goal is not None and 0 <= goal <= MOST else None
            if (whence, offset) == (0, -1):  # rewind has no offset
                file.position = 0
        elif span.kind in ("read", "write") and result is None:
            file.position = None
        elif span.kind in ("read", "write") and result > 0:
            span.begin = offset if offset >= 0 else file.position
            if span.begin is None:
                continue
            piece = (span.begin, min(span.begin + result, MOST))
            span.again = file.again(span.kind, piece)
            file.position = file.position if offset >= 0 else piece[1]


# ---- Counts


class IO:
    def __init__(self):
        self.numbers = collections.Counter()
        self.sizes, self.times = [], []

    def add(self, *pairs):
        for key, number in pairs:
            self.numbers[key] += number

    def count(self, span, kind, sequence):
        ret = span.result
        self.times.append((span.start, span.end))
        self.add(("calls", 1), ("failed", span.is_failed), ("failed_ns", span.time * span.is_failed))
        if kind in ("read", "write"):
            self.transfer(span, kind, sequence)
            return
        self.add(("metadata", 1), ("metadata_ns", span.time))
        if kind == "map" and ret is not None and ret >= 0:
            self.add(("mapped_bytes", max(integer(span.args.get("length"), 0), 0)))
        if kind == "open":
            self.add(("opens", 1), ("open_ns", span.time))
        if span.is_sync:
            self.add(("syncs", 1), ("sync_ns", span.time))
        if span.event["name"] in CLOSES:
            self.add(("closes", 1), ("close_ns", span.time))

    def transfer(self, span, side, sequence):
        is_stream, size = span.event["cat"] == "STDIO", max(span.result or 0, 0)
        self.add((f"{side}s", 1), (f"{side}_ns", span.time), (f"stdio_{side}_ns", span.time * is_stream))
        self.add(("unknown", span.result is None), (f"{side}_bytes", size), (f"stdio_{side}_bytes", size * is_stream))
        if not size:
            return
        self.sizes.append(size)
        if size < SMALL:
            self.add((f"small_{side}s", 1), (f"small_{side}_bytes", size), (f"small_{side}_ns", span.time))
        if sequence is not None:
            self.add(("sequential" if sequence else "random", 1))
        if sequence is False:
            self.add((f"random_{side}s", 1), (f"random_{side}_ns", span.time))
        if span.begin is not None:
            is_unaligned = span.begin % 4096 != 0
            self.add((f"placed_{side}s", 1), (f"unaligned_{side}s", is_unaligned))
            self.add((f"unaligned_{side}_ns", span.time * is_unaligned), (f"again_{side}_bytes", span.again))

    def document(self):
        return {key: min(self.numbers[key], TOP) for key in (*KEYS, "calls")} | {
            "size_median": percentile(self.sizes, 0.5),
            "size_p95": percentile(self.sizes, 0.95),
            "size_max": max(self.sizes, default=0),
            "start_ns": min((start for start, _ in self.times), default=0),
            "end_ns": max((end for _, end in self.times), default=0),
        }


def sum_of(many):
    whole = IO()
    for io in many:
        whole.numbers += io.numbers
        whole.sizes += io.sizes
        whole.times += io.times
    return whole


class Tables:
    """Everything that is counted of calls. transfer() for each of its files: of a copy two."""

    def __init__(self):
        self.everything, self.calls = IO(), {}
        self.files, self.processes = collections.defaultdict(IO), collections.defaultdict(IO)
        self.pairs = collections.defaultdict(set)

    def call(self, span, kind):
        key = (span.event["name"], span.event["cat"])
        line = self.calls.setdefault(key, {"count": 0, "time_ns": 0, "failed": 0, "failed_ns": 0})
        line["kind"] = kind if kind in ("read", "write", "copy") else "metadata" if kind else "process"
        line["count"] += 1
        line["time_ns"] += span.time
        line["failed"] += span.is_failed
        line["failed_ns"] += span.time * span.is_failed

    def transfer(self, span, kind, file):
        pair = (file, span.process)
        for io in (self.everything, self.files[file], self.processes[span.process]):
            io.count(span, kind, span.sequence)
            for key in ["uses", "write_uses"] if kind == "write" else ["uses"]:
                io.add((key, bool(file) and pair not in self.pairs[key]))
        for key in ["uses", "write_uses"] if kind == "write" else ["uses"]:
            self.pairs[key].add(pair)

    def call_lines(self):
        return [{"name": name, "cat": cat, **line} for (name, cat), line in self.calls.items()]

    def folders(self, paths):
        """By cost; paths: by file, those that are known."""
        named = {file: io for file, io in self.files.items() if paths.get(file) and file}
        costs = {"metadata": "metadata", "read": "reads", "write": "writes", "sync": "syncs"}
        return {cost: self.folder(named, paths, f"{cost}_ns", calls) for cost, calls in costs.items()}

    def folder(self, named, paths, cost, calls):
        def number(io, key):
            what = {"metadata": "syncs", "metadata_ns": "sync_ns"}.get(key)
            return io.numbers[key] - (io.numbers[what] if what else 0)

        whole = sum(number(io, cost) for io in self.files.values())
        below = collections.Counter()
        for file, io in named.items():
            path = paths[file]
            for i, character in enumerate(path):
                if character == "/" and i:
                    below[path[: i + 1]] += number(io, cost)
        enough = [folder for folder, time in below.items() if whole and time * 5 >= whole * 4]
        folder = max(enough, key=len, default="")
        some = [io for file, io in named.items() if paths[file].startswith(folder) and number(io, cost)]

        def total(key):
            return min(sum(number(io, key) for io in some), TOP)

        return {
            "folder": folder or None,
            "all_ns": whole,
            "time_ns": total(cost),
            "files": len(some),
            "calls": total(calls),
            "read_bytes": total("read_bytes"),
            "write_bytes": total("write_bytes"),
        }
