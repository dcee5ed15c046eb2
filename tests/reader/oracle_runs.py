"""Which traces are of one run, as docs/summary.md defines it."""

import collections
import itertools

import oracle
from oracle_events import events_of, is_ours


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
