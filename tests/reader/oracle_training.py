"""A training, as docs/summary.md defines it: epochs, steps, trainers and their workers."""

import bisect
import collections
import functools
import math

import oracle_loop
import oracle_split
from oracle_events import ai_kind, integer, is_ours, length, percentile, shared, union


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
        span.epoch = span.own_epoch = span.epoch if span.epoch >= 0 else None
        span.step = span.own_step = integer(span.args.get("step"), None)
    epochs = [span for span in spans if ai_kind(span.event["name"], span.event["cat"]) == "epoch"]
    windows = number_epochs(epochs)
    last = max((span.epoch for span in epochs if span.epoch is not None), default=math.inf)
    late = [span for span in spans if span not in epochs and span.epoch is not None and span.epoch > last]
    late = [
        span
        for span in late
        if not any(window[:2] <= (span.start, -span.end) and -window[1] > span.start for window in windows)
    ]
    windows = sorted(windows + [(span.start, -span.end, span.epoch) for span in late])
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
    return windows


def evaluates(span):
    return oracle_split.stage_of(span.event["name"], span.event["cat"]) == "evaluation"


def is_within(span, times):
    return any(first <= span.start and span.end <= last for first, last in times)


def without(times, others):
    """What is in disjoint times, and in none of the others."""
    moments = sorted({moment for span in (*times, *others) for moment in span})
    return [
        (a, b)
        for a, b in zip(moments, moments[1:])
        if any(start <= a < end for start, end in times) and not any(start <= a < end for start, end in others)
    ]


def is_step(span, kind):
    name, cat = span.event["name"], span.event["cat"]
    return (name, cat) == ("step", "compute") if kind == "update" else ai_kind(name, cat) == kind


def at_once(lives):
    return max((sum(start <= begin < end for start, end in lives) for begin, _ in lives), default=0)


def calls_of(spans):
    """The time in which any thread was in an I/O call of a kind."""
    kinds = {"read": ("read", "copy"), "write": ("write", "copy")}
    kinds["metadata"] = ("map", "seek", "move", "open", "other")
    return {
        name: length(union((span.start, span.end) for span in spans if span.kind in own)) for name, own in kinds.items()
    }


def is_sequence(trainers):
    """Several, without ranks, none of which trains while another one does."""
    loops = sorted(process.loop for process in trainers)
    apart = all(one[1] <= two[0] for one, two in zip(loops, loops[1:]))
    return len(loops) > 1 and apart and all(process.rank is None for process in trainers)


class Process:
    """A pid in one file."""

    def __init__(self, source, pid):
        self.source, self.pid = source, pid
        self.host, self.rank, self.parent, self.command = "", None, 0, ""
        self.facts = {}
        self.bookkeeping = set()
        self.counts = collections.Counter()
        self.is_inference = False
        self.work = collections.defaultdict(list)  # by kind: spans of time

    def trains(self):
        return bool(self.counts["compute"] or self.counts["fetch"])


class Epoch(dict):
    """What is known of an epoch; it has all keys."""

    def __init__(self):
        lists = {key: [] for key in ("events", "extent", "samples")}
        super().__init__(lists | {"busy": collections.Counter(), "time": collections.Counter(), "steps": 0})


class Training:
    """The part of Summary that is about a training."""

    def _training(self):
        for span in self.users:
            kind = ai_kind(span.event["name"], span.event["cat"])
            if not kind:
                continue
            process = self.processes[span.process]
            process.counts[kind] += 1
            process.counts[kind + "_ns"] += span.time
            process.counts["update"] += (span.event["name"], span.event["cat"]) == ("step", "compute")
            process.work[{"start": "fetch", "empty": "data"}.get(kind, kind)].append((span.start, span.end))
            if kind == "start":
                process.work["start"].append((span.start, span.end))
            if kind in ("fetch", "start", "compute", "epoch", "step"):
                process.work["loop"].append((span.start, span.end))
        self._places()
        self._split()

    def _places(self):
        """The epochs of trainers: events, by kind, and the times that the epoch covers."""
        own = collections.defaultdict(list)
        for span in self.users:
            own[span.process].append(span)
        self.epochs = collections.defaultdict(Epoch)
        for key, spans in own.items():
            process = self.processes[key]
            process.evaluations = union((span.start, span.end) for span in spans if evaluates(span))
            busy = union(process.work["compute"] + process.work["fetch"])
            if process.trains() and shared(busy, process.evaluations) == length(busy):
                process.is_inference = bool(process.evaluations)
                process.evaluations = []
            process.windows = places(spans, not process.trains() and process.counts["data"] > 0)
            process.own = spans
            process.pauses, ends, process.last_epoch = [], {}, -math.inf
            if not process.trains():
                continue
            if process.counts["compute"] or process.counts["step"]:
                last = max((end for _, end in process.work["loop"]), default=0)
                evaluated = functools.partial(is_within, times=process.evaluations)
                process.pauses, process.loop_last, ends = oracle_loop.pauses_of(spans, evaluated, last)
            kinds = [(ai_kind(span.event["name"], span.event["cat"]), span) for span in spans]
            numbers = [span.own_epoch for kind, span in kinds if kind == "epoch"]
            has_epochs = bool(numbers)
            last = max((number for number in numbers if number is not None), default=math.inf)
            process.last_epoch = last if has_epochs else -math.inf
            done = {}
            for kind, span in sorted(kinds, key=lambda pair: (pair[1].start, pair[1].end)):
                work = "fetch" if kind == "start" else kind
                if kind in (None, "data", "empty") or (span.epoch is None and work not in ("fetch", "compute")):
                    continue
                epoch = self.epochs[span.epoch]
                epoch["events"].append(kind)
                if kind == "fetch" and not is_within(span, process.evaluations):
                    epoch["samples"].append(integer(span.args.get("samples"), 0))
                epoch["busy"][work] += max(0, span.end - max(span.start, done.get(work, 0)))
                done[work] = max(done.get(work, 0), span.end)
                if kind == "epoch" or span.epoch is None or not has_epochs or span.epoch > last:
                    epoch["extent"].append((span.start, ends.get(id(span), span.end)))

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
        loading, workers = collections.defaultdict(list), collections.defaultdict(list)
        for process in self.processes.values():
            trainer = self._trainer(process)
            loading[trainer] += process.work["data"]
            workers[trainer] += [process] if trainer is not process and process.work["data"] else []
        times = collections.Counter()
        for process in self.processes.values():
            compute, fetch, data = union(process.work["compute"]), union(process.work["fetch"]), union(loading[process])
            times["compute_ns"] += length(compute)
            times["fetch_ns"] += length(fetch)
            times["data_ns"] += length(data)
            times["wait_ns"] += length(fetch) - shared(fetch, compute)
            times["hidden_ns"] += shared(data, compute)
        trainers = [process for process in self.processes.values() if process.trains()]
        train = collections.Counter()
        for process in trainers:
            loop = without([process.loop], [*process.evaluations, *process.pauses])
            fetch, compute = union(process.work["fetch"]), union(process.work["compute"])
            train["time_ns"] += length(loop)
            train["compute_ns"] += shared(compute, loop)
            train["fetch_ns"] += shared(fetch, loop)
            train["wait_ns"] += shared(without(fetch, compute), loop)
            train["data_ns"] += shared(union(loading[process]), loop)
        for process in trainers:
            own = [span for span in self.spans if span.process == (process.source, process.pid)]
            first, last = process.loop
            ages = [integer(span.args.get("process_age_ns"), 0) for span in own if is_ours(span.event)]
            times["before_ns"] += max(ages, default=0)
            times["startup_ns"] += first - min(span.start for span in own) + max(ages, default=0)
            times["loop_ns"] += length(without([process.loop], process.pauses))
            times["data_in_loop_ns"] += shared(union(loading[process]), [(first, last)])
            times["teardown_ns"] += max(span.end for span in own) - last
        if self.lost_fetches or not (counts["fetch"] or counts["start"]):
            times["fetch_ns"] = times["wait_ns"] = train["fetch_ns"] = train["wait_ns"] = None
        steps = {process: len(getattr(process, "steps", ())) for process in self.processes.values()}
        return {
            **times,
            "processes": sum(process.trains() for process in self.processes.values()),
            "epochs": sum(number is not None for number in self.epochs),
            "steps": max(steps.values()),
            "steps_least": min(steps[process] for process in trainers),
            "batches": max(getattr(process, "batches", 0) for process in self.processes.values()),
            "train": train,
            "is_sequence": is_sequence(trainers),
            "fetches": counts["fetch"],
            "computes": counts["compute"],
            **{f"{kind}_ns": counts[f"{kind}_ns"] for kind in ("comm", "device", "checkpoint")},
            "by_epoch": [self._epoch_document(number) for number in self.epochs],
            "step_times": self._steps_document(),
            "trainers": [self._trainer_document(process, workers[process]) for process in trainers],
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
            "steps": epoch["steps"],
            "batches": len(epoch["samples"]),
            "samples": sum(epoch["samples"]) if epoch["samples"] and all(n > 0 for n in epoch["samples"]) else None,
            "class_ns": {kind: epoch["time"][kind] for kind in oracle_split.CLASSES},
            "evaluation_ns": epoch["time"]["evaluation"],
        }

    def _split(self):
        """What each moment of each process was spent on."""
        by_process = collections.defaultdict(list)
        for span in self.spans:
            name, cat = span.event["name"], span.event["cat"]
            span.work = oracle_split.work_of(name, cat, "sync" if span.is_sync else span.kind, is_ours(span.event))
            stage = None if is_ours(span.event) else oracle_split.stage_of(name, cat)
            is_inference = stage == "evaluation" and self.processes[span.process].is_inference
            span.stage = None if is_inference else stage
            by_process[span.process].append(span)
        for key, spans in by_process.items():
            self._split_process(self.processes[key], spans)

    def _split_process(self, process, spans):
        first, last = min(span.start for span in spans), min(max(span.end for span in spans), spans[0].until)
        kinds = [kind for kind in ("step", "update", "fetch") if process.counts[kind]]
        is_training = bool(kinds or process.counts["epoch"] or process.counts["start"])
        if is_training:
            ends = process.work["loop"]
            loop = min(start for start, _ in ends), max(end for _, end in ends)
            if process.trains() and (process.counts["compute"] or process.counts["step"]):
                loop = loop[0], process.loop_last
        else:
            loop = oracle_split.recurring_loop(spans, first, last)
        process.loop = loop
        epochs = oracle_split.epoch_times(process.windows) if process.trains() else []
        own = [span for span in process.own if not is_within(span, process.evaluations)]
        if kinds[:1] == ["update"]:
            relevant = [span for span in own if is_step(span, "update") or is_step(span, "fetch")]
            is_update = functools.partial(is_step, kind="update")
            events = oracle_split.updates_as_steps(relevant, is_update, process.counts["fetch"] > 0)
        else:
            events = [
                (span.end, span.start, *(oracle_split.NONE if n is None else n for n in (span.epoch, span.own_step)))
                for span in own
                if kinds and is_step(span, kinds[0])
            ]
        process.batches = sum(is_step(span, "fetch") for span in own)
        process.steps = oracle_split.step_windows(events, loop[0], epochs, process.last_epoch)
        process.walk = oracle_split.Walk(
            spans, loop, process.steps, epochs, is_training and process.counts["compute"] > 0, process.pauses
        )
        for number, times in process.walk.epochs.items() if process.trains() else ():
            if number in self.epochs:
                self.epochs[number]["time"].update(times)
        for _, _, epoch, _ in process.steps:
            number = None if epoch == oracle_split.NONE else epoch
            if process.trains() and number in self.epochs:
                self.epochs[number]["steps"] += 1

    def _steps_document(self):
        times, classes, slow = [], collections.Counter(), []
        for number, (key, process) in enumerate(self.processes.items()):
            if not getattr(process, "steps", None):
                continue
            sums = collections.Counter()
            for own in process.walk.steps:
                sums.update(own)
            classes.update(sums)
            lines = []
            for index, (window, own) in enumerate(zip(process.steps, process.walk.steps), 1):
                spent = [kind for kind in oracle_split.CLASSES if own[kind]] or ["outside"]
                beyond = [own[kind] - sums[kind] // len(process.steps) for kind in spent]
                line = self._who(key) | {
                    "epoch": None if window[2] == oracle_split.NONE else window[2],
                    "step": None if window[3] == oracle_split.NONE else window[3],
                    "index": index,
                    "start_ns": window[0],
                    "time_ns": sum(own.values()),
                    "class_ns": own,
                    "reason": spent[beyond.index(max(beyond))],
                }
                lines.append((-line["time_ns"], window[0], number, index, line))
                times.append(line["time_ns"])
            slow += lines
        return {
            "count": len(times),
            **{
                f"{name}_ns": percentile(times, share)
                for name, share in (("median", 0.5), ("p95", 0.95), ("p99", 0.99))
            },
            "max_ns": max(times, default=0),
            "class_ns": {kind: classes[kind] for kind in oracle_split.CLASSES},
            "slowest": [line[4] for line in sorted(slow, key=lambda line: line[:4])[:10]],
        }

    def _trainer_document(self, process, workers):
        cells, evaluation = (process.walk.cells[phase] for phase in ("loop", "evaluation"))
        loop = without([process.loop], [*process.evaluations, *process.pauses])
        lives, empty, time, busy = [], [], 0, 0
        for worker in workers:
            loading = union(worker.work["data"])
            in_loop = shared(loading, loop)
            if not in_loop or in_loop < shared(loading, process.evaluations):
                continue
            own = [span for span in self.spans if span.process[0] == worker.source]
            life = min(span.start for span in own), max(span.end for span in own)
            ends = [start for start, _ in union(process.work["start"]) if start >= life[1]]
            life = life[0], min(ends, default=life[1])
            life = max(life[0], process.loop[0]), min(life[1], process.loop[1])
            (lives if worker.counts["data"] else empty).append(life)
            if worker.counts["data"]:
                time += shared([life], loop)
                busy += in_loop
        left = length(loop) - cells["input"]
        return self._who((process.source, process.pid)) | {
            "loop_ns": sum(cells.values()),
            "evaluation_ns": sum(evaluation.values()),
            "class_ns": cells,
            "workers": len(lives),
            "workers_at_once": at_once(lives),
            "workers_empty": at_once(empty),
            "workers_ns": time,
            "workers_busy_ns": busy,
            "workers_enough": -(-busy // left) if lives and left > 0 else None,
        }

    def _split_document(self):
        return [
            self._who(key) | process.walk.cells | {"calls_ns": calls_of(process.own)}
            for key, process in self.processes.items()
            if hasattr(process, "walk")
        ]
