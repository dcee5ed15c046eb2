"""truth.py - what a program's time really was, from intervals that the program measured; imports nothing of dftracer.

A program measures itself with its own clock. Of each rank there is a list of intervals (kind, name, begin_ns, end_ns):

    whole                        what the shares are of: the training loop, or, if its name is job, the time of the rank
    evaluation                   is no part of it
    compute input checkpoint read write sync metadata start-up
    comm                         a collective; the n-th one of a name is the same one on all ranks
    message                      a call that sends or receives one message; which part of it is waiting may be unknown
    late                         the part of it in which the message was not yet sent
    inside                       the same as another one of its name, but measured within the event, not around it

A rank that is early in a collective waits for the last one to come. This waiting is imbalance, the rest communication.
The same holds for a message that is sent late.
A job lasts until its last rank has ended. A rank that has ended before waits for it: that is imbalance, too.
The class io is the sum of read, write, sync and metadata, which must not overlap.

On a busy machine a program may stand still between its own measurement and the event that dftracer records. What is
measured within and around the event bounds the error of the truth: its blur.
SPDX-License-Identifier: MIT
"""

import collections
import pathlib

PLAIN = ("compute", "input", "checkpoint", "read", "write", "sync", "metadata", "start-up")
IO = ("read", "write", "sync", "metadata")
CLASSES = (*PLAIN, "communication", "imbalance")
BLUR = 0.02  # of the whole; tests allow 0.03
COSTS = ("input", "checkpoint", "io", "start-up", "communication", "imbalance")


def union_length(intervals):
    total, covered = 0, None
    for begin, end in sorted(intervals):
        if covered is None or begin > covered:
            covered = begin
        total += max(0, end - covered)
        covered = max(covered, end)
    return total


def ends_of_job(intervals):
    return max((end for kind, name, _, end in intervals if (kind, name) == ("whole", "job")), default=None)


class Truth:
    """Costs by class and rank, in nanoseconds."""

    def __init__(self, intervals_of_ranks):
        """intervals_of_ranks: {rank: [(kind, name, begin_ns, end_ns), ...]}"""
        self.ranks = sorted(intervals_of_ranks)
        self.costs = {rank: collections.Counter() for rank in self.ranks}
        self.whole, self.blur = {}, 0
        self.caused = collections.Counter()  # by the rank that came last: what the others waited
        meetings = collections.defaultdict(dict)  # (name, n) -> {rank: (begin, end)}
        for rank, intervals in intervals_of_ranks.items():
            by_kind, numbers = collections.defaultdict(list), collections.Counter()
            for kind, name, begin, end in intervals:
                by_kind[kind].append((begin, end))
                if kind == "comm":
                    meetings[name, numbers[name]][rank] = (begin, end)
                    numbers[name] += 1
            self.whole[rank] = union_length(by_kind["whole"]) - union_length(by_kind["evaluation"])
            self.blur = max(self.blur, self._blur_of(intervals) / max(self.whole[rank], 1))
            for kind in PLAIN:
                self.costs[rank][kind] = union_length(by_kind[kind])
            self.costs[rank]["imbalance"] = union_length(by_kind["late"])
            self.costs[rank]["message"] = union_length(by_kind["message"]) - union_length(by_kind["late"])
            self.costs[rank]["communication"] = self.costs[rank]["message"]
            self.costs[rank]["io"] = sum(self.costs[rank][kind] for kind in IO)
        for calls in meetings.values():
            self._meet(calls)
        self._end({rank: ends for rank, own in intervals_of_ranks.items() if (ends := ends_of_job(own))})

    def _end(self, ends):
        for rank, end in ends.items():
            self.whole[rank] += max(ends.values()) - end
            self.costs[rank]["imbalance"] += max(ends.values()) - end

    @staticmethod
    def _blur_of(intervals):
        inside, around = collections.Counter(), collections.Counter()
        for kind, name, begin, end in intervals:
            (inside if kind == "inside" else around)[name] += end - begin
        return sum(abs(around[name] - length) for name, length in inside.items())

    def _meet(self, calls):
        last = max(begin for begin, _ in calls.values())
        late = max(calls, key=lambda rank: calls[rank][0])
        for rank, (begin, end) in calls.items():
            waited = min(end, last) - begin
            self.caused[late] += waited
            self.costs[rank]["imbalance"] += waited
            self.costs[rank]["communication"] += end - begin - waited

    @property
    def whole_ns(self):
        return sum(self.whole.values()) / len(self.ranks)

    def share(self, what):
        """The mean over ranks."""
        return sum(costs[what] for costs in self.costs.values()) / sum(self.whole.values())

    def share_of(self, rank, what):
        return self.costs[rank][what] / self.whole[rank]

    def worst(self, what):
        """The rank with the largest share, and that share."""
        return max(((rank, self.share_of(rank, what)) for rank in self.ranks), key=lambda pair: pair[1])

    def saving(self, what):
        """Without this cost, nobody waits for others either; the job is as long as the rank that has most else to do.
        Without imbalance, every rank does what the mean of them does. Calls that send or receive a message may be all
        waiting for a late rank."""
        if what == "imbalance":
            return self.share(what) + self.share("message")
        rests = [self.whole[rank] - self.costs[rank][what] - self.costs[rank]["imbalance"] for rank in self.ranks]
        if what == "communication":
            rests = [rest + self._beyond_compute(rank, rest) for rank, rest in zip(self.ranks, rests)]
        return 1 - max(rests) / self.whole_ns

    def _beyond_compute(self, rank, rest):
        """Communication can hide behind compute, and behind what is not known, but behind nothing else."""
        others = sum(self.costs[rank][name] for name in ("input", "checkpoint", "io", "start-up"))
        return max(0, self.costs[rank]["communication"] - (rest - others))

    def is_caused_by(self, rank):
        """Whether the others wait for this rank, clearly."""
        return self.caused[rank] >= 0.85 * sum(costs["imbalance"] for costs in self.costs.values())

    def is_clearly(self, expected):
        """Whether the policy of verdicts says so, not narrowly: on a busy machine, sleeping takes longer than meant."""
        if self.blur > BLUR:
            return False
        costs = sorted((self.share(name) for name in COSTS), reverse=True)
        if expected == "none":
            return costs[0] - costs[1] < 0.04 or (costs[0] < 0.09 and self.share("compute") < 0.89)
        if expected == "compute":
            return costs[0] < 0.09 and self.share("compute") > 0.91
        return self.share(expected) == costs[0] > 0.11 and costs[0] - costs[1] > 0.06


def read_truth(folder):
    """Of the files truth-RANK that the ranks of a program wrote: lines of kind, name, begin and end."""
    ranks = {}
    for path in pathlib.Path(folder).glob("truth-*"):
        lines = [line.split() for line in path.read_text().splitlines()]
        ranks[int(path.name.split("-")[1])] = [(kind, name, int(a), int(b)) for kind, name, a, b in lines]
    return Truth(ranks)


def measure_clearly(run, expected, folder, culprit=None):
    """Calls run(folder) until the truth is what was meant; returns the folder of that run, and its truth.

    culprit: the rank that the others must wait for.
    """
    for attempt in range(8):
        own = pathlib.Path(folder) / str(attempt)
        own.mkdir()
        run(own)
        truth = read_truth(own)
        if truth.is_clearly(expected.partition("/")[0]) and (culprit is None or truth.is_caused_by(culprit)):
            return own, truth
    raise AssertionError(f"the machine is too busy to be {expected}")
