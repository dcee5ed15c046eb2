"""The numbers of dftracer summary, worked out again from docs/summary.md with json and arithmetic: no shared code."""

import collections
import fnmatch
import functools
import re

import oracle
import oracle_arrivals
import oracle_io
import oracle_regions
from oracle_events import (
    LOST,
    Span,
    ai_kind,
    events_of,
    integer,
    is_ours,
    length,
    percentile,
    self_times,
    typed,
    union,
)
from oracle_files import groups_of
from oracle_io import sum_of
from oracle_runs import Trace, runs_of
from oracle_training import Process, Training


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


def sites(joined):
    counts = collections.Counter(site for text in joined if text for site in re.findall(r".*?\)(?=; |$)(?:; )?", text))
    counts = collections.Counter({site.removesuffix("; "): n for site, n in counts.items()})
    return [{"site": site, "processes": n} for site, n in counts.items()]


class Summary(Training):
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
        for span in self.spans:
            span.until = float("inf") if until is None else origins[span.source] + until
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
            **self._communication(),
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
        kinds = [(ai_kind(span.event["name"], span.event["cat"]), span) for span in self.users]
        by_hand = [span for kind, span in kinds if kind == "comm" and span.event["cat"] != "MPI"]
        found = oracle_arrivals.Communication(
            self.users, by_hand, self.processes, (self._label, self.hosts), self.since is not None, self.lost["dropped"]
        )
        return found.documents(percentile)

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
            "split": self._split_document(),
            "regions_by_rank": self._regions(),
            "lost": {key: self.lost[key] for key in LOST}
            | {"unfinished_traces": sum(process.bookkeeping == {"start"} for process in self.processes.values())},
            "problem_count": 0,
            "problems": [],
            "accuracy": {"percentile_error": 0.0078125},
        }
