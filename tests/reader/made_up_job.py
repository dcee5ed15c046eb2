"""MPI jobs that nobody ran: every rank has a clock, and calls take as long as the others make them.

Times are true ones, in nanoseconds from the start of the job. The traces have what the clock of each node shows.
"""

import json
import os

BEGIN = 1_700_000_000 * 10**9
UNITS = {"NS": 1, "US": 1000}
LATENCY = 5_000  # of every message, and of the last step of a collective
ALL = ("MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall")


class Rank:
    def __init__(self, rank, node, unit):
        self.rank, self.node, self.unit = rank, node, unit
        self.now = 0
        self.lines, self.id = [], 100


class Job:
    """`clocks`: by node, an offset in ns and a drift. `nodes`: of each rank."""

    def __init__(self, ranks, nodes=None, clocks=None, unit="NS"):
        self.clocks, self.unit = clocks or {}, unit
        self.ranks = [Rank(rank, (nodes or ["node"] * ranks)[rank], unit) for rank in range(ranks)]
        self.waited, self.caused = [0] * ranks, [0] * ranks  # the truth, of what waits for one rank alone
        self.sent = {}

    def shown(self, rank, time):
        offset, drift = self.clocks.get(rank.node, (0, 0))
        return (BEGIN + time + offset + round(drift * time)) // UNITS[self.unit]

    def event(self, number, name, start, end, cat="MPI", tid=None, **args):
        rank = self.ranks[number]
        first, last = self.shown(rank, start), self.shown(rank, end)
        rank.id += 1
        line = {"id": rank.id, "name": name, "cat": cat, "pid": 1000 + number, "tid": tid or 1000 + number}
        line |= {"ts": first, "dur": last - first, "ph": "X", "args": {"hhash": rank.node, **args}}
        rank.lines.append((last, json.dumps(line)))
        return rank.id

    def compute(self, number, length):
        rank = self.ranks[number]
        self.event(number, "work", rank.now, rank.now + length, cat="app")
        rank.now += length

    def compute_all(self, length_of):
        for rank in self.ranks:
            self.compute(rank.rank, length_of(rank.rank))

    def _note(self, number, start, until, cause):
        """One rank waits for another one."""
        if until > start and number != cause:
            self.waited[number] += until - start
            self.caused[cause] += until - start

    def collective(self, name, members=None, comm=0, size=None, root=None, data=8, skip=()):
        """`skip`: ranks whose event is missing in the trace."""
        members = list(range(len(self.ranks))) if members is None else members
        came = {number: self.ranks[number].now for number in members}
        last = max(members, key=came.get)
        args = {"comm": comm, "comm_size": size or len(members)}
        args |= {} if name == "MPI_Barrier" else {"bytes": data}
        args |= {} if root is None else {"root": root}
        for number in members:
            until = came[last]
            if name == "MPI_Bcast":
                until, last = came[root], root
            elif name == "MPI_Reduce":
                until = until if number == root else came[number]
            end = max(until, came[number]) + LATENCY
            self._note(number, came[number], until, last)
            if number not in skip:
                self.event(number, name, came[number], end, **args)
            self.ranks[number].now = end

    def begin(self, name, members=None, comm=0):
        """A non-blocking collective; `finish` waits for it."""
        members = list(range(len(self.ranks))) if members is None else members
        came = {number: self.ranks[number].now for number in members}
        ids = {}
        for number in members:
            ids[number] = self.event(
                number, name, came[number], came[number] + 100, bytes=8, comm=comm, comm_size=len(members)
            )
            self.ranks[number].now += 100
        return came, ids

    def finish(self, begun, name="MPI_Wait"):
        came, ids = begun
        last = max(came, key=came.get)
        for number, own in ids.items():
            start = self.ranks[number].now
            end = max(came[last], start) + LATENCY
            self._note(number, start, came[last], last)
            self.event(number, name, start, end, requests=1, completed=1, bytes=8, start_1=own)
            self.ranks[number].now = end

    def send(self, number, peer, tag=0, data=1000, name="MPI_Send", comm=0):
        rank = self.ranks[number]
        self.sent.setdefault((number, peer, tag, comm), []).append(rank.now)
        self.event(
            number, name, rank.now, rank.now + 300, bytes=data, peer=peer, tag=tag, comm=comm, comm_size=len(self.ranks)
        )
        rank.now += 300

    def receive(self, number, peer, tag=0, data=1000, comm=0, hide=(), name="MPI_Recv", is_probed=False):
        """After the send. `hide`: arguments that the trace does not have. `is_probed`: by MPI_Probe before."""
        rank, sent = self.ranks[number], self.sent[peer, number, tag, comm].pop(0)
        end = max(rank.now, sent) + LATENCY
        self._note(number, rank.now, sent, peer)
        given = {"bytes": data, "peer": peer, "tag": tag, "comm": comm, "comm_size": len(self.ranks)}
        if is_probed:
            self.event(number, "MPI_Probe", rank.now, end, **{key: given[key] for key in given if key != "bytes"})
            rank.now = end + LATENCY
            end = rank.now + LATENCY
        self.event(number, name, rank.now, end, **{key: given[key] for key in given if key not in hide})
        rank.now = end

    def texts(self):
        for rank in self.ranks:
            facts = {"pid": 1000 + rank.rank, "tid": 1000 + rank.rank, "cat": "dftracer"}
            head = [
                {"id": 1, "name": "HH", "ph": "M", "args": {"hhash": rank.node, "name": rank.node, "value": rank.node}},
                {"id": 2, "name": "CM", "ph": "M", "args": {"name": "time_metric", "value": self.unit}},
                {
                    "id": 3,
                    "name": "start",
                    "ph": "X",
                    "ts": self.shown(rank, 0),
                    "dur": 0,
                    "args": {"hhash": rank.node, "run": "1", "world_size": len(self.ranks)},
                },
                {
                    "id": 4,
                    "name": "PR",
                    "ph": "M",
                    "args": {"hhash": rank.node, "name": "rank", "value": str(rank.rank)},
                },
            ]
            lines = [json.dumps(facts | line) for line in head]
            lines += [line for _, line in sorted(rank.lines, key=lambda line: line[0])]
            yield ("[\n" + "\n".join(lines) + "\n").encode()

    def save(self, folder):
        os.makedirs(folder, exist_ok=True)
        texts = list(self.texts())
        paths = [os.path.join(folder, f"{i:04}.pfw") for i in range(len(texts))]
        for path, text in zip(paths, texts):
            with open(path, "wb") as file:
                file.write(text)
        return texts, paths
