"""Communication in dftracer summary, worked out again from docs/summary.md: who met whom, who waited, what went where.

Brute force, with dictionaries and lists. Clocks of several hosts are beyond it: it wants traces in which nothing bounds
them (test_arrivals.py has those whose clocks are known).
"""

import collections
import itertools
import re

import oracle_delays

POINT = {"send": "send", "bsend": "send", "ssend": "send", "rsend": "send", "recv": "receive", "mprobe": "receive"}
POINT |= {"sendrecv": "both", "sendrecv_replace": "both"}
ONE_SIDED = {"put": "to", "rput": "to", "accumulate": "to", "raccumulate": "to", "get": "from", "rget": "from"}
FINISHES = {f"{verb}{what}" for verb in ("wait", "test") for what in ("", "all", "any", "some")}
TO_ALL = {"barrier", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce_scatter"}
TO_ALL |= {"reduce_scatter_block", "cart_create", "cart_sub", "graph_create", "dist_graph_create"}
TO_ALL |= {"dist_graph_create_adjacent", "win_create", "win_allocate", "win_allocate_shared", "win_create_dynamic"}
TO_ALL |= {
    f"comm_{what}" for what in ("dup", "dup_with_info", "split", "split_type", "create", "idup", "idup_with_info")
}
FROM_ROOT, TO_ROOT = {"bcast", "scatter", "scatterv"}, {"reduce", "gather", "gatherv"}
PARTLY = {"scan", "exscan"} | {f"neighbor_{what}{v}" for what in ("allgather", "alltoall") for v in ("", "v", "w")}
FENCES = {"barrier", "allreduce", "allgather", "alltoall", "reduce_scatter_block"}
ALL_NAMES = {*POINT, *ONE_SIDED, *FINISHES, *TO_ALL, *FROM_ROOT, *TO_ROOT, *PARTLY}
ALL_NAMES |= {"start", "startall", "probe", "iprobe", "improbe"}


def plain(name):
    """MPI_Iallreduce_c -> ("allreduce", "begins")"""
    name = re.sub(r"_c$", "", name.removeprefix("MPI_").lower())
    if name.endswith("_init"):
        return name[: -len("_init")].removeprefix("i") if name not in ALL_NAMES else name, "prepares"
    if name in ALL_NAMES:
        return name, "begins" if name.startswith(("comm_idup", "rput", "rget", "raccumulate")) else ""
    return (name[1:], "begins") if name[:1] == "i" and name[1:] in ALL_NAMES else (name, "")


def is_collective(word):
    return word in TO_ALL | FROM_ROOT | TO_ROOT | PARTLY


def kind_of(name):
    word = plain(name)[0]
    for kind, names in (("all", TO_ALL), ("from root", FROM_ROOT), ("to root", TO_ROOT), ("partly", PARTLY)):
        if word in names:
            return kind
    return "point to point" if word in {*POINT, *FINISHES, "probe"} else "other"


def union_length(spans):
    length, end = 0, None
    for start, until in sorted(spans):
        start = start if end is None else max(start, end)
        length += max(until - start, 0)
        end = max(until, end if end is not None else until)
    return length


class Call:
    """One call at a meeting, or one side of a message."""

    def __init__(self, span, wait):
        self.name, self.args, self.process = span.event["name"], span.args, span.process
        self.start, self.wait = span.start, wait  # None: not known


class Communication:
    def __init__(self, spans, by_hand, processes, names, is_cut_off, has_lost):
        self.processes, (self.label, self.hosts) = processes, names
        self.is_cut_off, self.has_lost = is_cut_off, has_lost
        self.hand, self.mpi = by_hand, [span for span in spans if span.event["cat"] == "MPI"]
        self.files = [span for span in spans if span.event["cat"] == "MPIIO"]
        self.waits = collections.defaultdict(list)  # by process: (start, until, name, cause)
        self.last = collections.defaultdict(collections.Counter)  # by call: how often a process came last
        self.meetings = collections.Counter()
        self.hand_waits = collections.Counter()
        self.unknown = {}
        self.counts = collections.Counter()
        self.delays = oracle_delays.Delays(spans, self.hand + self.mpi)
        self._find_waits()
        self._meet()
        self._match_messages()

    def _find_waits(self):
        ends = {}
        for span in sorted(self.mpi, key=lambda span: (span.start, span.end)):
            if plain(span.event["name"])[0] in FINISHES:
                for number in range(1, 9):
                    if f"start_{number}" in span.args:
                        ends.setdefault((span.process, span.args[f"start_{number}"]), (span.start, span.end))
        self.completed = ends

    def _call(self, span):
        if plain(span.event["name"])[1] != "begins":
            return Call(span, (span.start, span.end))
        wait = self.completed.get((span.process, span.event["id"]))
        self.counts["unknown_waits"] += wait is None and plain(span.event["name"])[0] in ("recv", "sendrecv")
        return Call(span, wait)

    def _meet(self):
        groups = collections.defaultdict(lambda: collections.defaultdict(list))
        for span in self.hand:
            groups["comm", span.event["name"]][span.process].append(Call(span, (span.start, span.end)))
        for span in self.mpi:
            word, what = plain(span.event["name"])
            if is_collective(word) and what != "prepares":
                size = "two groups" if span.args.get("remote_size", 0) > 0 else span.args.get("comm_size", 0)
                key = ("MPI", span.args.get("comm", 0), size)
                groups[key][span.process].append(self._call(span))
        for key, members in sorted(groups.items(), key=str):
            for calls in members.values():
                calls.sort(key=lambda call: call.start)
            why = self._why_unknown(key, members)
            if why:
                self.unknown |= {(key[0], call.name): why for calls in members.values() for call in calls}
                continue
            for meeting in zip(*members.values()):
                self._count(key[0], meeting)

    def _why_unknown(self, key, members):
        ranks = [self.processes[process].rank for process in members]
        numbers = [len(calls) for calls in members.values()]
        if key[0] == "comm" and key[1] in ("send", "receive", "recv", "isend", "irecv"):
            return "point to point"
        if key[0] == "comm" and len(members) == 1:
            return "only one process called it"
        if None in ranks:
            return "a process has no rank"
        if len(set(ranks)) < len(ranks):
            return "two processes have the same rank"
        if key[0] == "MPI" and not key[2]:
            return "the trace has no communicators"
        if key[-1] == "two groups":
            return "a rank waits for another group"
        if key[0] == "MPI" and len(members) != key[2]:
            few = len(members) < key[2]
            return "some ranks have no such call in the traces" if few else "two communicators have the same id"
        if max(numbers) - min(numbers) > (not self.is_cut_off and not self.has_lost):
            return "the ranks made different numbers of calls"
        for meeting in zip(*members.values()):
            if len({call.name for call in meeting}) > 1:
                return "the ranks called different functions"
            if self._is_impossible(key[0], meeting):
                return "some calls are missing: ranks left before others came"
        return None

    def _is_impossible(self, cat, meeting):
        word = plain(meeting[0].name)[0]
        has_data = word == "barrier" or all(call.args.get("bytes", 0) > 0 for call in meeting)
        if cat != "MPI" or word not in FENCES or not has_data or any(call.wait is None for call in meeting):
            return False
        hosts = {self.processes[call.process].host for call in meeting}
        assert len(hosts) == 1, "this oracle knows nothing of clocks"
        return min(call.wait[1] for call in meeting) + 2000 < max(call.start for call in meeting)

    def _count(self, cat, meeting):
        name, kind = meeting[0].name, "all" if cat == "comm" else kind_of(meeting[0].name)
        if kind == "partly":
            return
        self.meetings[cat, name] += 1
        roots = [call for call in meeting if self.processes[call.process].rank == call.args.get("root")]
        awaited = roots if kind == "from root" else [call for call in meeting if call not in roots]
        awaited = list(meeting) if kind == "all" else awaited
        if not awaited or len(meeting) < 2:
            return
        came = max(call.start for call in awaited)
        late = [call for call in awaited if call.start == came]
        cause = late[0].process if len(late) == 1 else None
        has_waiter = kind == "all"
        waits = []
        for call in roots if kind == "to root" else meeting:
            start, until = (call.wait[0], min(call.wait[1], came)) if call.wait else (0, 0)
            if until > start and call is not late[0]:
                has_waiter = True
                self.waits[call.process].append((start, until, (name, cat), cause))
                self.hand_waits[cat, name] += until - start
                waits.append((start, until))
        if cause and waits:
            times = min(start for start, _ in waits), max(until for _, until in waits)
            waited = sum(until - start for start, until in waits)
            self.delays.add(cause, *times, waited, [(cat, name), cause])
        if cause and has_waiter:
            self.last[cat, name][cause] += 1

    def _match_messages(self):
        """By (receiver, sender, communicator), then by tag."""
        by_rank = collections.defaultdict(list)
        for key in {span.process for span in self.mpi}:
            by_rank[self.processes[key].rank].append(key)
        sent, got = collections.defaultdict(list), collections.defaultdict(list)
        for span in self.mpi:
            word, what = plain(span.event["name"])
            if word not in POINT or what == "prepares":
                continue
            rank, comm = self.processes[span.process].rank, span.args.get("comm", 0)
            if POINT[word] != "receive" and "peer" in span.args:
                sent[span.args["peer"], rank, comm].append((span.args.get("tag", -1), span.start, span.process))
            source = span.args.get("source" if POINT[word] == "both" else "peer")
            if POINT[word] != "send" and source is None:
                self.counts["unknown_sources"] += word == "recv" and span.args.get("bytes", 0) > 0
            elif POINT[word] != "send":
                self.counts["received"] += 1
                tag = span.args.get("source_tag" if POINT[word] == "both" else "tag", -1)
                got[rank, source, comm].append((tag, self._call(span)))
        for (_, source, comm), calls in got.items():
            self._find_probes(source, comm, [call for _, call in calls])
        for place, calls in got.items():
            if all(len(by_rank[rank]) == 1 and rank is not None for rank in place[:2]):
                self._deliver(sent[place], calls)

    def _find_probes(self, source, comm, calls):
        """A receive waited in the last probe of its message since the receive before it."""
        before = {}
        for call in sorted(calls, key=lambda call: call.start):
            tag = call.args.get("source_tag" if POINT[plain(call.name)[0]] == "both" else "tag")
            key = (call.process, tag)
            probes = [
                span
                for span in self.mpi
                if span.process == call.process
                and span.event["name"] == "MPI_Probe"
                and (span.args.get("peer"), span.args.get("comm", 0)) == (source, comm)
                and span.args.get("tag") == tag
                and before.get(key, span.start - 1) < span.start <= call.start
            ]
            if probes:
                last = max(probes, key=lambda span: span.start)
                call.wait = (last.start, last.end)
            before[key] = call.start

    def _deliver(self, sent, calls):
        tags = {tag for tag, *_ in sent}
        by_tag = collections.defaultdict(list)
        for tag, call in calls:
            by_tag[next(iter(tags)) if tag == -1 and len(tags) == 1 else tag].append(call)
        for tag, own in by_tag.items():
            sends = sorted((start, process) for other, start, process in sent if other == tag)
            if tag == -1 or len(sends) != len(own) or self.is_cut_off:
                continue
            self.counts["matched"] += len(own)
            for (start, sender), call in zip(sends, sorted(own, key=lambda call: call.start)):
                if call.wait and min(start, call.wait[1]) > call.wait[0]:
                    until = min(start, call.wait[1])
                    self.waits[call.process].append((call.wait[0], until, ("~", ""), sender))
                    self.delays.add(sender, call.wait[0], until, until - call.wait[0], [sender])

    # ---- Documents ----

    def _swept(self):
        """Every moment counts once: for the wait that began first, then for the one that ends first."""
        own, caused = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
        for process, waits in self.waits.items():
            moments = sorted({moment for wait in waits for moment in wait[:2]})
            waits = sorted(waits, key=lambda wait: (wait[:3], str(wait[3])))
            for left, right in itertools.pairwise(moments):
                owner = next((wait for wait in waits if wait[0] <= left and right <= wait[1]), None)
                for key in ("waited_ns", "late_sender_ns") if owner and owner[2][0] == "~" else ("waited_ns",):
                    own[process][key] += right - left if owner else 0
                if owner and owner[3]:
                    caused[owner[3]]["caused_ns"] += right - left
                    caused[owner[3]]["late_sender_caused_ns"] += right - left if owner[2][0] == "~" else 0
        keys = ("waited_ns", "caused_ns", "late_sender_ns", "late_sender_caused_ns", "unsure_ns")
        return lambda process: {key: own[process][key] + caused[process][key] for key in keys}

    def _calls(self, percentile):
        by_name = collections.defaultdict(list)
        for cat, some in (("comm", self.hand), ("MPI", self.mpi)):
            for span in some:
                by_name[cat, span.event["name"]].append(span)
        for (cat, name), spans in by_name.items():
            numbers = collections.Counter(span.process for span in spans)
            key, kind = (cat, name), kind_of(name)
            unknown = self.unknown.get(key, "not matched")
            if cat == "MPI":
                unknown = {"partly": "a rank waits for some of the others", "point to point": kind}.get(kind, unknown)
                unknown = "not a collective" if kind == "other" else unknown
            last = min(
                self.last[key].items(), default=(None, 0), key=lambda item: (-item[1], self.processes[item[0]].rank)
            )
            waited = self.hand_waits[key]
            if cat == "MPI":
                waited = sum(
                    union_length([wait[:2] for wait in waits if wait[2] == (name, cat)])
                    for waits in self.waits.values()
                )
            yield {
                "name": name,
                "cat": cat,
                "processes": len(numbers),
                "hosts": len({self.processes[process].host for process in numbers}),
                "calls": len(spans),
                "calls_least": min(numbers.values()),
                "calls_most": max(numbers.values()),
                "time_ns": sum(span.time for span in spans),
                "unknown": None if self.meetings[key] else unknown,
                "waited_ns": waited if self.meetings[key] else None,
                "last_rank": self.processes[last[0]].rank if last[0] else None,
                "last_calls": last[1],
                "meetings": self.meetings[key],
                "before": self.delays.shares(key),
                **sizes(spans if cat == "MPI" else [], percentile),
            }

    def _ranks(self, sums):
        for process in {span.process for span in self.hand + self.mpi + self.files}:
            own = [span for span in self.hand + self.mpi if span.process == process]
            times = collections.Counter()
            for span in own:
                if span.event["cat"] == "MPI":
                    times[span.event["name"]] += span.time
            top = min(times.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))
            yield {
                "rank": self.processes[process].rank,
                "process": self.label(process),
                "calls": len(own),
                "comm_ns": union_length([(span.start, span.end) for span in own]),
                "mpi_ns": sum(times.values()),
                "last_calls": sum(last[process] for last in self.last.values()),
                "before": self.delays.shares(process),
                "top": top[0],
                "top_ns": top[1],
                **sums(process),
            }

    def _matrix(self):
        pairs, started = collections.defaultdict(collections.Counter), collections.Counter()
        for span in self.mpi:
            word, what = plain(span.event["name"])
            if word in ("start", "startall"):
                started.update(started_calls=1, started_bytes=span.args.get("bytes", 0))
            if what == "prepares" or (POINT.get(word) not in ("send", "both") and word not in ONE_SIDED):
                continue
            if "peer" in span.args:
                pair = (self.processes[span.process].rank, span.args["peer"])
                pair = pair[::-1] if ONE_SIDED.get(word) == "from" else pair
                pairs[pair].update(calls=1, bytes=span.args.get("bytes", 0))
        by = "rank"
        if len({rank for pair in pairs for rank in pair}) > 64:
            hosts = {process.rank: self.hosts[process.host] for process in self.processes.values()}
            by, by_rank, pairs = "node", pairs, collections.defaultdict(collections.Counter)
            for pair, stats in by_rank.items():
                pairs[tuple(hosts.get(rank) for rank in pair)].update(stats)
        return {
            "by": by,
            "pairs": [{"from": one, "to": two, **stats} for (one, two), stats in pairs.items()],
            **{key: started[key] for key in ("started_calls", "started_bytes")},
        }

    def _clocks(self):
        hosts = sorted({self.processes[span.process].host for span in self.hand + self.mpi + self.files})
        numbers = ("at_ns", "offset_ns", "drift", "bound_ns")
        return [
            {"host": self.hosts.get(host, host), "moved": False, "contradicted": False}
            | dict.fromkeys(numbers, None if i else 0)
            for i, host in enumerate(hosts)
            if len(hosts) > 1
        ]

    def documents(self, percentile):
        sums = self._swept()
        ranks = list(self._ranks(sums))
        totals = ("comm_ns", "waited_ns", "caused_ns", "late_sender_ns", "late_sender_caused_ns", "unsure_ns")
        files = collections.defaultdict(list)
        for span in self.files:
            files[span.event["name"]].append(span)
        return {
            "communication": {
                "calls": list(self._calls(percentile)),
                "matrix": self._matrix(),
                "clocks": self._clocks(),
                "messages": {
                    key: self.counts[key] for key in ("received", "matched", "unknown_sources", "unknown_waits")
                },
                "all": {key: sum(rank[key] for rank in ranks) for key in totals},
                "ranks": ranks,
            },
            "mpiio": [
                {
                    "name": name,
                    "processes": len({span.process for span in spans}),
                    "calls": len(spans),
                    "collective": sum(bool(span.args.get("collective")) for span in spans),
                    "time_ns": sum(span.time for span in spans),
                    **sizes(spans, percentile),
                }
                for name, spans in files.items()
            ],
        }


def sizes(spans, percentile):
    values = [span.args["bytes"] for span in spans if "bytes" in span.args]
    return {
        "bytes": sum(values),
        "size_median": percentile(values, 0.5),
        "size_p95": percentile(values, 0.95),
        "size_max": max(values, default=0),
    }
