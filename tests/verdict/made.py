"""made.py - traces that nobody recorded, with explicit times, and their truth.

    job = Job(ranks=2)
    for rank in job.ranks:
        rank.main.region("solve", "compute", 30, kind="compute")        # milliseconds
        rank.main.call("read", 5, "/data/x", ret=4096, offset=0)
    job.meet("exchange", 2)                                              # all ranks wait for the last one
    truth = job.write(folder)

    truth = training(ranks=2, steps=24, input=30, compute=70).write(folder)

A thread has a clock of its own, which its events move on. kind is that of truth.py.
SPDX-License-Identifier: MIT
"""

import contextlib
import hashlib
import json
import pathlib

from truth import Truth

BEGIN_US = 1_727_286_231_145_121
US_OF_A_MS = 1000

# kind -> name and category of a region of the ai tree that is of this kind
REGIONS = {
    "compute": ("forward", "compute"),
    "input": ("fetch.iter", "dataloader"),
    "checkpoint": ("capture", "checkpoint"),
    "outside": None,
}
READS, WRITES = ("read", "pread", "fread"), ("write", "pwrite", "fwrite")
SYNCS, CLOSES = ("fsync", "fdatasync", "msync", "fflush"), ("close", "fclose")


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def kind_of_call(name, is_written=False):
    """is_written: the thread wrote to the file since it was opened."""
    if name in SYNCS or (name in CLOSES and is_written):
        return "sync"
    return "read" if name in READS else "write" if name in WRITES else "metadata"


class Thread:
    """Appends events to its process."""

    def __init__(self, process, tid, begin_us):
        self.process, self.tid, self.now_us = process, tid, begin_us
        self.open = []  # ids of the events around
        self.written = set()  # files that were not closed since

    def idle(self, ms):
        self.now_us += round(ms * US_OF_A_MS)

    def idle_until(self, us):
        self.now_us = max(self.now_us, us)

    def region(self, name, cat, ms, kind=None, **args):
        with self.within(name, cat, kind, **args):
            self.idle(ms)

    @contextlib.contextmanager
    def within(self, name, cat, kind=None, **args):
        """Around other events."""
        begin_us, own = self.now_us, self.process.next_id()
        self.open.append(own)
        yield self
        self.open.pop()
        nesting = {"p_idx": self.open[-1] if self.open else -1, "level": len(self.open) + 1}
        self.process.complete(self.tid, own, name, cat, begin_us, self.now_us, nesting | args)
        if kind:
            self.process.truth.append((kind, name, begin_us * 1000, self.now_us * 1000))

    def call(self, name, ms, path, ret=0, cat="POSIX", **args):
        """An I/O call."""
        kind = kind_of_call(name, path in self.written)
        self.written |= {path} if name in WRITES else set()
        self.written -= {path} if name in CLOSES else set()
        self.region(name, cat, ms, kind, fhash=self.process.file(path), **args, ret=ret)


class Process:
    """One process, which is one file."""

    def __init__(self, pid, rank, ranks, ppid, host, start_ms, command):
        self.pid, self.rank, self.host, self.command = pid, rank, host, command
        self.lines, self.truth, self.ids, self.files = [], [], 9, set()
        self.begin_us = BEGIN_US + round(start_ms * US_OF_A_MS)
        self.write_head(ppid, {"world_size": ranks} if ranks > 1 else {})
        self.threads = []
        self.main = self.thread()

    def write_head(self, ppid, world):
        self.metadata("HH", self.host, value=hash_of(self.host))
        self.metadata("thread_name", f"Rank {self.rank}")
        self.metadata("CM", "time_metric", value="US")
        command, program = ";".join(self.command), "/usr/bin/" + self.command[0]
        for kind, text in (("FH", "/work"), ("SH", command), ("SH", program)):
            self.metadata(kind, text, value=hash_of(text))
        facts = {"cmd_hash": hash_of(command), "exec_hash": hash_of(program), "cwd": hash_of("/work")}
        facts |= {"version": "5.0.0", "date": "2024-09-25T17:43:51Z", "ppid": ppid, "run": "made", **world}
        self.complete(self.pid, self.next_id(), "start", "dftracer", self.begin_us, self.begin_us, facts)
        self.metadata("PR", "rank", value=str(self.rank))
        self.metadata("process_name", f"Rank {self.rank}")

    def next_id(self):
        self.ids += 1
        return self.ids

    def thread(self):
        self.threads.append(Thread(self, self.pid + len(self.threads), self.begin_us))
        return self.threads[-1]

    def line(self, number, name, cat, tid, ph, args, **times):
        line = {"id": number, "name": name, "cat": cat, "pid": self.pid, "tid": tid, **times, "ph": ph}
        self.lines.append(json.dumps(line | {"args": {"hhash": hash_of(self.host)} | args}, separators=(",", ":")))

    def metadata(self, kind, name, **value):
        self.line(self.next_id(), kind, "dftracer", self.pid, "M", {"name": name, **value})

    def complete(self, tid, number, name, cat, begin_us, end_us, args):
        self.line(number, name, cat, tid, "X", args, ts=begin_us, dur=end_us - begin_us)

    def file(self, path):
        if path not in self.files:
            self.files.add(path)
            self.metadata("FH", path, value=hash_of(path))
        return hash_of(path)

    def end_us(self):
        return max(thread.now_us for thread in self.threads)

    def text(self):
        events = sum('"ph":"X"' in line for line in self.lines) - 1
        facts = {"num_events": events, "finish_ns": 1000, "drain_cpu_ns": 0, "assist_ns": 0}
        self.complete(self.pid, self.next_id(), "end", "dftracer", self.end_us(), self.end_us(), facts)
        return "[\n" + "\n".join(self.lines) + "\n"


class Job:
    """The processes of one run."""

    def __init__(self, ranks=1, hosts=1, command=("solver", "-n")):
        self.pid, self.size, self.command = 1000, ranks, command
        self.processes = []
        self.ranks = [self.process(rank, 1, f"node{rank % hosts}") for rank in range(ranks)]

    def process(self, rank, ppid, host, start_ms=0):
        self.pid += 100
        self.processes.append(Process(self.pid, rank, self.size, ppid, host, start_ms, self.command))
        return self.processes[-1]

    def worker(self, rank, start_ms=0):
        """A process that loads samples for a rank."""
        return self.process(rank.rank, rank.pid, rank.host, start_ms)

    def spend(self, kind, ms):
        """On every rank; ms may be a list by rank."""
        for rank in self.ranks:
            own = ms[rank.rank] if isinstance(ms, (list, tuple)) else ms
            if not own:
                continue
            if kind in ("read", "write", "metadata"):
                name = "stat" if kind == "metadata" else kind
                rank.main.call(name, own, f"/data/file{rank.rank}", 0 if kind == "metadata" else 4 << 20)
            elif kind == "outside":
                rank.main.idle(own)
            else:
                rank.main.region(*REGIONS[kind], own, kind)

    def meet(self, name, ms, cat="comm", **args):
        """A collective: it ends ms after the last rank has come."""
        last_us = max(rank.main.now_us for rank in self.ranks)
        for rank in self.ranks:
            with rank.main.within(name, cat, "comm", **args):
                rank.main.idle_until(last_us)
                rank.main.idle(ms)

    def send(self, sender, receiver, tag, ms=0.01, is_large=False):
        """A message of MPI: the receiver has it when it was sent, and both take ms.

        is_large: the sender waits for the receiver.
        """
        world = {"comm": 0, "comm_size": self.size, "bytes": 8, "tag": tag}
        one, other = self.ranks[sender].main, self.ranks[receiver].main
        sent_us = one.now_us
        with one.within("MPI_Send", "MPI", "message", peer=receiver, **world):
            one.idle_until(other.now_us if is_large else sent_us)
            one.idle(ms)
        with other.within("MPI_Recv", "MPI", "message", peer=sender, **world):
            other.process.truth.append(("late", "MPI_Recv", other.now_us * 1000, max(sent_us, other.now_us) * 1000))
            other.idle_until(sent_us)
            other.idle(ms)

    def write(self, folder, whole=True):
        """Returns the truth. whole: shares are of the time of the rank."""
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for process in self.processes:
            (folder / f"trace-{process.host}-{process.pid}-app.pfw").write_text(process.text())
        for rank in self.ranks:
            if whole and not any(kind == "whole" for kind, *_ in rank.truth):
                rank.truth.append(("whole", "job", rank.begin_us * 1000, rank.end_us() * 1000))
        return Truth({rank.rank: rank.truth for rank in self.ranks})


def training(ranks=1, steps=24, epochs=1, exchange=0, **kinds):
    """A job of steps in epochs. kinds: milliseconds of a step; exchange: those of its collective."""
    job = Job(ranks)
    for epoch in range(epochs):
        with contextlib.ExitStack() as stack:
            for rank in job.ranks:
                stack.enter_context(rank.main.within("epoch.block", "pipeline", "whole", epoch=epoch, count=epoch + 1))
            for _ in range(steps):
                for kind, ms in kinds.items():
                    job.spend(kind, ms)
                if exchange:
                    job.meet("all_reduce", exchange)
    return job


def solver(ranks=1, steps=24, exchange=0, **kinds):
    """The same without epochs and fetches: an HPC job."""
    job = Job(ranks)
    for _ in range(steps):
        for kind, ms in kinds.items():
            job.spend(kind, ms)
        if exchange:
            job.meet("exchange", exchange)
    return job
