"""What the summary says of jobs whose truth is known because they were made up for it: one fact in each trace."""

import gzip
import json
import os
import re
import subprocess
from pathlib import Path

from cases import run_cases

COMMAND = os.environ["DFT_TEST_COMMAND"]
BEGIN = 1_700_000_000_000_000  # us


class Trace:
    """The lines of one process; times are milliseconds after BEGIN."""

    def __init__(self, pid, rank=None, start=0, ppid=1, command=None, **facts):
        self.pid, self.lines = pid, []
        self.metadata("HH", "node", "a1")
        if command:
            self.metadata("SH", command, "c1")
        facts.update({"cmd_hash": "c1"} if command else {})
        self.event("start", "dftracer", start, start, ppid=ppid, **facts)
        if rank is not None:
            self.metadata("PR", "rank", str(rank))

    def metadata(self, kind, name, value):
        self.line({"name": kind, "cat": "dftracer", "ph": "M", "args": {"hhash": "a1", "name": name, "value": value}})

    def event(self, name, cat, start, end, tid=None, **args):
        times = {"ts": BEGIN + round(start * 1000), "dur": round((end - start) * 1000)}
        self.line({"name": name, "cat": cat, **times, "ph": "X", "args": {"hhash": "a1", **args}}, tid)

    def line(self, line, tid=None):
        self.lines.append(json.dumps({"id": len(self.lines) + 1, "pid": self.pid, "tid": tid or self.pid, **line}))

    def save(self, folder):
        path = Path(folder) / f"{self.pid}.pfw"
        path.write_text("[\n" + "\n".join(self.lines) + "\n]\n")


def summary(folder, *options):
    """The text, with single spaces, and the JSON."""
    outputs = []
    for form in ((), ("--json",)):
        done = subprocess.run(
            [COMMAND, "summary", *form, *options, folder],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"COLUMNS": "200", "LC_ALL": "C.UTF-8"},
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    return "\n".join(" ".join(line.split()) for line in outputs[0].splitlines()), json.loads(outputs[1])


def shares_are_of_the_training_loop(folder):
    """Ten seconds of imports, then 100 ms of which 87 ms are waiting, then a second of clean-up."""
    trace = Trace(1)
    for at in (10000, 10050):
        trace.event("fetch.iter", "dataloader", at, at + 43.5)
        trace.event("forward", "compute", at + 43.5, at + 50)
    trace.event("end", "dftracer", 11100, 11100)
    trace.save(folder)
    text, found = summary(folder)
    times = {key: found["training"][key] for key in ("startup_ns", "loop_ns", "teardown_ns", "wait_ns")}
    expected = {"startup_ns": 10_000, "loop_ns": 100, "teardown_ns": 1000, "wait_ns": 87}
    assert times == {key: ms * 10**6 for key, ms in expected.items()}, times
    for line in ("start-up 10.0 s -", "loop 100 ms 100.0 %", "waiting for data 87.0 ms 87.0 %", "tear-down 1.00 s -"):
        assert f"\n{line}" in text, (line, text)


def the_start_of_the_process_is_start_up(folder):
    """Five seconds before the trace opens at the first fetch, in one of two trainers; the other one does not tell."""
    for rank, facts in enumerate(({"process_age_ns": 5 * 10**9}, {})):
        trace = Trace(1 + rank, rank, 2000, **facts)
        for at in (2000, 2050):
            trace.event("fetch.iter", "dataloader", at, at + 43.5)
            trace.event("forward", "compute", at + 43.5, at + 50)
        trace.save(folder)
    text, found = summary(folder)
    assert found["training"]["startup_ns"] == found["training"]["before_ns"] == 5 * 10**9, found["training"]
    assert "\nstart-up 2.50 s - before the training loop; 2.50 s of it before the first event" in text, text


def ranks_make_their_steps_together(folder):
    """Sixteen steps of a job are not thirty-two because two ranks make them. The third has lost one."""
    for ranks, said in ((2, "2 trainers, 0 epochs, 16 steps each"), (3, "3 trainers, 0 epochs, 15 to 16 steps each")):
        for rank in range(ranks):
            trace = Trace(10 + rank, rank)
            for step in range(16 - (rank == 2)):
                trace.event("fetch.iter", "dataloader", step * 10, step * 10 + 4)
                trace.event("step", "compute", step * 10 + 4, step * 10 + 10)
            trace.save(folder)
        text, found = summary(folder)
        assert f"Training {said}" in text and found["training"]["steps"] == 16, text
    assert found["training"]["steps_least"] == 15, found["training"]
    assert "\nfetch 62.7 ms " in text, "the mean of 64, 64 and 60 ms"


def bandwidth_of_a_job(folder):
    """Four ranks read 1 GiB each in the same second, and write in turns: the job reads at 4 GiB/s, and writes at 1."""
    for rank in range(4):
        trace = Trace(rank + 1, rank)
        trace.event("read", "POSIX", 0, 1000, fhash="f1", ret=2**30)
        trace.event("write", "POSIX", 2000 + 1000 * rank, 3000 + 1000 * rank, fhash="f2", ret=2**30)
        trace.event("read", "POSIX", 9000, 9500, fhash="f1", ret=0)  # the end of the file
        trace.save(folder)
    text, found = summary(folder, "--top", "1")
    assert found["io"]["job"] == {"read_ns": 10**9, "write_ns": 4 * 10**9}, found["io"]["job"]
    assert "\nread 4.00 GiB 683 MiB/s 4.00 GiB/s 1.00 s" in text, text
    assert "\nwritten 4.00 GiB 1.00 GiB/s 1.00 GiB/s" in text, text


def failed_calls(folder):
    """By name, file and errno; those that move no data, too. What the trace does not tell is not a failure."""
    trace = Trace(1)
    trace.metadata("FH", "/etc/none", "f1")
    trace.metadata("FH", "/root/secret", "f2")
    for at in range(3):
        trace.event("open", "POSIX", at, at + 1, fhash="f1", ret=-1, errno=2)
    for at in range(3, 5):
        trace.event("access", "POSIX", at, at + 1, fhash="f2", ret=-1, errno=13)
    trace.event("posix_fallocate", "POSIX", 5, 6, fhash="f2", ret=28, errno=28)
    trace.event("stat", "POSIX", 6, 7, fhash="f1", ret=-1)  # other tracers do not record errno
    trace.event("read", "POSIX", 7, 8, fhash="f2")
    trace.event("write", "POSIX", 8, 9, fhash="f2", ret=10)
    trace.save(folder)
    text, found = summary(folder)
    io = found["io"]
    assert (io["all"]["failed"], io["all"]["unknown"], io["all"]["calls"]) == (7, 1, 9), io["all"]
    lines = [tuple(line[key] for key in ("name", "file", "errno", "count")) for line in io["failures"]]
    assert lines[:2] == [("open", "/etc/none", 2, 3), ("access", "/root/secret", 13, 2)], lines
    assert sorted(lines[2:]) == [("posix_fallocate", "/root/secret", 28, 1), ("stat", "/etc/none", 0, 1)], lines
    assert "\nFailed calls, 7 of 9\n" in text, text
    assert "open 3 No such file or directory /etc/none" in text and "stat 1 unknown /etc/none" in text, text
    assert "the bytes of 1 transfer are unknown" in text, text


def failed_calls_by_group_of_files(folder):
    trace = Trace(1)
    for i in range(40):
        trace.metadata("FH", f"/lib/part{i}/module.py", f"f{i}")
        trace.event("stat", "POSIX", i, i + 0.5, fhash=f"f{i}", ret=-1, errno=2)
    trace.metadata("FH", "/etc/none", "g")
    for at in range(50, 53):
        trace.event("open", "POSIX", at, at + 1, fhash="g", ret=-1, errno=2)
    trace.save(folder)
    text, found = summary(folder)
    assert (
        "Failed calls, 43 of 43\ncall calls error file\nstat 40 No such file or directory /lib/part{0..39}/module.py\n"
        in text
    )
    assert "\nopen 3 No such file or directory /etc/none" in text, text
    assert len(found["io"]["failures"]) == 41
    single = summary(folder, "--files", "--top", "50")[0]
    assert single.index("open 3 No such") < single.index("stat 1 No such") and single.count("stat 1 No such") == 40, (
        single
    )


def the_end_of_a_file_is_no_transfer(folder):
    """Reads of zero bytes count as calls, but neither for the median nor for sequences."""
    trace = Trace(1)
    for i, moved in enumerate((10, 10, 0, 0, 0, 0, 0)):
        trace.event("read", "POSIX", i, i + 1, fhash="f", ret=moved)
    trace.event("read", "POSIX", 8, 9, fhash="g", ret=0)
    trace.save(folder)
    text, found = summary(folder)
    io = found["io"]["all"]
    assert (io["reads"], io["size_median"], io["sequential"], io["random"]) == (8, 10, 1, 0), io
    (line,) = [line for line in found["io"]["files"] if line["file"] == "g"]
    assert (line["reads"], line["size_median"], line["size_max"]) == (1, 0, 0), line
    assert re.search(r"\ng 1 1.00 ms - - - - - - ", text), text


def calls_on_processes_are_no_regions(folder):
    trace = Trace(1)
    trace.event("wait4", "POSIX", 0, 60, ret=7)
    trace.event("read", "POSIX", 60, 80, fhash="f", ret=1)
    trace.event("end", "dftracer", 100, 100)
    trace.save(folder)
    text, found = summary(folder)
    times = {"region_ns": 0, "process_ns": 60, "io_ns": 20, "outside_ns": 20, "thread_ns": 100}
    assert {key: found["job"][key] for key in times} == {key: n * 10**6 for key, n in times.items()}, found["job"]
    assert "\nregions 0 0.0 %\nI/O calls 20.0 ms 20.0 % " in text and "\nprocess calls 60.0 ms 60.0 % " in text, text
    assert "wait4 POSIX 1 60.0 ms 60.0 ms 60.0 ms 60.0 ms 60.0 ms 60.0 ms 75.0 %" in text, text


def loading_outside_of_the_loop_is_not_in_its_share(folder):
    trace = Trace(1)
    trace.event("preload", "data", 0, 1000)
    trace.event("item", "data", 1000, 1050)
    trace.event("fetch.iter", "dataloader", 1000, 1060)
    trace.event("forward", "compute", 1060, 1100)
    trace.save(folder)
    text, found = summary(folder)
    training = found["training"]
    assert (training["data_ns"], training["data_in_loop_ns"], training["loop_ns"]) == (1050e6, 50e6, 100e6), training
    assert "\nloading 1.05 s 50.0 % reading and preparing samples; the share: inside the loop\n" in text, text


def names_stay_readable_on_a_narrow_terminal(folder):
    trace = Trace(1)
    name = "a_function_with_a_long_name"
    for i in range(3):
        trace.event(name, "c_function", i * 100, i * 100 + 50)
        trace.event("read", "POSIX", i * 100, i * 100 + 40, fhash="f", ret=1)
    trace.metadata("FH", "/data/a_file_with_a_long_name.npy", "f")
    sites = "; ".join(f"function number {i} (c_function)" for i in range(8))
    cost = {"finish_ns": 1, "drain_cpu_ns": 1, "assist_ns": 0}
    trace.event("end", "dftracer", 300, 300, **cost, unmatched_ends=3, unmatched_sites=sites)
    trace.save(folder)
    env = os.environ | {"COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    out = subprocess.run([COMMAND, "summary", folder], capture_output=True, text=True, check=True, env=env).stdout
    assert max(map(len, out.splitlines())) <= 80, out
    assert f"  {name[:19]}" in out and "not shown, for lack of width: mean, ~median, ~p95\n" in out, out
    dropped = re.findall(r"not shown, for lack of width: (.*)", out)
    assert all(len(set(names.split(", "))) == len(names.split(", ")) for names in dropped), out
    assert "\n  in the background" not in out and re.search(r"\ncost of tracing: .*\n  \w.* threads\n", out), out
    assert re.search(r"\n  3 regions were ended .*\n    ", out), out


def steps_that_nobody_numbered(folder):
    trace = Trace(1)
    trace.event("work", "app", 0, 1)
    trace.save(folder)
    hint = 'no event has an argument "step": the steps are unknown'
    assert hint in summary(folder, "--by", "step")[0]
    trace.event("work", "app", 1, 2, step=4)
    trace.save(folder)
    assert hint not in summary(folder, "--by", "step")[0]


def failed_copies_and_processes(folder):
    """A copy is two transfers but one call; a program that could not be started is a call that failed, too."""
    trace = Trace(1)
    trace.metadata("FH", "/data/in", "f1")
    trace.metadata("FH", "/bin/none", "f3")
    for at in range(3):
        trace.event("sendfile", "POSIX", at, at + 1, fhash="f1", path2_hash="f2", ret=-1, errno=9)
    trace.event("execve", "POSIX", 3, 4, fhash="f3", ret=-1, errno=2)
    trace.event("waitpid", "POSIX", 4, 5, ret=-1, errno=10)
    trace.event("vfork", "POSIX", 5, 6, ret=-1)
    trace.event("fork", "POSIX", 6, 7, ret=4711)
    trace.event("close", "POSIX", 7, 8, fhash="f1", ret=0)
    trace.event("train", "app", 8, 9, ret=-1, errno=5)  # not a call
    trace.save(folder)
    text, found = summary(folder)
    lines = sorted(tuple(line[key] for key in ("name", "file", "errno", "count")) for line in found["io"]["failures"])
    processes = [("execve", "/bin/none", 2, 1), ("sendfile", "/data/in", 9, 3)]
    assert lines == [*processes, ("vfork", "(no file)", 0, 1), ("waitpid", "(no file)", 10, 1)], lines
    assert "\nFailed calls, 6 of 8\n" in text, text
    assert found["io"]["all"]["failed"] == 6, found["io"]["all"]  # the transfers: each copy read and wrote


def a_trace_without_its_end(folder):
    """A file that was cut between two gzip members has no damage that a reader could see, but the end is missing."""
    trace = Trace(1)
    for at in range(4):
        trace.event("work", "app", at, at + 1)
    trace.event("end", "dftracer", 4, 4)
    members = [gzip.compress(line.encode() + b"\n") for line in ("[", *trace.lines)]
    for kept, events, heading in (
        (len(members), 4, "1 trace, 4 events, 1"),
        (5, 2, "1 trace, ≥ 2 events (see Notes), 1"),
    ):
        (Path(folder) / "1.pfw.gz").write_bytes(b"".join(members[:kept]))
        text, found = summary(folder)
        assert found["events"] == events and found["lost"]["unfinished_traces"] == (events < 4), found
        assert any(line.startswith(heading) for line in text.splitlines()), text  # below the verdict
        assert ("1 trace has no end" in text) == (events < 4), text


def a_region_of_a_killed_process(folder):
    """It was open when the process was killed: its duration is not known, and the note of the recovery says so."""
    trace = Trace(1)
    trace.event("whole", "app", 0, 5, open=1)
    trace.event("end", "dftracer", 5, 5, recovered=1)
    trace.save(folder)
    text, found = summary(folder)
    assert "\n1 trace, 1 event, 1 process" in text and found["lost"]["unfinished_traces"] == 0, text
    assert "died; regions that were open then count up to the last event" in text, text


def epochs_without_numbers(folder):
    """What happens during an epoch belongs to it, on any thread of the trainer, also if nothing has a number."""
    trace = Trace(1)
    for epoch in range(3):
        begin = 1000 + 100 * epoch
        for step in range(4):
            trace.event("fetch.iter", "dataloader", begin + step * 20, begin + step * 20 + 10)
            trace.event("forward", "compute", begin + step * 20 + 10, begin + step * 20 + 18)
            trace.event("backward", "compute", begin + step * 20 + 15, begin + step * 20 + 20, tid=7)
        trace.event("epoch.iter", "pipeline", begin - 1, begin)
        trace.event("epoch.block", "pipeline", begin, begin + 90)
    trace.event("forward", "compute", 1400, 1450)  # a test after the training
    trace.save(folder)
    text, found = summary(folder)
    lines = [tuple(line[key] for key in ("epoch", "fetches", "computes")) for line in found["training"]["by_epoch"]]
    assert lines == [(None, 0, 1), (1, 4, 8), (2, 4, 8), (3, 4, 8)], lines
    for line in found["training"]["by_epoch"][1:]:
        assert (line["end_ns"] - line["start_ns"], line["fetch_ns"], line["compute_ns"]) == (90e6, 40e6, 40e6), line
    assert "Training 1 trainer, 3 epochs, 12 steps" in text and "\nunknown 50.0 ms 0 0 50.0 ms" in text, text


def epochs_of_steps(folder):
    """Only the steps have numbers; what is in them has none. The epochs add up to the times of the training."""
    subprocess.run([COMMAND, "generate", "-n", "200K", "-p", "2", folder], capture_output=True, check=True)
    _, found = summary(folder)
    training, epochs = found["training"], found["training"]["by_epoch"]
    assert len(epochs) >= 2 and training["epochs"] == len(epochs), epochs
    for key in ("fetches", "computes", "fetch_ns", "compute_ns"):
        assert sum(line[key] for line in epochs) == training[key], key
    assert all(line["computes"] == 3 * line["fetches"] > 0 for line in epochs), epochs
    assert sum(line["end_ns"] - line["start_ns"] for line in epochs) <= found["job"]["time_ns"]


def workers_have_no_epoch_of_their_own(folder):
    """A worker that was forked in epoch 0 still says so in epoch 2: its work is in no epoch."""
    trainer, worker = Trace(1), Trace(2, ppid=1)
    for epoch in range(3):
        begin = 100 * epoch
        trainer.event("fetch.iter", "dataloader", begin, begin + 10, epoch=epoch, step=epoch)
        trainer.event("read", "POSIX", begin + 20, begin + 21, fhash="f1", ret=5)
        trainer.event("step", "pipeline", begin, begin + 90, epoch=epoch, step=epoch)
        worker.event("item", "data", begin, begin + 50, epoch=0, step=0)
        worker.event("read", "POSIX", begin + 60, begin + 61, fhash="f1", ret=5)
    trainer.save(folder)
    worker.save(folder)
    _, found = summary(folder, "--by", "step")
    counts = {(group["epoch"], group["step"]): group["count"] for group in found["groups"]}
    assert counts == {("0", "0"): 3, ("1", "1"): 3, ("2", "2"): 3, ("", ""): 6}, counts
    assert [line["fetches"] for line in found["training"]["by_epoch"]] == [1, 1, 1], found["training"]


def work_belongs_to_the_fetch_of_its_batch(folder):
    """Two ranks with two workers each, which load a batch one step ahead. Batches are numbered anew in each epoch."""
    for rank in range(2):
        trainer = Trace(10 + rank, rank)
        workers = [Trace(100 + 10 * rank + number, ppid=10 + rank) for number in range(2)]
        for epoch in range(2):
            for step in range(4):
                begin, numbers = 1000 * epoch + 100 * step + 200, {"worker": step % 2, "batch": step}
                loads = begin - 100 if rank else begin - 150  # in the step before, or even in the epoch before
                worker = workers[step % 2]
                worker.event("read", "POSIX", loads, loads + 20, fhash="f1", ret=5)
                worker.event("item", "data", loads, loads + 40 + rank, epoch=0, step=0)
                worker.event("batch", "dataloader_worker", loads, loads + 50, **numbers)
                trainer.event("fetch.iter", "dataloader", begin, begin + 10, **numbers)
                trainer.event("step", "pipeline", begin, begin + 90, epoch=epoch, step=step)
        workers[0].event("item", "data", 5000, 5050, worker=0, batch=0)  # nobody fetches it
        workers[1].event("item", "data", 5100, 5150)
        for trace in (trainer, *workers):
            trace.save(folder)
    for memory in ("64Mi", "0"):
        _, found = summary(folder, "--by", "step", "--memory", memory)
        groups = {(group["epoch"], group["step"]): group for group in found["groups"]}
        assert {key: group["count"] for key, group in groups.items()} == {
            ("", ""): 4,
            **{(str(epoch), str(step)): 2 * (2 + 3) for epoch in range(2) for step in range(4)},
        }, groups
        group = groups[("1", "2")]
        expected = sum(10 + 90 + 20 + 40 + rank + 50 for rank in range(2))
        assert group["total_ns"] == expected * 10**6 and group["self_ns"] == 2 * (90 + 50) * 10**6, group


def several_loaders_have_a_worker_of_each_number(folder):
    """The process id tells them apart: a batch of one loader is fetched before the same of the other."""
    trainer, workers = Trace(1), [Trace(2, ppid=1), Trace(3, ppid=1)]
    for step, worker in ((0, workers[1]), (1, workers[0])):
        numbers = {"worker": 0, "batch": 0, "worker_pid": worker.pid}
        worker.event("item", "data", 0, 50, **numbers)
        trainer.event("fetch.iter", "dataloader", 100 * step + 100, 100 * step + 110, step=step, **numbers)
        trainer.event("forward", "compute", 100 * step + 120, 100 * step + 120 + worker.pid, step=step)
    for trace in (trainer, *workers):
        trace.save(folder)
    _, found = summary(folder, "--by", "step", "--cat", "data")
    assert {group["step"]: group["count"] for group in found["groups"]} == {"0": 1, "1": 1}, found["groups"]


def a_loop_that_was_left(folder):
    """Its item in hand was fetched; the end of the loader is no fetch, but takes the time of one."""
    trace = Trace(1)
    trace.event("fetch.iter", "dataloader", 0, 10)
    trace.event("fetch.block", "dataloader", 10, 20)
    trace.event("forward", "compute", 10, 20)
    trace.event("fetch.iter.cut", "dataloader", 20, 40)
    trace.event("fetch.block.cut", "dataloader", 40, 90)
    trace.event("fetch.end", "dataloader", 90, 100)
    trace.save(folder)
    _, found = summary(folder)
    assert (found["training"]["fetches"], found["training"]["fetch_ns"]) == (2, 40_000_000), found["training"]


def what_is_not_recorded_is_unknown(folder):
    """A loader that could not be traced; and a training whose fetches nobody recorded."""
    for is_told in (True, False):
        trace = Trace(1)
        trace.event("epoch.block", "pipeline", 0, 100)
        trace.event("forward", "compute", 10, 20)
        if is_told:
            trace.event("fetch.iter", "dataloader", 0, 10)  # of another loader
            trace.metadata("CM", "not_recorded", "fetch")
        trace.save(folder)
        text, found = summary(folder)
        assert "fetch unknown -" in text and "waiting for data unknown -" in text, text
        assert found["training"]["fetch_ns"] is None and found["training"]["wait_ns"] is None, found["training"]


def unknown_bytes_are_marked(folder):
    """Ten bytes were read, and a scan of which nothing tells the bytes: at least ten. A mapping is not a transfer."""
    trace = Trace(1)
    for file in ("/a", "/b", "/c", "/d"):
        trace.metadata("FH", file, file)
    trace.event("read", "POSIX", 0, 1, fhash="/a", ret=10)
    trace.event("fscanf", "STDIO", 1, 2, fhash="/a", ret=1)
    trace.event("read", "POSIX", 2, 3, fhash="/b", ret=20)
    trace.event("fscanf", "STDIO", 3, 4, fhash="/c", ret=1)
    trace.event("mmap", "POSIX", 4, 5, fhash="/c", ret=2**40, length=8192)
    trace.event("aio_read", "POSIX", 5, 6, fhash="/d", count=100, ret=0)  # it only asks for the bytes
    trace.event("aio_write", "POSIX", 6, 7, fhash="/d", count=100, ret=0)
    trace.save(folder)
    text, _ = summary(folder)
    rows = {line.split()[0]: line for line in text.partition("I/O by file")[2].partition("\n\n")[0].splitlines()[1:]}
    assert rows["/a"].startswith("/a 2 2.00 ms ≥ 10 B ≥ 4.88 KiB/s -"), rows
    assert rows["/b"].startswith("/b 1 1.00 ms 20 B 19.5 KiB/s -") and rows["/b"].endswith(" -"), rows
    assert rows["/c"].startswith("/c 2 2.00 ms unknown - -") and rows["/c"].endswith(" 8.00 KiB"), rows
    assert rows["/d"].startswith("/d 2 2.00 ms unknown - unknown - - - 0.0 %"), rows
    assert "\nread ≥ 30 B ≥ 5.86 KiB/s 14.6 KiB/s ≥ 2.00 ms\nwritten unknown - - unknown" in text, text


def a_median_of_nothing(folder):
    """A file that is read to its end: 100 bytes, then none. The call that moved nothing is no transfer."""
    trace = Trace(1)
    trace.metadata("FH", "/a", "f1")
    trace.metadata("FH", "/b", "f2")
    trace.event("read", "POSIX", 0, 1, fhash="f1", ret=100)
    trace.event("read", "POSIX", 1, 2, fhash="f1", ret=0)
    trace.event("stat", "POSIX", 2, 3, fhash="f2", ret=0)
    trace.save(folder)
    text, _ = summary(folder)
    assert "\n/a 2 2.00 ms 100 B 48.8 KiB/s - - 100 B - 0.0 %" in text, text
    assert "\n/b 1 1.00 ms - - - - - - 100.0 %" in text, text


def times_in_whole_seconds(folder):
    """What lasted from 0.9 to 1.1 s has a second in a trace that writes seconds: the summary has to say so."""
    for unit, ticks, mark in (("SEC", 1, ", in whole seconds\n"), ("MS", 1000, ", in whole milliseconds\n")):
        trace = Trace(1)
        trace.lines.clear()
        trace.metadata("CM", "time_metric", unit)
        trace.line({"name": "work", "cat": "app", "ts": BEGIN // 10**6 * ticks, "dur": ticks, "ph": "X", "args": {}})
        trace.save(folder)
        text, found = summary(folder)
        assert found["job"]["time_ns"] == 10**9, found["job"]
        assert mark in text, text


def files_in_groups(folder):
    """What people have: numbered files, some of them missing; shards of epochs; one name in many folders; names made of
    hashes; the plug-ins of a Python start; and a single file that takes most of the time."""
    files = [f"/data/img_{i:04}.npy" for i in range(1, 40, 2)]
    files += [f"/data/epoch_3/part-{i:05}-of-02048.parquet" for i in range(5, 12)]
    files += [f"/scratch/run_{i}/output.dat" for i in range(1, 65)]
    files += [f"/cache/{i * 0x9E3779B97F4A7C15 % 2**64:016x}x.bin" for i in range(1, 1204)]
    files += [f"/env/site-packages/{pack}/_{name}.so" for pack in "abcdefg" for name in ("x", "yy", "core")]
    files += ["/etc/hosts", "/data/big.h5"]
    trace = Trace(1)
    for i, file in enumerate(files):
        trace.metadata("FH", file, f"h{i}")
        trace.event("read", "POSIX", i, i + (900 if file == "/data/big.h5" else 0.5), fhash=f"h{i}", ret=i)
    trace.save(folder)
    text, found = summary(folder)
    rows = text.partition("I/O by file")[2].partition("\n\n")[0].splitlines()[2:]
    expected = [
        "/data/big.h5 1",
        "/cache/{1,203 files}.bin 1,203",
        "/scratch/run_{1..64}/output.dat 64",
        "/env/site-packages/**/{21 files}.so 21",
        "/data/img_{0001..0039}.npy 20",
        "/data/epoch_3/part-{00005..00011}-of-02048.parquet 7",
        "/etc/hosts 1",
        f"all {len(files):,}",
    ]
    assert len(rows) == len(expected), rows
    for row, label in zip(rows, expected):
        assert row.startswith(label + " "), (row, label)
    groups = {group["group"]: group for group in found["io"]["file_groups"]}
    runs = [i for i, file in enumerate(files) if file.startswith("/scratch")]
    assert groups["/scratch/run_{1..64}/output.dat"]["read_bytes"] == sum(runs), groups
    assert groups["/scratch/run_{1..64}/output.dat"]["size_median"] in (runs[31], runs[32]), groups
    assert len(found["io"]["files"]) == len(files)
    assert summary(folder, "--files", "--top", "2000")[0].count("/scratch/run_") == 64


def the_sample_of_the_page(folder):
    """Two ranks with a worker each; docs/summary.md shows what the summary prints of them, and explains it."""
    for rank in range(2):
        command = "/usr/bin/python3;train.py;--epochs;2"
        trainer = Trace(4711 + rank, rank, command=command)
        worker = Trace(4800 + rank, rank, ppid=4711 + rank, command=command)
        trainer.metadata("FH", "/data/none.npy", "f")
        trainer.event("stat", "POSIX", 500, 500.02, fhash="f", ret=-1, errno=2)
        for i in range(8):
            worker.metadata("FH", f"/data/img_{rank * 8 + i:04}.npy", f"f{rank * 8 + i}")
        for epoch in range(2):
            begin = 2000 + epoch * 1000
            for i, at in enumerate(range(begin, begin + 800, 100)):
                trainer.event("fetch.iter", "dataloader", at, at + 60)
                trainer.event("forward", "compute", at + 60, at + 75)
                trainer.event("backward", "compute", at + 75, at + 95)
                worker.event("read", "POSIX", at + 42, at + 80, fhash=f"f{rank * 8 + i}", ret=50 << 20)
                worker.event("item", "data", at + 40, at + 95)
            trainer.event("epoch.block", "pipeline", begin, begin + 820)
        cost = {"finish_ns": 9 * 10**6, "drain_cpu_ns": 3 * 10**6, "assist_ns": 0}
        trainer.event("end", "dftracer", 4500, 4500, **cost)
        worker.event("end", "dftracer", 3795, 3795, **cost | {"finish_ns": 12 * 10**6})
        trainer.save(folder)
        worker.save(folder)
    done = subprocess.run(
        [COMMAND, "summary", folder],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "100", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
    )
    page = (Path(os.environ["DFT_TEST_SOURCE"]) / "docs" / "summary.md").read_text()
    shown = page.partition("```text\n")[2].partition("```")[0]
    printed = "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())
    assert shown == printed, printed


if __name__ == "__main__":
    run_cases(
        shares_are_of_the_training_loop,
        the_start_of_the_process_is_start_up,
        ranks_make_their_steps_together,
        bandwidth_of_a_job,
        failed_calls,
        failed_calls_by_group_of_files,
        the_end_of_a_file_is_no_transfer,
        calls_on_processes_are_no_regions,
        loading_outside_of_the_loop_is_not_in_its_share,
        names_stay_readable_on_a_narrow_terminal,
        steps_that_nobody_numbered,
        failed_copies_and_processes,
        a_trace_without_its_end,
        a_region_of_a_killed_process,
        epochs_without_numbers,
        epochs_of_steps,
        workers_have_no_epoch_of_their_own,
        work_belongs_to_the_fetch_of_its_batch,
        several_loaders_have_a_worker_of_each_number,
        a_loop_that_was_left,
        what_is_not_recorded_is_unknown,
        files_in_groups,
        unknown_bytes_are_marked,
        a_median_of_nothing,
        times_in_whole_seconds,
        the_sample_of_the_page,
    )
