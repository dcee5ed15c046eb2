"""Runs in one folder, ranks without a trace, what tracing cost, regions that do not match, waiting at collectives: jobs
whose truth is known because they were made up for it."""

import json
import random
import subprocess
from pathlib import Path

from cases import run_cases
from test_meaning import COMMAND, Trace, summary


class Rank(Trace):
    """A process of a job; `facts` are arguments of its start."""

    def __init__(self, pid, start, rank=None, host="a1", **facts):
        super().__init__(pid, rank, start)
        first = json.loads(self.lines[1])
        first["args"] |= facts
        self.lines[1] = json.dumps(first)
        self.host = host

    def save(self, folder):
        self.lines = [line.replace('"hhash": "a1"', f'"hhash": "{self.host}"') for line in self.lines]
        super().save(folder)


def run(*arguments):
    return subprocess.run([COMMAND, "summary", *map(str, arguments)], capture_output=True, text=True, check=False)


def job(folder, pid, begin, ranks, **facts):
    """Ranks that start a millisecond after each other and work for a second."""
    for rank in range(ranks):
        trace = Rank(pid + rank, begin + rank, rank, **facts)
        trace.event("work", "app", begin + rank, begin + 1000)
        trace.save(folder)


def quick_runs_with_an_id(folder):
    """The second run starts before the first one has ended: only the id tells them apart."""
    job(folder, 100, 0, 4, run="job 1", cmd_hash="c1")
    job(folder, 200, 900, 4, run="job 2")
    text, found = summary(folder)
    assert (found["run"], found["processes"], found["events"]) == (2, 4, 4), found
    assert [(one["id"], one["processes"]) for one in found["runs"]] == [("job 1", 4), ("job 2", 4)], found["runs"]
    assert found["job"]["time_ns"] == 10**9, found["job"]
    assert "Runs run 2 is shown; --run N shows another one, --run all adds them up" in text, text
    text, found = summary(folder, "--run", "1")
    assert (found["run"], found["job"]["start_ns"]) == (1, 1_700_000_000 * 10**9), found["job"]
    text, found = summary(folder, "--run", "all")
    assert (found["run"], found["processes"], found["job"]["time_ns"]) == ("all", 8, 1900 * 10**6), found
    assert "job time 1.90 s, 2023-11-14" in text and "with the time between 2 runs\n" in text, text
    done = run("--run", "3", folder)
    assert (done.returncode, done.stdout) == (1, "") and "there is no run 3: the traces are of 2 runs" in done.stderr
    for word in ("0", "-1", "newest", ""):
        assert run("--run", word, folder).returncode == 2, word
    done = run("--csv", folder)
    assert "name,cat" in done.stdout and "one of 2 runs" in done.stderr, done


def a_process_that_writes_again(folder):
    """A cell of a notebook runs again, and its worker runs on; elsewhere pids are the same, but not the processes."""
    traces = [(100, 0, 100, "a1"), (100, 2000, 100, "a1"), (100, 4000, 100, "a1"), (101, 0, 5000, "a1")]
    traces += [(100, 0, 5000, "b2"), (100, 1000, 500, "b2")]  # another host; there, two containers at the same time
    for number, (pid, begin, length, host) in enumerate(traces):
        trace = Rank(pid, begin, host=host, run="notebook")
        trace.event("work", "app", begin, begin + length)
        trace.event("end", "dftracer", begin + length, begin + length)
        trace.save(folder)
        (Path(folder) / f"{pid}.pfw").rename(Path(folder) / f"trace-{number}.pfw")
    text, found = summary(folder)
    assert (found["traces"], found["processes"], found["threads"]) == (6, 4, 4), found
    assert found["runs"][0]["processes"] == 4 and "6 traces, 6 events, 4 processes, 4 threads, 2 hosts" in text, text
    _, found = summary(folder, "--from", "1", "--to", "3")
    assert found["processes"] == 2, found  # the second traces of both
    for path in Path(folder).glob("*.pfw"):
        path.write_text(path.read_text().replace('"run": "notebook"', '"other": 1'))
    assert sum(one["processes"] for one in summary(folder)[1]["runs"]) == 6, "without an id nobody knows"


def older_traces(folder):
    """Ranks and lifetimes decide: the same ranks again, then after a pause a program without ranks, twice in a row."""
    job(folder, 100, 0, 4)
    job(folder, 200, 1100, 4)
    for pid, begin in ((300, 5000), (301, 6200)):  # 200 ms apart
        job(folder, pid, begin, 1)
        path = Path(folder) / f"{pid}.pfw"
        path.write_text(path.read_text().replace('"PR"', '"XX"'))
    _, found = summary(folder)
    spans = [(one["start_ns"] // 10**6 % 10**6, one["end_ns"] // 10**6 % 10**6) for one in found["runs"]]
    assert spans == [(0, 1000), (1100, 2100), (5000, 7200)], spans
    assert (found["processes"], found["runs"][0]["id"]) == (2, None), found
    _, found = summary(folder, "--run", "1")
    assert found["processes"] == 4, found["runs"]


def one_run_without_an_id(folder):
    """A launcher lives all the time; the same rank comes twice, because each rank runs two programs."""
    launcher = Rank(1, 0)
    launcher.event("work", "app", 0, 10000)
    launcher.save(folder)
    job(folder, 100, 10, 2)
    job(folder, 200, 5000, 2)
    _, found = summary(folder)
    assert (len(found["runs"]), found["processes"]) == (1, 5), found["runs"]


def times_count_within_the_run(folder):
    """--from 500ms means another moment in each run."""
    for number, pid in enumerate((100, 200)):
        for rank in range(2):
            begin = 60000 * number
            trace = Rank(pid + rank, begin + 100 * rank, rank, run=f"r{number}")
            for at in (0, 400, 800):
                trace.event("work", "app", begin + 100 * rank + at, begin + 100 * rank + at + 1)
            trace.save(folder)
    for options in ((), ("--run", "1"), ("--run", "2")):
        _, found = summary(folder, "--from", "500ms", "--to", "850ms", *options)
        assert found["events"] == 2 and found["runs"][0]["events"] == 2, (options, found)
    _, found = summary(folder, "--run", "all", "--from", "500ms", "--to", "850ms")
    assert found["events"] == 4, found


def missing_ranks(folder):
    for rank in (0, 1, 2, 4, 9):
        trace = Rank(100 + rank, 0, rank, world_size=12)
        trace.event("work", "app", 0, 10)
        trace.save(folder)
    text, found = summary(folder)
    wanted = [{"first": first, "last": last} for first, last in ((3, 3), (5, 8), (10, 11))]
    assert (found["world_size"], found["missing_ranks"]) == (12, wanted), found
    assert "5 processes (ranks 3, 5-8, 10-11 of 12 have no trace), " in text, text
    for rank in (3, 5, 6, 7, 8, 10):
        Rank(100 + rank, 0, rank, world_size=12).save(folder)
    text, found = summary(folder)
    assert "11 processes (rank 11 of 12 has no trace), " in text, text
    Rank(111, 0, 11, world_size=12).save(folder)
    text, found = summary(folder)
    assert "12 processes, " in text and found["missing_ranks"] == [], text


def what_tracing_cost(folder):
    """The end is when the program ended; what came after is told beside it."""
    for rank, finish in ((0, 40), (1, 260)):
        trace = Rank(100 + rank, 0, rank)
        trace.event("work", "app", 0, 147)
        costs = {"finish_ns": finish * 10**6, "drain_cpu_ns": 7 * 10**6, "assist_ns": 2 * 10**6}
        trace.event("end", "dftracer", 147, 147, **costs)
        trace.save(folder)
    text, found = summary(folder)
    assert found["job"]["time_ns"] == 147 * 10**6 and found["job"]["outside_ns"] == 0, found["job"]
    cost = {"processes": 2, "finish_ns": 300, "finish_most_ns": 260, "drain_cpu_ns": 14, "assist_ns": 4}
    assert found["tracing"] == {key: n * (10**6 if "_ns" in key else 1) for key, n in cost.items()}, found["tracing"]
    line = "cost of tracing: up to 260 ms after the end of a process, 14.0 ms of CPU in the background, "
    assert f"\n{line}4.00 ms in their threads\n" in text, text


def regions_that_do_not_match(folder):
    for rank in range(3):
        trace = Rank(100 + rank, 0, rank)
        sites = "; ".join(f"f{i} (app)" for i in range(rank, rank + 10))
        trace.event(
            "end", "dftracer", 10, 10, unmatched_ends=20, unmatched_sites=sites, open_regions=rank,
            open_sites="loop (solver)" if rank else "",
        )  # fmt: skip
        trace.save(folder)
    text, found = summary(folder)
    unmatched, never = found["regions"]["unmatched_ends"], found["regions"]["never_ended"]
    assert (unmatched["count"], unmatched["processes"], len(unmatched["sites"])) == (60, 3, 12), unmatched
    assert unmatched["sites"][0] == {"site": "f2 (app)", "processes": 3}, unmatched
    assert never == {"count": 3, "processes": 2, "sites": [{"site": "loop (solver)", "processes": 2}]}, never
    assert "60 regions were ended that had not begun, in 3 processes: f2 (app), f3 (app), " in text, text
    assert "f1 (app) and others\n" in text or "f10 (app) and others\n" in text, text
    assert "3 regions never ended, in 2 processes: loop (solver)" in text, text


def waiting_at_collectives(folder):
    """Who comes last is drawn here, so it is known. Each rank calls on two threads, out of order in the file."""
    rng, ranks, calls, waited, last = random.Random(4), 4, 500, 0, [0] * 4
    traces = [Rank(100 + rank, 0, rank, host="a1" if rank < 2 else "b2") for rank in range(ranks)]
    events = [[] for _ in traces]
    for call in range(calls):
        begin = 1000 + 10 * call
        late = rng.choice([0, 1, 3, 3, 3])
        comes = [begin + (5 if rank == late else rng.choice([0, 1, 2])) for rank in range(ranks)]
        last[late] += 1
        for rank in range(ranks):
            end = comes[rank] + 1 if rank == 2 else begin + 7  # rank 2 does not wait for the others
            waited += min(end, begin + 5) - comes[rank]
            events[rank].append(("all_reduce", comes[rank], end, 7 + call % 2))
    for rank, own in enumerate(events):
        own += [("barrier", 9000 + n, 9001 + n, 7) for n in range(10 + 2 * (rank == 1))]
        own += [("gather", 9200 + 9 * n + rank, 9207 + 9 * n, 7) for n in range(10 + (rank == 1))]  # it was killed
        own += [("send", 9100, 9101, 7)]
        rng.shuffle(own)
        for name, start, end, tid in own:
            traces[rank].event(name, "comm", start, end, tid)
        traces[rank].save(folder)
    for options in ((), ("--memory", "0"), ("--jobs", "1")):
        text, found = summary(folder, *options)
        found = {line["name"]: line for line in found["communication"]["calls"]}
        line = found["all_reduce"]
        assert (line["calls"], line["processes"], line["hosts"]) == (ranks * calls, ranks, 2), line
        assert line["waited_ns"] == waited * 10**6, (line, waited)
        assert (line["last_rank"], line["last_calls"]) == (3, last[3]), (line, last)
        assert found["barrier"]["unknown"] == "the ranks made different numbers of calls", found["barrier"]
        assert found["send"]["unknown"] == "point to point" and found["send"]["waited_ns"] is None, found["send"]
        assert f"rank 3, {last[3]} of 500 - as exact as the clocks of 2 hosts agree" in text, text
        assert "unknown - - the ranks made different numbers of calls: 10 to 12" in text, text
        assert found["gather"]["waited_ns"] == 10 * (3 + 2 + 1) * 10**6, found["gather"]
        assert (
            "rank 3, 10 of 10 - as exact as the clocks of 2 hosts agree; the first 10 calls; some ranks made one more"
            in text
        )
        late = {line["name"]: line for line in summary(folder, *options, "--from", "1")[1]["communication"]["calls"]}
        assert late["gather"]["unknown"] == "the ranks made different numbers of calls", late["gather"]
    states = []
    for rank in range(ranks):
        states.append(Path(folder) / f"{rank}.dfs")
        assert run("--partial", "-o", states[-1], Path(folder) / f"{100 + rank}.pfw").returncode == 0
    rng.shuffle(states)
    merged = run("--json", "--memory", "0", *states).stdout
    assert merged == run("--json", *sorted(Path(folder).glob("*.pfw"))).stdout, merged


def workers_without_their_trainer(folder):
    """The step that used a batch is known only where the trainer is: never silently wrong."""
    trainer, worker = Rank(10, 0, 0), Trace(11, 0, ppid=10)
    trainer.event("fetch.iter", "dataloader", 100, 110, worker=0, batch=0)
    trainer.event("step", "pipeline", 100, 200, epoch=0, step=7)
    worker.event("item", "data", 50, 90, worker=0, batch=0)
    trainer.save(folder)
    worker.save(folder)
    paths = [Path(folder) / "10.pfw", Path(folder) / "11.pfw"]
    text, found = summary(folder, "--by", "step")
    assert {group["step"]: group["count"] for group in found["groups"]} == {"7": 3}, found["groups"]
    assert found["workers_without_trainer"] == 0 and "the trainer of" not in text, text
    alone = run("--by", "step", paths[1])
    assert "the trainer of 1 worker is not among the traces: the steps of what they loaded are unknown" in alone.stdout
    states = []
    for path in paths:
        states.append(path.with_suffix(".dfs"))
        assert run("--partial", "--by", "step", "-o", states[-1], path).returncode == 0
    for words in (states, states[::-1], ["--partial", "-o", Path(folder) / "all.dfs", *states]):
        done = run(*words)
        assert (done.returncode, done.stdout) == (1, ""), done
        assert "a trainer and its workers are in different states; make one state of their traces" in done.stderr, done


if __name__ == "__main__":
    run_cases(
        quick_runs_with_an_id,
        a_process_that_writes_again,
        older_traces,
        one_run_without_an_id,
        times_count_within_the_run,
        missing_ranks,
        what_tracing_cost,
        regions_that_do_not_match,
        waiting_at_collectives,
        workers_without_their_trainer,
    )
