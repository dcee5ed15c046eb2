"""What ranks did while others waited for them, worked out moment by moment. It shares no code with dftracer."""

import collections
import heapq
import itertools

NEAR = 0.03  # pursuits that alternate are taken for spread evenly


class Shares(collections.Counter):
    """By (name, category): which part of the waiting it explains. (None, None): no event."""

    def check(self, found, where):
        best = max(self.values(), default=0)
        if found is None:
            assert best < 0.005 + NEAR, f"{where}: summary has nothing, oracle {dict(self)}"
            return
        own = self[found["name"], found["cat"]]
        assert abs(own - found["share"]) <= NEAR and own >= best - NEAR, (
            f"{where}: summary {found}, oracle {dict(self)}"
        )


def timeline(spans):
    """(start, end, name and category) of a thread: each moment belongs to the event that ends first."""
    order = sorted(spans, key=lambda span: (span.end, -span.start, -span.level))
    starts = sorted(range(len(order)), key=lambda i: order[i].start, reverse=True)
    points = sorted({moment for span in order for moment in (span.start, span.end)})
    there = []
    for left, right in itertools.pairwise(points):
        while starts and order[starts[-1]].start <= left:
            heapq.heappush(there, starts.pop())
        while there and order[there[0]].end <= left:
            heapq.heappop(there)
        owner = order[there[0]].event if there else {"name": None, "cat": None}
        yield left, right, (owner["name"], owner["cat"])


class Delays:
    def __init__(self, spans, communicating):
        self.spans, self.lines = spans, {}
        self.threads = collections.defaultdict(set)
        for span in communicating:
            self.threads[span.process].add(span.thread)
        self.explained = collections.defaultdict(collections.Counter)
        self.waited = collections.Counter()

    def _line(self, process):
        if process not in self.lines:
            threads = self.threads[process]
            own = [span for span in self.spans if span.thread in threads]
            self.lines[process] = list(timeline(own)) if len(threads) == 1 else []
        return self.lines[process]

    def add(self, process, start, end, waited, subjects):
        for subject in subjects:
            self.waited[subject] += waited
        for left, right, what in self._line(process):
            ns = (min(right, end) - max(left, start)) * waited / (end - start)
            for subject in subjects if ns > 0 else ():
                self.explained[subject][what] += ns

    def shares(self, subject):
        return Shares({what: ns / self.waited[subject] for what, ns in self.explained[subject].items()})
