"""Traces that nobody recorded, for the summary: all that is allowed and little that is likely."""

import collections
import json
import random

HOST = "2a702c695247d487"
BEGIN = {"NS": 1727286231145121000, "US": 1727286231145121, "MS": 1727286231145}

# Categories and names of regions: those of a training, of a worker that loads, and of what has nothing to do with it.
KINDS = (
    ("compute", "forward"),
    ("ai_framework", "Torch.compute"),
    ("compute", "forward.init"),
    ("compute", "step"),
    ("dataloader", "fetch.init"),
    ("dataloader", "fetch.iter"),
    ("dataloader", "fetch.block"),
    ("data_loader", "loop.iter"),
    ("data", "item"),
    ("reader", "read_index"),
    ("comm", "all_reduce"),
    ("nccl", "all_reduce"),
    ("device", "transfer"),
    ("checkpoint", "capture"),
    ("pipeline", "epoch"),
    ("pipeline", "epoch.block"),
    ("pipeline", "epoch.iter"),
    ("pipeline", "step"),
    ("app", "step"),
    ("pipeline", "evaluate"),
    ("pipeline", "test.iter"),
    ("mpi", "exchange"),
    ("MPI", "MPI_Init_thread"),
    ("MPIIO", "MPI_File_write_at"),
    ("io", "read_all"),
    ("IO", "write_all"),
    ("checkpointing", "init"),
)
LOADING = (("data", "item"), ("data", "preprocess"), ("reader", "open"), ("app", "wait"))
OTHERS = (("app", "work"), ("app", "wait"), ("app", "setup_mesh"), ("mpi", "exchange"), ("MPIIO", "MPI_File_read"))

LEAVES = ("read", "pread64", "write", "pwrite", "lseek", "open", "close", "fread", "__xstat")
LEAVES += ("copy_file_range", "sendfile64", "splice", "getline", "fprintf", "fgetc")
LEAVES += ("putc", "fscanf", "vfscanf", "mmap", "mmap64")
LEAVES += ("fseek", "fseeko64", "rewind", "fopen", "freopen", "fclose", "openat")
LEAVES += ("fork", "execvp", "fexecve", "posix_spawn", "waitpid", "wait4")


# Numbers in names and in folders, padded and not; many names in a folder and in those below; few; none.
PATHS = [f"/data/run_{1 + i // 4}/part-{i % 4 * 9:03}-of-128.parquet" for i in range(10)]
PATHS += [f"/data/hashed/{name}.bin" for name in ("a3f9", "9b2", "cc", "d04e1", "e1", "f5aa")]
PATHS += [f"/usr/{name}" for name in ("lib/a/one.so", "lib/a/two.so.1", "lib/b/x.so", "lib/b/c/y.h5", "lib/z", "x")]
PATHS += ["/etc/a", "/etc/b2", "/etc/b3", "/tmp", "log.1", "log.02", "log.3", "a.h5"]


class Writer:
    """The trace of one process: threads with events that nest, recorded as they end, chunks of threads in any order."""

    def __init__(self, seed, unit="US", kinds=KINDS, pid=7, ppid=1, rank=None):
        self.rng = random.Random(seed)
        self.threads = collections.defaultdict(list)
        self.id = 10
        self.unit, self.kinds = unit, kinds
        self.pid, self.ppid, self.rank = pid, ppid, rank
        self.command = ("/usr/bin/python3;-u;train.py", "tar;cf;=x", "")[seed % 3]
        self.names = ["step", "Größe \U0001f680", 'a,"b\\c', "x" * 100, "end"]

    def event(self, thread, name, cat, start, end, parent, level, args):
        self.id += 1
        line = {
            "id": self.id if not parent else parent[0],
            "name": name,
            "cat": cat,
            "pid": self.pid,
            "tid": thread,
            "ts": start,
            "dur": end - start,
            "ph": "X",
            "args": {"hhash": HOST},
        }
        if self.rng.random() < 0.9:
            line["args"] |= {"p_idx": parent[1], "level": level}
        line["args"] |= args
        self.threads[thread].append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))

    def leaf(self, thread, at, parent, level):
        rng, self.id = self.rng, self.id + 1
        end = at + rng.choice([0, 0, 1, 1, 7, 500, 10**6])
        name = rng.choice(LEAVES)
        args = {"fhash": f"{rng.randrange(40):016x}", "ret": rng.choice([-1, 0, 100, 4096, 2**62, 2**63 - 1])}
        if args["ret"] < 1:
            args |= rng.choice([{}, {"errno": 2}, {"errno": rng.choice([13, "4", "x", -1])}])
        if rng.random() < 0.1:
            del args["ret"]
        if name in ("pread64", "pwrite"):
            args["offset"] = rng.choice([0, 100, 200, 4096, 2**63 - 1])
        if name.startswith("fseek"):
            args |= {"offset": rng.choice([0, 100, 4096, -100, 2**63 - 1]), "whence": rng.choice([0, 0, 1, 2])}
        if name in ("open", "openat"):
            args |= rng.choice([{}, {"flags": rng.choice([0, 577, 1089, "1024", "x", -1]), "mode": 438}])
        if name in ("fopen", "freopen"):
            args |= rng.choice([{}, {"mode": rng.choice(["r", "a", "ab+", "w", ""])}])
        if name.startswith("mmap"):
            args["length"] = rng.choice([-1, 0, 4096, 2**63 - 1, "8192", "x"])
        if name in ("copy_file_range", "splice", "sendfile64", "open"):
            args |= rng.choice([{}, {"path2_hash": f"{rng.randrange(50):016x}"}])
        self.event(thread, name, rng.choice(["POSIX", "STDIO"]), at, end, (self.id, parent), level, args)
        return end

    def region(self, thread, at, depth, parent, level):
        rng = self.rng
        self.id += 1
        own, start = self.id, at
        for _ in range(rng.randrange(4)):
            at += rng.choice([0, 0, 1, 30])
            at = (
                self.region(thread, at, depth - 1, own, level + 1)
                if depth and rng.random() < 0.6
                else self.leaf(thread, at, own, level + 1)
            )
        at += rng.choice([0, 0, 1, 1000])
        cat, name = rng.choice([*self.kinds, ("app", rng.choice(self.names))])
        self.event(
            thread,
            name,
            cat,
            start,
            at,
            (own, parent),
            level,
            rng.choice(
                [
                    {},
                    {"epoch": rng.choice([3, "2", 1, -1, "x", 2.5]), "step": rng.randrange(5)},
                    {"samples": rng.choice([1, 32, "64", 0, -1])},
                ]
            ),
        )
        return at

    def line(self, name, phase, args, cat="dftracer", **others):
        line = {"id": 1, "name": name, "cat": cat, "pid": self.pid, "tid": self.pid, **others, "ph": phase}
        return json.dumps(line | {"args": {"hhash": HOST} | args}, ensure_ascii=False, separators=(",", ":"))

    def head(self):
        lines = [self.line("HH", "M", {"name": "node", "value": HOST})]
        lines.append(self.line("CM", "M", {"name": "time_metric", "value": self.unit}))
        facts = {"ppid": self.ppid} | ({"cmd_hash": f"c{len(self.command)}"} if self.command else {"exec_hash": "c9"})
        if self.command:
            lines.append(self.line("SH", "M", {"name": self.command, "value": facts["cmd_hash"]}))
        if self.ppid:
            lines.append(self.line("start", "X", facts, ts=BEGIN[self.unit] - 2, dur=0))
        if self.rank is not None:
            lines.append(self.line("PR", "M", {"name": "rank", "value": str(self.rank)}))
        return lines + [self.line("FH", "M", {"name": path, "value": f"{i:016x}"}) for i, path in enumerate(PATHS)]

    def tail(self):
        end = BEGIN[self.unit] + 10**9
        return [
            self.line("loss", "C", {"loss": 0.5}, cat="train", ts=end),
            self.line("mark", "i", {}, cat="app", ts=end),
            self.line("end", "X", {"num_dropped": 5, "recovered": 1}, ts=end, dur=0),
        ]

    def text(self, events):
        rng = self.rng
        for thread in range(1, rng.randrange(2, 6)):
            at = BEGIN[self.unit]
            while len(self.threads[thread]) < events:
                at = self.region(thread, at + rng.choice([0, 3, 10**5]), 4, -1, 1)
                if rng.random() < 0.05:  # an event with times of the caller's, over others
                    self.id += 1
                    self.event(
                        thread,
                        "explicit",
                        "app",
                        at - rng.randrange(3000),
                        at + rng.randrange(3000),
                        (self.id, 0),
                        0,
                        {},
                    )
        lines = self.head()
        chunks = []
        for thread in self.threads.values():  # of one thread in order; now and then two change places
            own = [thread[i : i + 50] for i in range(0, len(thread), 50)]
            for i in range(0, len(own) - 1, 7):
                own[i], own[i + 1] = own[i + 1], own[i]
            chunks.append(own)
        while any(chunks):
            lines += rng.choice([own for own in chunks if own]).pop(0)
        lines += self.tail()
        return ("[\n" + "\n".join(lines) + "\n").encode()
