"""dftracer summary gives the numbers of the oracle, to the last digit; percentiles within the error it states."""

import collections
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile

import summary_oracle as expected

DATA = os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "data")
TOP = 2**64 - 1  # sums stay there when they have no more room


def summary(*arguments):
    done = subprocess.run(
        [os.environ["DFT_TEST_COMMAND"], "summary", "--json", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def same(what, ours, theirs):
    assert ours == theirs, f"{what}: summary {str(ours)[:300]}, oracle {str(theirs)[:300]}"


def near(what, ours, theirs, grain):
    assert abs(ours - theirs) <= theirs / 128 + grain / 2, f"{what}: summary {ours}, oracle {theirs}"


def check_groups(found, groups, keys, grain):
    ours = {tuple(group[key] for key in keys): group for group in found["groups"]}
    same("groups", sorted(ours), sorted(groups))
    for key, spans in groups.items():
        durations = [span.end - span.start for span in spans]
        group = ours[key]
        same(f"{key} count", group["count"], len(spans))
        same(f"{key} total", group["total_ns"], sum(durations))
        same(f"{key} self", group["self_ns"], sum(span.self for span in spans))
        same(f"{key} mean", group["mean_ns"], sum(durations) // len(spans))
        same(f"{key} least", group["min_ns"], min(durations))
        same(f"{key} most", group["max_ns"], max(durations))
        near(f"{key} median", group["median_ns"], expected.percentile(durations, 0.5), grain)
        near(f"{key} p95", group["p95_ns"], expected.percentile(durations, 0.95), grain)


def check_io(what, ours, theirs):
    for key in (
        "reads",
        "writes",
        "metadata",
        "read_bytes",
        "write_bytes",
        "read_ns",
        "write_ns",
        "metadata_ns",
        "sequential",
        "random",
        "failed",
    ):
        same(f"{what} {key}", ours[key], min(theirs.numbers[key], TOP))
    same(f"{what} calls", ours["calls"], sum(theirs.numbers[key] for key in ("reads", "writes", "metadata")))
    if theirs.sizes:
        near(f"{what} median size", ours["size_median"], expected.percentile(theirs.sizes, 0.5), 1)
        same(f"{what} largest", ours["size_max"], max(theirs.sizes))


def check(texts, paths, grain=1000):
    wanted = expected.Summary(texts)
    for threads in ("1", "3"):
        found = summary("--jobs", threads, *paths)
        same("problems", found["problems"], [])
        same("events", found["events"], len(wanted.users))
        same("metadata", found["metadata"], wanted.counts["M"])
        same("counters", found["counters"], wanted.counts["C"])
        same("threads", found["threads"], len(wanted.threads))
        job = found["job"]
        same("job time", job["time_ns"], wanted.time_ns)
        same("thread time", job["thread_ns"], wanted.thread_ns)
        same("regions", job["region_ns"], wanted.region_ns)
        same("I/O", job["io_ns"], wanted.io_ns)
        same("every second", job["thread_ns"], job["region_ns"] + job["io_ns"] + job["outside_ns"])
        check_groups(found, wanted.groups, ("name", "cat"), grain)
        files = {file["file"]: file for file in found["io"]["files"]}
        same("files", sorted(files), sorted(wanted.files.get(file, file) for file in wanted.by_file))
        for file, io in wanted.by_file.items():
            check_io(file, files[wanted.files.get(file, file)], io)
        same("processes with I/O", len(found["io"]["processes"]), len(wanted.by_process))
        for key in ("reads", "read_bytes", "sequential", "random"):
            same(
                f"processes {key}",
                sorted(process[key] for process in found["io"]["processes"]),
                sorted(min(io.numbers[key], TOP) for io in wanted.by_process.values()),
            )
        for key, value in wanted.training.items() if found["training"] else ():
            same(f"training {key}", found["training"][key], value)
        same("training", bool(found["training"]), bool(wanted.training["fetches"] or wanted.training["computes"]))
    return found, wanted


# ---- Made-up traces -------------------------------------------------------------------------------------------------


class Writer:
    """Events of several threads that nest, recorded as they end, chunks of threads in any order."""

    def __init__(self, seed, unit="US"):
        self.rng = random.Random(seed)
        self.threads = collections.defaultdict(list)
        self.id = 10
        self.unit = unit
        self.names = ["step", "Größe \U0001f680", 'a,"b\\c', "x" * 100, "end"]

    def event(self, thread, name, cat, start, end, parent, level, args):
        self.id += 1
        line = {
            "id": self.id if not parent else parent[0],
            "name": name,
            "cat": cat,
            "pid": 7,
            "tid": thread,
            "ts": start,
            "dur": end - start,
            "ph": "X",
            "args": {"hhash": "2a702c695247d487"},
        }
        if self.rng.random() < 0.9:
            line["args"] |= {"p_idx": parent[1], "level": level}
        line["args"] |= args
        self.threads[thread].append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))

    def leaf(self, thread, at, parent, level):
        rng, self.id = self.rng, self.id + 1
        end = at + rng.choice([0, 0, 1, 1, 7, 500, 10**6])
        name = rng.choice(["read", "pread64", "write", "pwrite", "lseek", "open", "close", "fread", "__xstat"])
        args = {"fhash": f"{rng.randrange(40):016x}", "ret": rng.choice([-1, 0, 100, 4096, 2**62, 2**63 - 1])}
        if name in ("pread64", "pwrite"):
            args["offset"] = rng.choice([0, 100, 200, 4096, 2**63 - 1])
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
        cat, name = rng.choice(
            [
                ("compute", "forward"),
                ("dataloader", "fetch.iter"),
                ("data", "item"),
                ("app", rng.choice(self.names)),
                ("comm", "all_reduce"),
                ("app", "step"),
            ]
        )
        self.event(
            thread,
            name,
            cat,
            start,
            at,
            (own, parent),
            level,
            {"epoch": rng.choice([1, "2", 3]), "step": rng.randrange(5)},
        )
        return at

    def text(self, events):
        rng = self.rng
        for thread in range(1, rng.randrange(2, 6)):
            at = 1727286231145121 if self.unit != "MS" else 1727286231145
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
        common = '"cat":"dftracer","pid":7,"tid":7,"ph":"M"'
        lines = [f'{{"id":1,"name":"CM",{common},"args":{{"name":"time_metric","value":"{self.unit}"}}}}']
        for i in range(30):
            lines.append(f'{{"id":2,"name":"FH",{common},"args":{{"name":"/d/{i}","value":"{i:016x}"}}}}')
        chunks = []
        for thread in self.threads.values():  # of one thread in order; now and then two change places
            own = [thread[i : i + 50] for i in range(0, len(thread), 50)]
            for i in range(0, len(own) - 1, 7):
                own[i], own[i + 1] = own[i + 1], own[i]
            chunks.append(own)
        while any(chunks):
            lines += rng.choice([own for own in chunks if own]).pop(0)
        lines.append('{"id":3,"name":"loss","cat":"train","pid":7,"tid":7,"ts":5,"ph":"C","args":{"loss":0.5}}')
        return ("[\n" + "\n".join(lines) + "\n").encode()


def made_up_traces(folder):
    for seed, unit in ((1, "US"), (2, "NS"), (3, "US"), (4, "MS")):
        text = Writer(seed, unit).text(6000)
        path = os.path.join(folder, f"{seed}.pfw")
        with open(path, "wb") as file:
            file.write(text)
        check([text], [path], 1 if unit == "NS" else 1000)


def real_trace(folder):
    with tarfile.open(os.path.join(DATA, "dlio-unet3d-8ranks.tar.gz")) as archive:
        archive.extractall(folder, filter="data")
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    found, _ = check([expected.oracle.read(path) for path in paths], paths)
    same("events of the README", found["events"], 18039 - 16)
    same("job time of the README", round(found["job"]["time_ns"] / 1e9, 3), 56.695)
    same("threads", found["threads"], 56)
    same("bytes of the README", round(found["io"]["all"]["read_bytes"] / 2**20, 3), 111833.161)
    same("POSIX calls", found["io"]["all"]["calls"], 10581)


def real_trace_by_everything_else(folder):
    with tarfile.open(os.path.join(DATA, "dlio-unet3d-8ranks.tar.gz")) as archive:
        archive.extractall(folder, filter="data")
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    texts = [expected.oracle.read(path) for path in paths]

    def numbered(value):
        value = expected.integer(value, None)
        return "" if value is None else str(value)

    ways = {
        "thread": (("thread", "process"), lambda span: (str(span.event["tid"]), f"corona171:{span.event['pid']}")),
        "process": (("process",), lambda span: (f"corona171:{span.event['pid']}",)),
        "step": (("step", "epoch"), lambda span: (numbered(span.args.get("step")), numbered(span.args.get("epoch")))),
    }
    for by, (keys, group) in ways.items():
        check_groups(summary("--by", by, *paths), expected.Summary(texts, group).groups, keys, 1000)
    wanted = expected.Summary(texts)
    found = summary("--by", "file", *paths)
    groups = collections.defaultdict(list)
    for span in wanted.users:
        groups[(wanted.files.get(span.file, span.file),)].append(span)
    check_groups(found, groups, ("file",), 1000)
    first = min(span.start for span in wanted.spans)
    found = summary("--from", "10s", "--to", "20s", "--cat", "POSIX", "--name", "p*", *paths)
    count = sum(10**10 <= span.start - first < 2 * 10**10 and span.event["name"] == "pread" for span in wanted.users)
    assert count
    same("filters", [(group["name"], group["count"]) for group in found["groups"]], [("pread", count)])


def main():
    for case in (made_up_traces, real_trace, real_trace_by_everything_else):
        with tempfile.TemporaryDirectory() as folder:
            case(folder)
            print("passed:", case.__name__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
