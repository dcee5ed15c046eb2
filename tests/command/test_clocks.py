"""dftracer merge --align auto: the clocks of nodes from MPI calls, on jobs whose true times are known."""

import gzip
import json
import random
import re
import tempfile
from pathlib import Path

from harness import dftracer

START = 1_767_225_600_000_000  # us
SECONDS = 20
NODES = ("alpha", "beta", "gamma")
HASHES = ("00000000000000aa", "00000000000000bb", "00000000000000cc")


class Clock:
    """What a node's clock shows: off by so many us, and faster by so many millionths."""

    def __init__(self, offset=0.0, ppm=0.0, jump=0.0):
        self.offset, self.ppm, self.jump = offset, ppm, jump

    def shows(self, true):
        since = true - START
        return true + self.offset + since * self.ppm / 1e6 + (self.jump if since > SECONDS * 5e5 else 0)


class Rank:
    """The trace of one process. Times are true ones; they are written as the node's clock shows them."""

    def __init__(self, rank, node, clock, run="r1"):
        self.rank, self.node, self.clock, self.run = rank, node, clock, run
        self.lines, self.now, self.id, self.true = [], float(START), 100, {}
        self.pid = 1000 + rank
        self.dropped = 0

    def call(self, name, start, end, cat="MPI", tid=None, **args):
        first, last = int(self.clock.shows(start)), int(self.clock.shows(end))
        self.id += 1
        self.true[self.id] = (start, end)
        self.lines.append({"id": self.id, "name": name, "cat": cat, "pid": self.pid, "tid": tid or self.pid,
                           "ts": first, "dur": last - first, "ph": "X",
                           "args": {"hhash": HASHES[self.node], "number": self.id, **args}})  # fmt: skip
        return self.id

    def write(self, folder):
        host = HASHES[self.node]

        def meta(line, **args):
            return {"id": 1, "name": line, "cat": "dftracer", "pid": self.pid, "tid": self.pid, "ph": "M",
                    "args": {"hhash": host, **args}}  # fmt: skip

        def own(name, **args):
            return {"id": 2, "name": name, "cat": "dftracer", "pid": self.pid, "tid": self.pid,
                    "ts": int(self.clock.shows(START)), "dur": 0, "ph": "X",
                    "args": {"hhash": host, **args}}  # fmt: skip

        lost = {"num_dropped": self.dropped} if self.dropped else {}
        lines = [meta("HH", name=NODES[self.node], value=host), meta("thread_name", name=f"Rank {self.rank}"),
                 meta("CM", name="time_metric", value="US"), own("start", run=self.run),
                 meta("PR", name="rank", value=str(self.rank)), *self.lines,
                 own("end", num_events=len(self.lines), **lost)]  # fmt: skip
        text = "[\n" + "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        Path(folder, f"t-{NODES[self.node]}-{self.pid}-app.pfw.gz").write_bytes(gzip.compress(text.encode()))


class Job:
    """Six ranks on three nodes: they compute, exchange messages in a ring, and meet in collectives."""

    def __init__(self, clocks, seed=1, ranks=6, run="r1"):
        self.rng = random.Random(seed)
        self.ranks = [Rank(i, i * len(NODES) // ranks, clocks[i * len(NODES) // ranks], run) for i in range(ranks)]
        for rank in self.ranks:
            rank.call("MPI_Init", rank.now, rank.now + 50, rank=rank.rank, size=ranks)
            rank.now += 60

    def compute(self, most):
        for rank in self.ranks:
            took = self.rng.uniform(most / 2, most)
            rank.call("work", rank.now, rank.now + took, cat="app")
            rank.call("inside", rank.now + took / 4, rank.now + took / 2, cat="app")
            rank.now += took

    def meet(self, name="MPI_Allreduce", **args):
        last = max(rank.now for rank in self.ranks)
        for rank in self.ranks:
            end = last + self.rng.uniform(3, 12)
            rank.call(name, rank.now, end, comm=0, comm_size=len(self.ranks), **args)
            rank.now = end + 1

    def exchange(self, step, kind="nonblocking"):
        """To the right and to the left; a message takes 5 us or more."""
        count = len(self.ranks)
        sent, arrives = {}, {}
        for rank in self.ranks:
            for by in (1, count - 1):
                sent[rank.rank, (rank.rank + by) % count] = rank.now
                arrives[rank.rank, (rank.rank + by) % count] = rank.now + self.rng.uniform(5, 30)
        for rank in self.ranks:
            sources = [(rank.rank + by) % count for by in (1, count - 1)]
            starts = []
            for source in sources:
                starts.append(rank.call("MPI_Irecv", rank.now - 2, rank.now - 1.5, comm=0, comm_size=count,
                                        peer=source, tag=step % 3, bytes=8))  # fmt: skip
            for source in sources:
                name = "MPI_Send_init" if kind == "persistent" else "MPI_Isend"
                if kind == "persistent" and step:
                    rank.call("MPI_Start", rank.now, rank.now + 0.5, requests=1)
                else:
                    rank.call(name, rank.now, rank.now + 0.5, comm=0, comm_size=count, peer=source, tag=step % 3,
                              bytes=8)  # fmt: skip
            end = max(arrives[source, rank.rank] for source in sources) + 1
            rank.call("MPI_Waitall", rank.now + 1, end, requests=4, completed=4, start_1=starts[0], start_2=starts[1])
            rank.now = end + 3

    def write(self, folder):
        Path(folder).mkdir(exist_ok=True)
        for rank in self.ranks:
            rank.write(folder)


def run_job(clocks, seed=1, steps=200, meetings=True, messages=True, kind="nonblocking"):
    job = Job(clocks, seed)
    for step in range(steps):
        job.compute(2 * SECONDS * 1e6 / steps / 1.6)
        if messages:
            job.exchange(step, kind)
        if meetings:
            job.meet(bytes=8)
    return job


def in_a_folder(check):
    def inside():
        with tempfile.TemporaryDirectory() as folder:
            check(folder)

    return inside


def merged(folder, *words):
    _, err = dftracer("merge", f"{folder}/in", *words, "-o", f"{folder}/out.json")
    whole = json.loads(Path(folder, "out.json").read_text())
    return whole["otherData"], whole["traceEvents"], err


def errors(job, events):
    """By how much the times of each node are wrong at most, in us, if those of the first are right."""
    at = {(event["pid"], event["args"]["number"]): event for event in events if "number" in event.get("args", {})}
    worst = dict.fromkeys(NODES, 0.0)
    for rank in job.ranks:
        for number, (start, end) in rank.true.items():
            event = at[rank.pid, number]
            off = max(abs(event["ts"] - start), abs(event["ts"] + event["dur"] - end))
            worst[NODES[rank.node]] = max(worst[NODES[rank.node]], off)
    return worst


def expect_corrected(folder, clocks, most_us, **options):
    job = run_job(clocks, **options)
    job.write(f"{folder}/in")
    facts, events, err = merged(folder)
    assert facts["clocks"] == "auto", facts
    wrong = errors(job, events)
    for node in NODES[1:]:
        bound = facts[f"bound_ns {node}"] / 1000
        assert wrong[node] <= bound + 2, (node, wrong, facts, err)  # both ends are rounded down
        assert bound < most_us, (node, bound, wrong, err)
    assert wrong[NODES[0]] <= 1, wrong
    return facts, err, events


@in_a_folder
def an_offset_is_found(folder):
    facts, err, _ = expect_corrected(folder, [Clock(), Clock(5_250_000.4), Clock(-37_000.8)], 200)
    assert abs(facts["moved_ns beta"] + 5_250_000_400) < 200_000, facts
    assert abs(facts["moved_ns gamma"] - 37_000_800) < 200_000, facts
    assert "moved_ns alpha" not in facts and "bound_ns alpha" not in facts, facts
    assert "the clock of beta was 5.25 s ahead" in err and "the clock of gamma was 37.0 ms behind" in err, err
    assert len(re.findall(r"corrected to within [\d.]+ us", err)) == 2, err


@in_a_folder
def a_drift_is_found(folder):
    facts, err, events = expect_corrected(folder, [Clock(), Clock(800, 100), Clock(-90_000, -45)], 200)
    assert abs(facts["drift_ppm beta"] + 100) < 10 and abs(facts["drift_ppm gamma"] - 45) < 10, facts
    assert "ppm too fast" in err and "ppm too slow" in err, err
    work = {}
    for event in events:  # they still nest
        if event["name"] == "work":
            work[event["pid"]] = (event["ts"], event["ts"] + event["dur"])
        if event["name"] == "inside":
            first, last = work[event["pid"]]
            assert first <= event["ts"] and event["ts"] + event["dur"] <= last, event
        assert isinstance(event.get("ts", 0), int) and isinstance(event.get("dur", 0), int), event


@in_a_folder
def events_of_a_profiler_without_a_time_stay_as_they_are(folder):
    """In a process whose clock drifts."""
    job = run_job([Clock(), Clock(800, 300), Clock()])
    job.write(f"{folder}/in")
    (rank, *_) = [rank for rank in job.ranks if rank.node == 1]
    kernel = {"ph": "X", "name": "kernel", "cat": "kernel", "pid": rank.pid, "tid": rank.pid, "dur": 5.5}
    profile = {"distributedInfo": {"rank": rank.rank}, "traceEvents": [kernel]}
    Path(folder, "profile.json").write_text(json.dumps(profile))
    _, events, _ = merged(folder, f"{folder}/profile.json")
    (found,) = [event for event in events if event["name"] == "kernel"]
    assert found["dur"] == 5.5 and "ts" not in found, found


@in_a_folder
def the_first_clock_is_that_of_rank_0(folder):
    job = run_job([Clock(9_000, 20), Clock(9_000, 20), Clock()])
    job.write(f"{folder}/in")
    facts, events, _ = merged(folder)
    for rank in job.ranks:  # in the time of rank 0
        rank.true = {number: (Clock(9_000, 20).shows(start), Clock(9_000, 20).shows(end))
                     for number, (start, end) in rank.true.items()}  # fmt: skip
    wrong = errors(job, events)
    assert wrong["gamma"] <= facts["bound_ns gamma"] / 1000 + 2, (wrong, facts)
    assert "moved_ns alpha" not in facts and "moved_ns beta" not in facts, facts


@in_a_folder
def messages_or_collectives_are_enough(folder):
    clocks = [Clock(), Clock(700_000, 30), Clock(-700_000)]
    expect_corrected(f"{folder}", clocks, 200, meetings=False)
    for path in Path(folder, "in").iterdir():
        path.unlink()
    expect_corrected(f"{folder}", clocks, 200, messages=False, seed=4)


@in_a_folder
def good_clocks_are_left_alone(folder):
    job = run_job([Clock(), Clock(1), Clock(-1)])
    job.write(f"{folder}/in")
    facts, _, err = merged(folder)
    assert not [key for key in facts if key.startswith(("moved", "drift"))], facts
    assert facts["bound_ns beta"] > 1000 and "do not contradict the clocks of 2 other nodes" in err, (facts, err)
    merged(folder, "--align", "clock")
    unmoved = Path(folder, "out.json").read_bytes().replace(b'"clocks":"clock"', b"")
    merged(folder)
    text = re.sub(rb'"clocks":"auto"(,"bound_ns \w+":\d+)*', b"", Path(folder, "out.json").read_bytes())
    assert text == unmoved


@in_a_folder
def without_MPI_nothing_changes(folder):
    dftracer("generate", "-n", 2000, "-p", 3, "--nodes", 2, f"{folder}/in")
    _, _, err = merged(folder)
    text = Path(folder, "out.json").read_bytes()
    _, _, plain_err = merged(folder, "--align", "clock")
    assert text == Path(folder, "out.json").read_bytes() and err == plain_err, (err, plain_err)
    assert b'"clocks":"clock"' in text


@in_a_folder
def on_one_node_nothing_changes(folder):
    job = run_job([Clock()] * 3, steps=5)
    for rank in job.ranks:
        rank.node = 0
    for number, rank in enumerate(job.ranks):
        for line in rank.lines:
            line["args"]["hhash"] = HASHES[0]
        rank.pid += number
    job.write(f"{folder}/in")
    facts, _, err = merged(folder)
    assert facts["clocks"] == "clock" and "clock" not in err, (facts, err)


def expect_no_false_bound(folder, spoil, clocks=None, kind="nonblocking", meetings=True):
    """What is missing may leave clocks as they are, but never makes a bound that is wrong."""
    clocks = clocks or [Clock(), Clock(60_000), Clock(-60_000)]
    job = run_job(clocks, kind=kind, meetings=meetings)
    spoil(job)
    job.write(f"{folder}/in")
    facts, events, err = merged(folder)
    wrong = errors(job, events)
    for node in NODES[1:]:
        bound = facts.get(f"bound_ns {node}")
        assert bound is None or wrong[node] <= bound / 1000 + 2, (node, wrong, facts, err)
    return facts, err


def forget(rank, keep):
    rank.lines = [line for number, line in enumerate(rank.lines) if keep(number, line)]
    rank.true = {line["args"]["number"]: rank.true[line["args"]["number"]] for line in rank.lines}


@in_a_folder
def a_trace_with_gaps_makes_no_false_bound(folder):
    def drop(job):
        for rank in job.ranks[2:4]:
            forget(rank, lambda number, line: number % 7 != 3)
            rank.dropped = 50

    facts, _ = expect_no_false_bound(folder, drop)
    assert "bound_ns gamma" in facts and "moved_ns beta" not in facts, facts  # of beta, no send counts


@in_a_folder
def a_trace_that_began_late_makes_no_false_bound(folder):
    def late(job):
        forget(job.ranks[2], lambda number, line: number > 300)
        forget(job.ranks[3], lambda number, line: number > 300)

    facts, err = expect_no_false_bound(folder, late)
    assert "bound_ns gamma" in facts and "moved_ns beta" not in facts, (facts, err)  # of beta, no send counts


@in_a_folder
def persistent_sends_make_no_false_bound(folder):
    facts, err = expect_no_false_bound(folder, lambda job: None, kind="persistent", meetings=False)
    assert "bound_ns beta" not in facts and "no MPI call bounds the clocks of 2 nodes" in err, (facts, err)


@in_a_folder
def threads_make_no_false_bound(folder):
    def mix(job):
        """Two threads share the calls; the trace has those of one before those of the other."""
        for rank in job.ranks:
            for number, line in enumerate(rank.lines):
                line["tid"] = rank.pid + 50 * (number // 9 % 2)
            rank.lines.sort(key=lambda line: line["tid"])

    facts, err = expect_no_false_bound(folder, mix)
    assert "moved_ns beta" not in facts and "no MPI call bounds the clocks of 2 nodes" in err, (facts, err)


@in_a_folder
def a_communicator_between_groups_makes_no_false_bound(folder):
    def split(job):
        """Each group waits for the other one only: here, nobody waits for ranks of its own half."""
        for rank in job.ranks:
            for line in rank.lines:
                if line["name"] == "MPI_Allreduce":
                    line["args"]["comm_size"] = 3
                    line["dur"] = 0
                    rank.true[line["args"]["number"]] = (rank.true[line["args"]["number"]][0],) * 2

    def split_unevenly(job):
        """Ranks 0 and 1 on one side."""
        split(job)
        for rank in job.ranks:
            for line in rank.lines:
                if line["name"] == "MPI_Allreduce":
                    line["args"] |= {"comm_size": 2 if rank.rank < 2 else 4, "remote_size": 4 if rank.rank < 2 else 2}

    for how in (split, split_unevenly):
        facts, err = expect_no_false_bound(folder, how)
        assert "bound_ns beta" in facts and "bound_ns gamma" in facts, (facts, err)  # by messages


@in_a_folder
def collectives_without_data_say_nothing(folder):
    job = run_job([Clock(), Clock(60_000), Clock()], messages=False)
    for rank in job.ranks:
        for line in rank.lines:
            if line["name"] == "MPI_Allreduce":
                line["args"]["bytes"], line["dur"] = 0, 0
    job.write(f"{folder}/in")
    facts, _, err = merged(folder)
    assert "moved_ns beta" not in facts and "no MPI call bounds" in err, (facts, err)


@in_a_folder
def two_runs_in_one_folder_are_told_apart(folder):
    clocks = [Clock(), Clock(60_000), Clock(-60_000)]
    one, two = run_job(clocks), run_job(clocks, seed=2, steps=60)
    for rank in two.ranks:
        rank.pid += 500
        rank.run = "r2"
        for line in rank.lines:
            line["pid"] = line["tid"] = rank.pid
    one.write(f"{folder}/in")
    two.write(f"{folder}/in")
    facts, events, err = merged(folder)
    for job in (one, two):
        wrong = errors(job, events)
        for node in NODES[1:]:
            assert wrong[node] <= facts[f"bound_ns {node}"] / 1000 + 2, (node, wrong, facts, err)


@in_a_folder
def a_clock_that_was_set_is_reported(folder):
    job = run_job([Clock(), Clock(jump=2_000_000), Clock()])
    job.write(f"{folder}/in")
    facts, _, err = merged(folder)
    assert "was also set while the job ran" in err and "bound_ns beta" not in facts, (facts, err)


for check in (
    an_offset_is_found,
    a_drift_is_found,
    events_of_a_profiler_without_a_time_stay_as_they_are,
    the_first_clock_is_that_of_rank_0,
    messages_or_collectives_are_enough,
    good_clocks_are_left_alone,
    without_MPI_nothing_changes,
    on_one_node_nothing_changes,
    a_trace_with_gaps_makes_no_false_bound,
    a_trace_that_began_late_makes_no_false_bound,
    persistent_sends_make_no_false_bound,
    threads_make_no_false_bound,
    a_communicator_between_groups_makes_no_false_bound,
    collectives_without_data_say_nothing,
    two_runs_in_one_folder_are_told_apart,
    a_clock_that_was_set_is_reported,
):
    check()
