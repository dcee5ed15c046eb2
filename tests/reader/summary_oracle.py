"""The numbers of dftracer summary, worked out again from docs/summary.md with json and arithmetic: no shared code."""

import bisect
import collections
import math

import oracle

READS = ("read", "pread", "readv", "preadv", "preadv2", "fread")
WRITES = ("write", "pwrite", "writev", "pwritev", "pwritev2", "fwrite")
SEEKS = ("lseek", "fseek", "fseeko", "rewind")
OPENS = ("open", "openat", "creat", "fopen", "freopen", "fdopen")
NONE = object()


def integer(value, otherwise):
    if isinstance(value, (bool, int)):
        return int(value) if -(2**63) <= value < 2**63 else otherwise
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass
    return otherwise


def io_kind(event):
    if event["cat"] not in ("POSIX", "STDIO"):
        return None
    name = event["name"]
    if name.endswith("64") and len(name) > 2:
        name = name[:-2]
    for kind, names in (("read", READS), ("write", WRITES), ("seek", SEEKS), ("open", OPENS)):
        if name in names:
            return kind
    return "other"


def ai_kind(event):
    name, cat = event["name"], event["cat"]
    if cat in ("POSIX", "STDIO") or name.endswith((".block", ".init")):
        return None
    if cat == "compute" or (cat == "ai_framework" and name.endswith(".compute")):
        return "compute"
    if (cat == "dataloader" and name.startswith("fetch")) or (cat == "data_loader" and name == "loop.iter"):
        return "fetch"
    if cat in ("data", "reader"):
        return "data"
    return cat if cat in ("comm", "device", "checkpoint") else None


def is_ours(event):
    return event["cat"] == "dftracer" and event["name"] in ("start", "end")


class Span:
    """One complete event."""

    def __init__(self, source, event, unit):
        self.event, self.source = event, source
        self.args = event.get("args", {})
        self.start = event["ts"] * unit
        self.end = self.start + event["dur"] * unit
        self.level = self.args.get("level", 0)
        self.file = str(self.args.get("fhash", ""))
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
    ordered = sorted(values)
    return ordered[max(1, math.ceil(share * len(ordered))) - 1]


class IO:
    def __init__(self):
        self.numbers = collections.Counter()
        self.sizes = []

    def count(self, span, kind, sequence):
        time, ret = span.end - span.start, integer(span.args.get("ret", -1), -1)
        name = {"read": "read", "write": "write"}.get(kind, "metadata")
        self.numbers["metadata" if name == "metadata" else name + "s"] += 1
        self.numbers[name + "_ns"] += time
        if name != "metadata":
            self.numbers[name + "_bytes"] += max(ret, 0)
            if ret >= 0:
                self.sizes.append(ret)
            else:
                self.numbers["failed"] += 1
        if sequence is not None:
            self.numbers["sequential" if sequence else "random"] += 1


def sequences(spans):
    """Of the transfers of one thread in the order of ends: whether each begins where the one before ended."""
    places = {}
    for span in spans:
        kind = io_kind(span.event)
        span.sequence = None
        if kind in (None, "other") or not span.file:
            continue
        ret, offset = integer(span.args.get("ret", -1), -1), integer(span.args.get("offset", -1), -1)
        last_end, position = places.get(span.file, (None, 0))
        if kind == "open":
            places[span.file] = (None, 0)
        elif kind == "seek":
            places[span.file] = (last_end, ret if ret >= 0 else position)
        elif ret >= 0:
            start = offset if offset >= 0 else position
            span.sequence = None if last_end is None else start == last_end
            end = min(start + ret, 2**63 - 1)
            places[span.file] = (end, end if offset < 0 else position)


class Summary:
    def __init__(self, texts, group=lambda span: (span.event["name"], span.event["cat"])):
        self.spans, self.files = [], {"": "(no file)"}
        self.counts = collections.Counter()
        for source, text in enumerate(texts):
            events = list(oracle.events_of(text))
            unit = oracle.unit_of(events[:20])
            for event in events:
                phase = oracle.PHASES.get(event["ph"], event["ph"])
                self.counts[phase] += 1
                args = event.get("args", {})
                if phase == "M" and event["name"] == "FH":
                    self.files.setdefault(str(args["value"]), args["name"])
                if phase == "X":
                    self.spans.append(Span(source, event, unit))
        self._threads()
        self._groups(group)
        self._io()
        self._training()

    def _threads(self):
        self.threads = collections.defaultdict(list)
        for span in self.spans:
            self.threads[span.source, span.event["pid"], span.event["tid"]].append(span)
        self.thread_ns = sum(self_times(spans) for spans in self.threads.values())
        for spans in self.threads.values():
            sequences(spans)
        self.io_ns = sum(span.self for span in self.spans if io_kind(span.event))
        self.region_ns = sum(span.self for span in self.spans if not io_kind(span.event))
        self.time_ns = max(span.end for span in self.spans) - min(span.start for span in self.spans)
        self.users = [span for span in self.spans if not is_ours(span.event)]

    def _groups(self, group):
        self.groups = collections.defaultdict(list)
        for span in self.users:
            self.groups[group(span)].append(span)

    def _io(self):
        self.by_file, self.by_process = collections.defaultdict(IO), collections.defaultdict(IO)
        for span in self.users:
            kind = io_kind(span.event)
            if kind:
                self.by_file[span.file].count(span, kind, span.sequence)
                self.by_process[span.source, span.event["pid"]].count(span, kind, span.sequence)

    def _training(self):
        kinds = collections.defaultdict(list)
        for span in self.users:
            kind = ai_kind(span.event)
            if kind:
                kinds[span.source, span.event["pid"], kind].append((span.start, span.end))
        self.training = collections.Counter()
        for process in {key[:2] for key in kinds}:
            compute, fetch, data = (union(kinds[(*process, kind)]) for kind in ("compute", "fetch", "data"))
            self.training["compute_ns"] += length(compute)
            self.training["fetch_ns"] += length(fetch)
            self.training["data_ns"] += length(data)
            self.training["wait_ns"] += length(fetch) - shared(fetch, compute)
            self.training["hidden_ns"] += shared(data, compute)
            self.training["fetches"] += len(kinds[(*process, "fetch")])
            self.training["computes"] += len(kinds[(*process, "compute")])
