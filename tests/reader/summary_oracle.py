"""The numbers of dftracer summary, worked out again from docs/summary.md with json and arithmetic: no shared code."""

import bisect
import collections
import fnmatch
import functools
import itertools
import math
import re

import oracle
import oracle_io
import oracle_regions
from oracle_io import TOP, percentile, sum_of

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


@functools.lru_cache
def events_of(text):
    return list(oracle.events_of(text))


def integer(value, otherwise):
    if isinstance(value, (bool, int)):
        return int(value) if -(2**63) <= value < 2**63 else otherwise
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass
    return otherwise


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


@functools.lru_cache
def ai_kind(name, cat):
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
    if cat in ("data", "reader"):
        return "data"
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


# ---- Groups of files


def parts_of(path):
    """The path without its numbers, the numbers, and the extension ("" if it has none without a number)."""
    name = path.rpartition("/")[2]
    stem, _, extension = name.rpartition(".")
    if not stem or not re.match("[A-Za-z]", extension):
        stem, extension = name, ""
    is_kept = 0 < len(extension) <= 4
    text = path[: -len(extension)] if is_kept else path
    pattern = re.sub("[0-9]+", "#", text) + (extension if is_kept else "")
    has_number = not is_kept and re.search("[0-9]", extension)
    return pattern, re.findall("[0-9]+", text), "" if has_number or len(extension) > 10 else extension


def with_ranges(pattern, numbers):
    """numbers: for each file the list of its numbers."""
    for column in zip(*numbers):
        least, most = (pick(column, key=lambda text: (int(text), len(text))) for pick in (min, max))
        pattern = pattern.replace("#", least if least == most else f"{{{least}..{most}}}", 1)
    return pattern


class Line:
    """A line of the table before folding: files with one pattern."""

    def __init__(self, pattern, extension, files):
        self.pattern, self.extension, self.files = pattern, extension, files
        self.folder = pattern[: pattern.rfind("/") + 1]


def folded(lines, folder, large, numbers):
    """One line of many: its files, and its label; `numbers` of each file."""
    files = [file for line in lines for file in line.files]
    is_deep = any(line.folder != folder for line in lines)
    extensions = {line.extension for line in lines}
    extension = extensions.pop() if len(extensions) == 1 else ""
    is_rest = any(
        line.pattern.startswith(folder)
        and (is_deep or line.folder == folder)
        and (not extension or line.extension == extension)
        for line in large
    )
    shown = with_ranges(folder, [numbers[file][: folder.count("#")] for file in files])
    label = f"{shown}{'**/' if is_deep else ''}{{{len(files):,} {'other ' if is_rest else ''}files}}"
    result = Line(folder, extension, files)
    result.label, result.folder = label + (extension and "." + extension), folder + "*/" * is_deep
    return result


def groups_of(files):
    """Labels and files of docs/summary.md's groups; files: by hash the path, or None, and the I/O."""
    result, by_pattern, numbers = [], collections.defaultdict(list), {}
    extensions = {}
    for file, (path, _) in files.items():
        if not path or not file:
            result.append((path or file, [file]))
            continue
        pattern, numbers[file], extensions[pattern] = parts_of(path)
        by_pattern[pattern].append(file)
    lines = []
    for pattern, some in by_pattern.items():
        lines += [Line(pattern, extensions[pattern], one) for one in ([some] if len(some) > 2 else [[f] for f in some])]
    kinds = ("read_ns", "write_ns", "metadata_ns")
    time = {file: min(sum(io.numbers[kind] for kind in kinds), TOP) for file, (_, io) in files.items()}
    moved = {file: min(io.numbers["read_bytes"] + io.numbers["write_bytes"], TOP) for file, (_, io) in files.items()}
    large = [
        line
        for line in lines
        if any(
            min(sum(amount[file] for file in line.files), TOP) > min(sum(amount.values()), TOP) // 20
            for amount in (time, moved)
        )
    ]
    small = [line for line in lines if line not in large]
    folders = {line.folder[: i + 1] for line in small for i, c in enumerate(line.folder) if c == "/"} | {""}
    for folder in sorted(folders, key=lambda name: -name.count("/")):
        for extension in {line.extension for line in small} - {""}:
            alike = [line for line in small if line.folder == folder and line.extension == extension]
            if len(alike) > 4:
                small = [line for line in small if line not in alike] + [folded(alike, folder, large, numbers)]
        inside = [line for line in small if line.folder.startswith(folder)]
        if folder in ("", "/"):
            inside = [line for line in inside if line.folder == folder]
        if len(inside) > 4:
            small = [line for line in small if line not in inside] + [folded(inside, folder, large, numbers)]
    for line in large + small:
        label = getattr(line, "label", None) or with_ranges(line.pattern, [numbers[file] for file in line.files])
        result.append((label, line.files))
    return result


def sequences(spans):
    """Of the transfers of one thread in the order of ends: whether each begins where the one before ended."""
    places = {}
    for span in spans:
        kind = span.kind
        span.sequence = None
        if kind in (None, "copy", "map", "other") or not span.file:
            continue
        ret, offset = -1 if span.result is None else span.result, integer(span.args.get("offset", -1), -1)
        last_end, position = places.get(span.file, (None, 0))
        if kind == "open":
            places[span.file] = (None, 0)
        elif kind == "seek":
            places[span.file] = (last_end, ret if ret >= 0 else position)
        elif kind != "move" and span.result is None:
            places[span.file] = (None, position)
        elif kind == "move" and ret >= 0:
            whence = integer(span.args.get("whence", 0), None)
            if whence in (0, 1):
                goal = offset + (position if whence else 0)
                places[span.file] = (last_end, goal if 0 <= goal < 2**63 else 0)
            else:
                places[span.file] = (None, position)
        elif kind != "move" and ret > 0:
            start = offset if offset >= 0 else position
            span.sequence = None if last_end is None else start == last_end
            end = min(start + ret, 2**63 - 1)
            places[span.file] = (end, end if offset < 0 else position)


def innermost(windows, span):
    """Of windows in the order of starts, the longer ones first: the last one that contains the span, else the last one
    that it starts in. The number of it; None: there is none."""
    begun = windows[: bisect.bisect_right(windows, (span.start, math.inf))]
    for other in (lambda end: end >= span.end, lambda end: end > span.start):
        for _, minus_end, number in reversed(begun):
            if other(-minus_end):
                return number
    return None


def number_epochs(events):
    """Windows of events of kind epoch. If none has a number, they are numbered as they come; those inside of others
    are the same epoch."""
    if any(span.epoch is not None for span in events):
        return sorted((span.start, -span.end, -math.inf if span.epoch is None else span.epoch) for span in events)
    windows, number = [], 0
    for start, minus_end in sorted((span.start, -span.end) for span in events):
        outer = [known for begin, other, known in windows if begin <= start and -other >= -minus_end]
        inside = outer or [known for begin, other, known in windows if -other > start]
        number += not inside
        windows.append((start, minus_end, outer[-1] if outer else inside[-1] if inside else number))
    return windows


def places(spans, is_worker):
    """Sets epoch and step of all events of a process, numbers or None; those of a worker are not known."""
    spans = [span for span in spans if not is_ours(span.event)]
    for span in spans:
        span.epoch = integer(span.args.get("epoch"), -1)
        span.epoch = span.epoch if span.epoch >= 0 else None
        span.step = integer(span.args.get("step"), None)
    epochs = [span for span in spans if ai_kind(span.event["name"], span.event["cat"]) == "epoch"]
    windows = number_epochs(epochs)
    if not epochs:
        windows = sorted((span.start, -span.end, span.epoch) for span in spans if span.epoch is not None)
    numbered = sorted((span.start, -span.end, span.step) for span in spans if span.step is not None)
    for span in spans:
        if epochs or span.epoch is None:
            span.epoch = innermost(windows, span)
        if span.epoch == -math.inf:
            span.epoch = None
        if span.step is None:
            span.step = innermost(numbered, span)
        span.place = ("", "") if is_worker else tuple("" if n is None else str(n) for n in (span.step, span.epoch))


class Process:
    """A pid in one file."""

    def __init__(self, source, pid):
        self.source, self.pid = source, pid
        self.host, self.rank, self.parent, self.command = "", None, 0, ""
        self.facts = {}
        self.bookkeeping = set()
        self.counts = collections.Counter()
        self.work = collections.defaultdict(list)  # by kind: spans of time

    def trains(self):
        return bool(self.counts["compute"] or self.counts["fetch"])


class Trace:
    """What the lines of one file say of the run that it is of."""

    def __init__(self, source, text):
        events = events_of(text)
        unit = oracle.unit_of(events[:20])
        self.source, self.ranks = source, set()
        self.times, self.starts, self.ids = [], [], []
        for event in events:
            args = event.get("args", {})
            if oracle.PHASES.get(event["ph"], event["ph"]) == "X":
                self.times.append((event["ts"] * unit, (event["ts"] + max(event["dur"], 0)) * unit))
                if is_ours(event) and event["name"] == "start":
                    self.starts.append(event["ts"] * unit)
                    self.ids += [args["run"]] if "run" in args else []
            elif event["name"] == "PR" and args["name"] == "rank":
                self.ranks.add(args["value"])
        self.id = min(self.ids, default=None)
        self.first = min((start for start, _ in self.times), default=None)
        self.last = max((end for _, end in self.times), default=None)
        self.begin = min(self.starts, default=self.first)


def overlap(one, two):
    return min(trace.first for trace in one) <= max(trace.last for trace in two) and min(
        trace.first for trace in two
    ) <= max(trace.last for trace in one)


def ranks_of(traces):
    return {rank for trace in traces for rank in trace.ranks}


def runs_of(traces):
    """Lists of traces, the oldest run first; those without events are in none."""
    with_id, rest = collections.defaultdict(list), []
    for trace in traces:
        if trace.id is not None:
            with_id[trace.id].append(trace)
        elif trace.times:
            rest.append([trace])
    again = True
    while again:  # until nothing overlaps any more
        again = False
        for one, two in itertools.combinations(rest, 2):
            if overlap(one, two):
                rest.remove(two)
                one += two
                again = True
                break
    runs, known = [], list(with_id.values())
    spans = [list(run) for run in known]  # before others join them
    for part in sorted(rest, key=lambda part: min(trace.first for trace in part)):
        around = [run for run, span in zip(known, spans) if overlap(part, span)]
        begin = min(trace.first for trace in part)
        if len(around) == 1:
            around[0] += part
        elif runs and begin - max(trace.last for trace in runs[-1]) < 10**9 and not ranks_of(part) & ranks_of(runs[-1]):
            runs[-1] += part
        else:
            runs.append(part)
    return sorted(known + runs, key=lambda run: min(trace.first for trace in run))


def sites(joined):
    counts = collections.Counter(site for text in joined if text for site in re.findall(r".*?\)(?=; |$)(?:; )?", text))
    counts = collections.Counter({site.removesuffix("; "): n for site, n in counts.items()})
    return [{"site": site, "processes": n} for site, n in counts.items()]


class Summary:
    """document() is what summary --json must print; `by` may be set anew. since, until: nanoseconds. run: a number,
    "all", or None for the newest."""

    def __init__(self, texts, by="name", since=None, until=None, names=(), cats=(), run=None):
        self.since = since
        traces = [Trace(source, text) for source, text in enumerate(texts)]
        self.runs, self.facts = runs_of(traces), []
        self.run = len(self.runs) if run is None else run
        chosen = {trace.source for trace in traces if not trace.times}
        for number, own in enumerate(self.runs, 1):
            if self.run in ("all", number):
                chosen |= {trace.source for trace in own}
        self.all_texts = texts
        self.by, self.sources = by, len(chosen)
        self.names, self.cats = names or ("*",), cats or ("*",)
        self.files, self.hosts, self.texts = {"": "(no file)"}, {}, {}
        self.counts, self.lost = collections.Counter(), collections.Counter()
        self.processes = {}
        self.lost_fetches = 0
        for source, text in enumerate(texts):
            if source not in chosen:
                self._names(text)
        spans = [span for source in sorted(chosen) for span in self._read(source, texts[source])]
        origins = {trace.source: min(other.begin for other in own) for own in self.runs for trace in own}

        def is_in_time(span):
            time = span.start - origins[span.source]
            return (since is None or time >= since) and (until is None or time < until)

        self.spans = [span for span in spans if is_in_time(span)]
        self.is_in_time = is_in_time
        self.users = [span for span in self.spans if not is_ours(span.event)]
        self._threads()
        self._training()

    # ---- Reading

    def _read(self, source, text):
        events = events_of(text)
        unit = oracle.unit_of(events[:20])
        for event in events:
            phase, args = oracle.PHASES.get(event["ph"], event["ph"]), event.get("args", {})
            key = (source, event["pid"])
            if key not in self.processes:
                self.processes[key] = Process(*key)
            process = self.processes[key]
            if "hhash" in args:
                process.host = str(args["hhash"])
                self.hosts.setdefault(process.host, process.host)
            self.lost_fetches += (args.get("name"), args.get("value")) == ("not_recorded", "fetch")
            self.counts[phase if phase in ("X", "M", "C") else "others"] += 1
            if phase == "M":
                self._define(process, event["name"], args)
            elif phase == "X":
                if is_ours(event):
                    process.parent = args.get("ppid", process.parent)
                    process.bookkeeping.add(event["name"])
                    process.facts |= args
                    process.command = str(args.get("cmd_hash", args.get("exec_hash", process.command)))
                    self.lost["dropped"] += args.get("num_dropped", 0)
                    self.lost["recovered_traces"] += bool(args.get("recovered"))
                yield Span(source, event, unit)

    def _define(self, process, name, args):
        if name == "FH":
            self.files[str(args["value"])] = args["name"]
        elif name == "HH":
            self.hosts[str(args["value"])] = args["name"]
        elif name == "SH":
            self.texts[str(args["value"])] = args["name"]
        elif name == "PR" and args["name"] == "rank":
            process.rank = int(args["value"])

    def _names(self, text):
        for event in events_of(text):
            names = {"FH": self.files, "SH": self.texts}.get(event["name"])
            if names is not None and oracle.PHASES.get(event["ph"], event["ph"]) == "M":
                names[str(event["args"]["value"])] = event["args"]["name"]

    # ---- Parts

    def _threads(self):
        self.threads = collections.defaultdict(list)
        for span in self.spans:
            self.threads[span.thread].append(span)
        self.thread_ns = sum(self_times(spans) for spans in self.threads.values())
        for spans in self.threads.values():
            sequences(spans)
            oracle_io.place(spans)

    def _wanted(self):
        @functools.lru_cache
        def is_wanted(name, cat):
            return any(fnmatch.fnmatchcase(name, one) for one in self.names) and any(
                fnmatch.fnmatchcase(cat, one) for one in self.cats
            )

        return [span for span in self.users if is_wanted(span.event["name"], span.event["cat"])]

    def _label(self, key):
        process = self.processes[key]
        host = self.hosts.get(process.host, "")
        return f"{host}{':' if host else ''}{process.pid}" + ("" if process.rank is None else f" rank {process.rank}")

    def _who(self, key):
        process = self.processes[key]
        command = typed(self.texts.get(process.command, ""))
        return {"process": self._label(key), "rank": process.rank, "command": command or None}

    def _group(self, span):
        """What tells the group from others, and how it is called."""
        if self.by == "name":
            key = (span.event["name"], span.event["cat"])
            return key, dict(zip(("name", "cat"), key))
        if self.by == "file":
            return span.file, {"file": self.files.get(span.file, span.file)}
        if self.by == "process":
            return span.process, self._who(span.process)
        if self.by == "thread":
            return span.thread, {"thread": str(span.event["tid"])} | self._who(span.process)
        if self.by == "rank":
            return self.processes[span.process].rank, {"rank": self.processes[span.process].rank}
        return span.place, dict(zip(("step", "epoch"), span.place))

    def _groups(self):
        groups, titles = collections.defaultdict(list), {}
        for span in self._wanted():
            key, title = self._group(span)
            groups[key].append(span)
            titles[key] = title
        for key, spans in groups.items():
            times = [span.time for span in spans]
            yield titles[key] | {
                "count": len(spans),
                "total_ns": sum(times),
                "self_ns": sum(span.self for span in spans),
                "mean_ns": sum(times) // len(spans),
                "median_ns": percentile(times, 0.5),
                "p95_ns": percentile(times, 0.95),
                "min_ns": min(times),
                "max_ns": max(times),
            }

    def _io(self):
        tables = oracle_io.Tables()
        files = tables.files
        busy, failures = {"read": [], "write": []}, collections.Counter()
        for span in self._wanted():
            transfers = [(span.kind, span.file)] if span.kind else []
            if span.kind == "copy":
                transfers = [("read", span.file), ("write", span.second_file)]
            if span.event["cat"] in ("POSIX", "STDIO"):
                tables.call(span, span.kind)
            if span.event["cat"] in ("POSIX", "STDIO") and span.is_failed:
                failures[(span.event["name"], self.files.get(span.file, span.file), span.error)] += 1
            for part, file in transfers:
                if part in busy and (span.result or 0) > 0:
                    busy[part].append((span.start, span.end))
                tables.transfer(span, part, file)
        return {
            "all": tables.everything.document(),
            "calls": tables.call_lines(),
            "folders": tables.folders(self.files),
            "job": {f"{part}_ns": length(union(spans)) for part, spans in busy.items()},
            "failures": [dict(zip(("name", "file", "errno", "count"), (*key, n))) for key, n in failures.items()],
            "files": [{"file": self.files.get(file, file)} | io.document() for file, io in files.items()],
            "file_groups": [
                {"group": label, "files": len(some), **sum_of([files[file] for file in some]).document()}
                for label, some in groups_of({file: (self.files.get(file), io) for file, io in files.items()})
            ],
            "processes": [self._who(key) | io.document() for key, io in tables.processes.items()],
        }

    def _regions(self):
        regions = [span for span in self._wanted() if span.event["cat"] not in ("POSIX", "STDIO")]
        living = {span.process for span in self.spans}
        return list(oracle_regions.regions_by_rank(regions, living, self.processes, self._label))

    def _training(self):
        for span in self.users:
            kind = ai_kind(span.event["name"], span.event["cat"])
            if not kind:
                continue
            process = self.processes[span.process]
            process.counts[kind] += 1
            process.counts[kind + "_ns"] += span.time
            process.counts["update"] += (span.event["name"], span.event["cat"]) == ("step", "compute")
            process.work["fetch" if kind == "start" else kind].append((span.start, span.end))
            if kind not in ("data", "checkpoint"):
                process.work["loop"].append((span.start, span.end))
        self._places()

    def _places(self):
        """The epochs of trainers: events, by kind, and the times that the epoch covers."""
        own = collections.defaultdict(list)
        for span in self.users:
            own[span.process].append(span)
        self.epochs = collections.defaultdict(lambda: {"events": [], "extent": [], "busy": collections.Counter()})
        for key, spans in own.items():
            process = self.processes[key]
            places(spans, not process.trains() and process.counts["data"] > 0)
            if not process.trains():
                continue
            kinds = [(ai_kind(span.event["name"], span.event["cat"]), span) for span in spans]
            has_epochs = any(kind == "epoch" for kind, _ in kinds)
            done = {}
            for kind, span in sorted(kinds, key=lambda pair: (pair[1].start, pair[1].end)):
                work = "fetch" if kind == "start" else kind
                if kind in (None, "data") or (span.epoch is None and work not in ("fetch", "compute")):
                    continue
                epoch = self.epochs[span.epoch]
                epoch["events"].append(kind)
                epoch["busy"][work] += max(0, span.end - max(span.start, done.get(work, 0)))
                done[work] = max(done.get(work, 0), span.end)
                if kind == "epoch" or span.epoch is None or not has_epochs:
                    epoch["extent"].append((span.start, span.end))

    def _trainer(self, process):
        """Who a process loads for: the nearest that trains of it and its ancestors, else the only one of its rank."""
        at = process
        for _ in range(len(self.processes)):
            if at.trains():
                return at
            parents = [one for one in self.processes.values() if (one.host, one.pid) == (at.host, at.parent)]
            if not parents:
                break
            at = min(parents, key=lambda one: (not one.trains(), one.source))
        trainers = [one for one in self.processes.values() if one.trains()]
        alike = [one for one in trainers if (one.host, one.rank) == (process.host, process.rank)]
        return alike[0] if len(alike) == 1 else process

    def _training_document(self):
        counts = sum((process.counts for process in self.processes.values()), collections.Counter())
        if not counts["compute"] and not counts["fetch"]:
            return None
        loading = collections.defaultdict(list)
        for process in self.processes.values():
            loading[self._trainer(process)] += process.work["data"]
        times = collections.Counter()
        for process in self.processes.values():
            compute, fetch, data = union(process.work["compute"]), union(process.work["fetch"]), union(loading[process])
            times["compute_ns"] += length(compute)
            times["fetch_ns"] += length(fetch)
            times["data_ns"] += length(data)
            times["wait_ns"] += length(fetch) - shared(fetch, compute)
            times["hidden_ns"] += shared(data, compute)
        trainers = [process for process in self.processes.values() if process.trains()]
        for process in trainers:
            own = [span for span in self.spans if span.process == (process.source, process.pid)]
            first, last = (pick(side) for pick, side in zip((min, max), zip(*process.work["loop"])))
            times["startup_ns"] += first - min(span.start for span in own)
            times["loop_ns"] += last - first
            times["data_in_loop_ns"] += shared(union(loading[process]), [(first, last)])
            times["teardown_ns"] += max(span.end for span in own) - last
        if self.lost_fetches or not (counts["fetch"] or counts["start"]):
            times["fetch_ns"] = times["wait_ns"] = None
        step = "step" if counts["step"] else "update" if counts["update"] else "fetch"
        return {
            **times,
            "processes": sum(process.trains() for process in self.processes.values()),
            "epochs": sum(number is not None for number in self.epochs),
            "steps": max(process.counts[step] for process in self.processes.values()),
            "steps_least": min(process.counts[step] for process in trainers),
            "fetches": counts["fetch"],
            "computes": counts["compute"],
            **{f"{kind}_ns": counts[f"{kind}_ns"] for kind in ("comm", "device", "checkpoint")},
            "by_epoch": [self._epoch_document(number) for number in self.epochs],
        }

    def _epoch_document(self, number):
        epoch = self.epochs[number]
        return {
            "epoch": number,
            "fetches": epoch["events"].count("fetch"),
            "computes": epoch["events"].count("compute"),
            "fetch_ns": epoch["busy"]["fetch"],
            "compute_ns": epoch["busy"]["compute"],
            "start_ns": min(start for start, _ in epoch["extent"]),
            "end_ns": max(end for _, end in epoch["extent"]),
        }

    def _job_document(self):
        processes = list(self.processes.values())
        costs = [process.facts for process in processes if "finish_ns" in process.facts]
        world = max((process.facts.get("world_size", 0) for process in processes), default=0)
        world = 0 if self.run == "all" and len(self.runs) > 1 else world
        missing = sorted(set(range(world)) - {process.rank for process in processes})
        gaps = []
        for rank in missing:
            if gaps and gaps[-1]["last"] == rank - 1:
                gaps[-1]["last"] = rank
            else:
                gaps.append({"first": rank, "last": rank})

        def regions(count, names):
            counts = [process.facts.get(count, 0) for process in processes]
            found = sites([process.facts.get(names) for process in processes])
            return {"count": sum(counts), "processes": sum(n > 0 for n in counts), "sites": found}

        return {
            "run": self.run,
            "runs": [self._run_document(number, run) for number, run in enumerate(self.runs, 1)],
            "world_size": world or None,
            "missing_ranks": gaps,
            "tracing": {
                "processes": len(costs),
                "finish_most_ns": max((cost["finish_ns"] for cost in costs), default=0),
                **{key: sum(cost[key] for cost in costs) for key in ("finish_ns", "drain_cpu_ns", "assist_ns")},
            },
            "regions": {
                "unmatched_ends": regions("unmatched_ends", "unmatched_sites"),
                "never_ended": regions("open_regions", "open_sites"),
            },
            "workers_without_trainer": 0,
            "communication": list(self._communication()),
        }

    def _run_document(self, number, run):
        """Of any run: what is in the time that was asked for, too, but when it ran is not."""
        own, commands, first = [], {}, None
        for text in self.all_texts:
            commands |= {str(e["args"]["value"]): e["args"]["name"] for e in events_of(text) if e["name"] == "SH"}
        for trace in run:
            events = events_of(self.all_texts[trace.source])
            unit = oracle.unit_of(events[:20])
            complete = [event for event in events if oracle.PHASES.get(event["ph"], event["ph"]) == "X"]
            own += [span for event in complete if self.is_in_time(span := Span(trace.source, event, unit))]
            for event in complete:
                args = event.get("args", {})
                known = args.get("cmd_hash", args.get("exec_hash", "")) if is_ours(event) else ""
                here = (trace.begin, event["pid"], str(known))
                if first is None or here[:2] < first[:2] or (here[:2] == first[:2] and known):
                    first = here
        return {
            "run": number,
            "id": min((trace.id for trace in run if trace.id), default=None),
            "start_ns": min(trace.first for trace in run),
            "end_ns": max(trace.last for trace in run),
            "processes": self._living(own, run)[0],
            "events": sum(not is_ours(span.event) for span in own),
            "command": typed(commands.get(first[2], "")) or None,
        }

    def _living(self, spans, run):
        """Processes and threads: in a run with an id, the next trace of a pid is of the same process."""
        found, threads = {}, set()  # (source, pid) -> its process
        for trace in run:
            own = [span for span in spans if span.source == trace.source]
            for pid in {span.event["pid"] for span in own}:
                found[trace.source, pid] = [min(s.start for s in own), max(s.end for s in own), trace.id]
        before = {}  # (host, pid) -> the trace before, and when all so far end
        for key, (start, end, identity) in sorted(found.items(), key=lambda item: item[1][:2]):
            who = (self._host_of(*key), key[1])
            same, until = before.get(who, (None, None)) if identity is not None else (None, None)
            found[key] = same if same is not None and start >= until else key
            if identity is not None:
                before[who] = found[key], max(end, until if until is not None else end)
        for span in spans:
            key = (span.source, span.event["pid"])
            if key in found:
                threads.add((found[key], span.event["tid"]))
        return len(set(found.values())), len(threads)

    @functools.cache  # noqa: B019 - a summary lives for one test
    def _host_of(self, source, pid):
        hosts = [
            event["args"]["hhash"]
            for event in events_of(self.all_texts[source])
            if event["pid"] == pid and "hhash" in event.get("args", {})
        ]
        return hosts[-1] if hosts else None

    def _communication(self):
        """The n-th call of all ranks is the same one."""
        calls = collections.defaultdict(lambda: collections.defaultdict(list))
        for span in self.users:
            if ai_kind(span.event["name"], span.event["cat"]) == "comm":
                calls[span.event["name"]][span.process].append((span.start, span.end))
        for name, by_process in calls.items():
            numbers = [len(own) for own in by_process.values()]
            callers = [self.processes[key] for key in by_process]
            ranks = [process.rank for process in callers]
            unknown, waited, last = None, 0, collections.Counter()
            if name in ("send", "receive", "recv", "isend", "irecv"):
                unknown = "point to point"
            elif len(callers) == 1:
                unknown = "only one process called it"
            elif None in ranks:
                unknown = "a process has no rank"
            elif len(set(ranks)) < len(ranks):
                unknown = "two processes have the same rank"
            elif max(numbers) - min(numbers) > (self.since is None and not self.lost["dropped"]):
                unknown = "the ranks made different numbers of calls"
            else:
                for meeting in zip(*(sorted(own) for own in by_process.values())):
                    latest = max(start for start, _ in meeting)
                    waited += sum(min(end, latest) - start for start, end in meeting)
                    late = [rank for rank, (start, _) in zip(ranks, meeting) if start == latest]
                    last.update(late if len(late) == 1 else [])
            rank, times = min(last.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))
            yield {
                "name": name,
                "processes": len(callers),
                "hosts": len({process.host for process in callers}),
                "calls": sum(numbers),
                "calls_least": min(numbers),
                "calls_most": max(numbers),
                "time_ns": sum(end - start for own in by_process.values() for start, end in own),
                "unknown": unknown,
                "waited_ns": None if unknown else waited,
                "last_rank": rank,
                "last_calls": times,
            }

    def document(self):
        start, end = min(span.start for span in self.spans), max(span.end for span in self.spans)
        io_ns = sum(span.self for span in self.spans if span.kind)
        process_ns = sum(span.self for span in self.spans if span.is_process_call)
        region_ns = sum(span.self for span in self.spans if not span.kind and not span.is_process_call)
        shown = [own for number, own in enumerate(self.runs, 1) if self.run in ("all", number)]
        living = [self._living(self.spans, own) for own in shown]
        return {
            "traces": self.sources,
            "events": len(self.users),
            "counters": self.counts["C"],
            "metadata": self.counts["M"],
            "other_records": self.counts["others"],
            "processes": sum(processes for processes, _ in living),
            "threads": sum(threads for _, threads in living),
            "hosts": len(self.hosts),
            "job": {
                "start_ns": start,
                "end_ns": end,
                "time_ns": end - start,
                "thread_ns": self.thread_ns,
                "region_ns": region_ns,
                "process_ns": process_ns,
                "io_ns": io_ns,
                "outside_ns": self.thread_ns - region_ns - process_ns - io_ns,
            },
            **self._job_document(),
            "by": self.by,
            "groups": list(self._groups()),
            "io": self._io(),
            "training": self._training_document(),
            "regions_by_rank": self._regions(),
            "lost": {key: self.lost[key] for key in LOST}
            | {"unfinished_traces": sum(process.bookkeeping == {"start"} for process in self.processes.values())},
            "problem_count": 0,
            "problems": [],
            "accuracy": {"percentile_error": 0.0078125},
        }
