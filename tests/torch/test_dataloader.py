"""test_dataloader.py - workers of a DataLoader: every item of each, in a file of its own, named by its number."""

import collections

import pytest
from torch_harness import main, record, run, traces_of

DATASET = """
import os, sys, time, warnings
warnings.simplefilter("ignore")
import torch, torch.multiprocessing
from torch.utils.data import DataLoader, Dataset
from dftracer.python import ai, dftracer
class Items(Dataset):
    def __init__(self, bad=None, slow=32): self.bad, self.slow = bad, slow
    def __len__(self): return 32
    @ai.data.item
    def __getitem__(self, index):
        with open(f"{sys.argv[1]}/{os.getpid()}.seen", "a") as file: file.write("x")
        if index == self.bad: os.kill(os.getpid(), 9)
        if index >= self.slow: time.sleep(100)
        return torch.tensor([index])
"""
PROGRAM = (
    DATASET
    + """
def main(method, workers, options):
    if method == "forkserver" and workers > 4:
        torch.multiprocessing.set_forkserver_preload(["torch"])
    log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", None, -1)
    loader = DataLoader(Items(), num_workers=workers, batch_size=2, multiprocessing_context=method if workers else None,
                        **options)
    for epoch in range(2):
        seen = [int(item) for batch in ai.dataloader.fetch.iter(loader) for item in batch]
        assert sorted(seen) == list(range(32))
    log.finalize()
if __name__ == "__main__":
    main(sys.argv[2] or None, int(sys.argv[3]), eval(sys.argv[4]))
"""
)


def check_seen(workers, folder):
    """Every item that a worker began, by its own account, is in its trace, and the worker is named."""
    names = {trace.named("thread_name")[0]["args"]["name"] for trace in workers}
    assert names <= {"DataLoader worker 0", "DataLoader worker 1"}
    seen = {int(path.stem): len(path.read_text()) for path in folder.glob("*.seen")}
    assert {trace.pid: len(trace.named("item")) for trace in workers} == seen


def fetches(traces):
    """How many there are, and how many of items whose body was left."""
    return tuple(sum(len(trace.named(name)) for trace in traces) for name in ("fetch.iter", "fetch.iter.cut"))


def check(traces, workers, processes):
    """All items are there, each worker's in its own file; the program's process has the fetches."""
    items = collections.Counter()
    names = []
    for trace in traces:
        assert {event["pid"] for event in trace.events} == {trace.pid}
        items[trace.pid] += len(trace.named("item"))
        if trace.named("item") and not trace.named("fetch.iter"):
            names.append(trace.named("thread_name")[0]["args"]["name"])
    assert sum(items.values()) == 64, items
    assert sum(len(trace.named("fetch.iter")) for trace in traces) == 32
    assert sorted(names) == sorted([f"DataLoader worker {number}" for number in range(workers)] * processes)


def case(folder, method, workers, options, processes):
    folder.mkdir()
    check(record(PROGRAM, folder, method, workers, options, start=False, timeout=300), workers, processes)


def test_no_workers(tmp_path):
    case(tmp_path / "a", "", 0, "{}", 0)


# A worker that is not forked imports torch, which takes seconds, so those stay for both epochs; the server of the many
# has it already.
@pytest.mark.parametrize(
    ("method", "workers", "options", "processes"),
    [
        ("fork", 4, "{}", 2),
        ("fork", 4, "dict(persistent_workers=True, pin_memory=True)", 1),
        ("fork", 16, "{}", 2),
        ("spawn", 16, "dict(persistent_workers=True, pin_memory=True)", 1),
        ("forkserver", 4, "dict(persistent_workers=True, pin_memory=True)", 1),
        ("forkserver", 16, "dict(persistent_workers=True)", 1),
    ],
)
def test_workers(tmp_path, method, workers, options, processes):
    case(tmp_path / "a", method, workers, options, processes)


@pytest.mark.parametrize("stays", [False, True])
def test_workers_without_samples_have_no_batch(tmp_path, stays):
    """Torch asks each worker for more batches than there are: what finds nothing is none, and no region stays open."""
    traces = record(
        """
import sys
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from dftracer.python import ai, dftracer
class Stream(IterableDataset):
    def __iter__(self): return iter(range(6 if get_worker_info().id == 0 else 0))
if __name__ == "__main__":
    log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
    loader = DataLoader(Stream(), batch_size=2, num_workers=3, persistent_workers=sys.argv[2] == "True")
    for epoch in range(2):
        assert len(list(ai.dataloader.fetch.iter(loader))) == 3
    log.finalize()
""",
        tmp_path,
        stays,
        start=False,
        timeout=300,
    )
    found = collections.Counter()
    for trace in traces:
        worker = trace.named("thread_name")[0]["args"]["name"][-1]
        for event in trace.events:
            assert "open" not in event["args"], event
            if event["name"].startswith("data.batch"):
                found[worker, event["name"]] += 1
    ends = {(str(worker), "data.batch.cut"): 2 for worker in range(3)}
    assert found == {("0", "data.batch"): 6, **ends}, found


def test_workers_without_annotations_are_named(tmp_path):
    """Their I/O alone is recorded."""
    traces = record(
        """
import os, sys, torch
from torch.utils.data import DataLoader, Dataset
from dftracer.python import dftracer
class Files(Dataset):
    def __len__(self): return 4
    def __getitem__(self, index):
        with open(f"{sys.argv[1]}/{index}.data", "w") as file: return file.write("x")
if __name__ == "__main__":
    log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", sys.argv[1])
    for method in ("fork", "spawn", "forkserver"):
        assert len(list(DataLoader(Files(), num_workers=1, multiprocessing_context=method))) == 4
    log.finalize()
""",
        tmp_path,
        start=False,
        timeout=300,
        DFTRACER_DISABLE_IO="0",
    )
    workers = [trace for trace in traces if trace.named("write")]
    assert [trace.named("thread_name")[0]["args"]["name"] for trace in workers] == ["DataLoader worker 0"] * 3


@pytest.mark.parametrize(("steps", "workers"), [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_a_training_that_ends_after_some_steps(tmp_path, steps, workers):
    """As the DLIO benchmark does it, and counts it: the batch with which it notices the end is none of its steps."""
    traces = record(
        DATASET
        + """
log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", None, -1)
steps, workers = int(sys.argv[2]), int(sys.argv[3])
with ai:
    for epoch in ai.pipeline.epoch.iter(range(2)):
        loader, done = DataLoader(Items(), batch_size=2, num_workers=workers), 0
        with ai.pipeline.train:
            for batch in ai.dataloader.fetch.iter(loader):
                if done == steps: break
                with ai.compute: done += 1
log.finalize()
""",
        tmp_path,
        steps,
        workers,
        start=False,
    )
    (own,) = (trace for trace in traces if trace.named("train"))
    names = collections.Counter(event["name"] for event in own.user_events())
    assert names["ai_root"] == 1 and names["epoch.block"] == names["train"] == 2
    assert names["fetch.iter"] == names["fetch.block"] == names["compute"] == 2 * steps
    assert names["fetch.iter.cut"] == names["fetch.block.cut"] == 2
    assert sum(len(trace.named("item")) for trace in traces) >= 2 * steps


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_worker_that_crashes_and_a_loop_left_early(tmp_path, method):
    run(
        DATASET
        + """
def main(method):
    torch.multiprocessing.set_forkserver_preload(["torch"])
    log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", None, -1)
    try:
        for batch in DataLoader(Items(bad=9), num_workers=2, batch_size=1, multiprocessing_context=method): pass
    except (RuntimeError, OSError, EOFError): pass  # torch tells of it in different ways, as the moment will have it
    else: raise AssertionError("the worker was not missed")
    loader = DataLoader(Items(), num_workers=2, batch_size=1, multiprocessing_context=method)
    for batch in ai.dataloader.fetch.iter(loader): break
    log.finalize()
if __name__ == "__main__": main(sys.argv[2])
""",
        tmp_path,
        method,
    )
    traces = traces_of(tmp_path)
    workers = [trace for trace in traces if trace.named("item")]
    check_seen(workers, tmp_path)
    assert len(workers) >= 3, "also the one that was killed; after the early end perhaps only one had begun"
    killed = [event for trace in workers for event in trace.named("item") if event["args"].get("open")]
    assert len(killed) == 1, "the item in hand"
    (own,) = (trace for trace in traces if trace.named("fetch.iter.cut"))
    assert len(own.named("fetch.iter.cut")) == len(own.named("fetch.block.cut")) == 1 and not own.named("fetch.iter")


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_interrupt(tmp_path, method):
    """Of the whole group, as the terminal does it: of the workers, too, while each has an item in hand.

    At any other moment a worker may take a lock of CPython's with it: the interrupt is raised between getting the lock
    of a multiprocessing.Event and the block that gives it back. Torch waits for it then, with tracing and without.
    """
    printed = run(
        DATASET
        + """
import glob, signal
def seen(): return sum(os.path.getsize(name) for name in glob.glob(sys.argv[1] + "/*.seen"))
def main(method):
    torch.multiprocessing.set_forkserver_preload(["torch"])
    os.setpgid(0, 0)
    log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", None, -1)
    loader = DataLoader(Items(slow=6), num_workers=2, batch_size=1, multiprocessing_context=method)
    try:
        for count, batch in enumerate(ai.dataloader.fetch.iter(loader)):
            while count == 5 and seen() < 8: time.sleep(0.01)
            if count == 5: os.killpg(0, signal.SIGINT)
    except KeyboardInterrupt:
        print("interrupted")
        raise
if __name__ == "__main__": main(sys.argv[2])
""",
        tmp_path,
        method,
        status=-2,
    )
    assert printed == "interrupted\n"
    traces = traces_of(tmp_path)
    check_seen([trace for trace in traces if trace.named("item")], tmp_path)
    assert sum(len(trace.named("item")) for trace in traces) == 8
    assert fetches(traces) == (5, 1)


def test_interrupt_of_the_training_alone(tmp_path):
    run(
        DATASET
        + """
import signal
log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", None, -1)
for count, batch in enumerate(ai.dataloader.fetch.iter(DataLoader(Items(), num_workers=2, batch_size=1))):
    if count == 5: os.kill(os.getpid(), signal.SIGINT)
""",
        tmp_path,
        status=-2,
    )
    traces = traces_of(tmp_path)
    check_seen([trace for trace in traces if trace.named("item")], tmp_path)
    assert sum(len(trace.named("item")) for trace in traces) >= 6
    assert fetches(traces) == (5, 1)


if __name__ == "__main__":
    main(__file__)
