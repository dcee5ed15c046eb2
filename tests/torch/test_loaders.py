"""test_loaders.py - fetches of loaders of every class: each batch that the loop saw once, with the time that it waited.

The truth comes from the programs themselves: they measure each next() of the loop, and count what they get.
"""

import collections
import json
import os
import subprocess

import pytest
from torch_harness import main, one, record, run, traces_of

START = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset
from dftracer.python import ai, dftracer
from dftracer.python.torch import trace
PAUSE = 0.01
class Slow(Dataset):
    def __len__(self): return 8
    def __getitem__(self, index):
        time.sleep(PAUSE)
        return torch.tensor([index])
def measured(loader, waits):
    iterator = iter(loader)
    while True:
        begin = time.perf_counter_ns()
        try: item = next(iterator)
        except StopIteration: return
        waits.append(time.perf_counter_ns() - begin)
        yield item
"""
CLASSES = """
class Stream(IterableDataset):
    def __iter__(self): return (Slow()[index] for index in range(8))
class Ahead:  # as accelerate's: no subclass, says that it is one, and fetches one batch ahead
    def __init__(self, loader): self.base = loader
    def __iter__(self):
        iterator = iter(self.base)
        current = next(iterator)
        while current is not None:
            following = next(iterator, None)
            yield current
            current = following
    @property
    def __class__(self): return DataLoader
    @property
    def dataset(self): return self.base.dataset
class Narrow:
    __slots__ = ("loader",)
    def __init__(self, loader): self.loader = loader
    def __iter__(self): return iter(self.loader)
class Derived(DataLoader):
    def __iter__(self):
        for batch in super().__iter__(): yield batch
class OwnIterator:
    def __init__(self, loader): self.loader = loader
    def __iter__(self):
        self.iterator = iter(self.loader)
        return self
    def __next__(self): return next(self.iterator)
class Batches(list):
    def __iter__(self):
        for batch in super().__iter__():
            time.sleep(2 * PAUSE)
            yield batch
class Refusing:
    def __init__(self, loader): object.__setattr__(self, "loader", loader)
    def __setattr__(self, name, value): raise TypeError
    def __getattr__(self, name): raise KeyError(name)
    def __eq__(self, other): raise KeyError
    def __iter__(self): return iter(self.loader)
def plain(): return DataLoader(Slow(), batch_size=2)
"""
THREADS = """
import queue, threading
def ahead(items):
    taken = queue.Queue(1)
    def run():
        for item in items: taken.put(item)
        taken.put(None)
    threading.Thread(target=run, daemon=True).start()
    return iter(taken.get, None)
class InBackground(DataLoader):
    def __iter__(self): return ahead(super().__iter__())
class Prefetching:
    def __init__(self, loader): self.loader = loader
    def __getattr__(self, name): return getattr(vars(self)["loader"], name)
    def __iter__(self): return ahead(self.loader)
"""
KINDS = {
    "DataLoader": "plain()",
    "a subclass": "Derived(Slow(), batch_size=2)",
    "a stream": "DataLoader(Stream(), batch_size=2)",
    "one batch ahead": "Ahead(plain())",
    "slots": "Narrow(plain())",
    "its own iterator": "OwnIterator(plain())",
    "a wrapped wrapper": "Narrow(Ahead(OwnIterator(plain())))",
    "a list of a class": "Batches([1, 2, 3, 4])",
    "one that refuses attributes": "Refusing(plain())",
    "a thread gets the batches": "InBackground(Slow(), batch_size=2)",
    "a thread loops over the inner one": "Prefetching(plain())",
    "with workers": "DataLoader(Slow(), batch_size=2, num_workers=2)",
    "ahead with workers": "Ahead(DataLoader(Slow(), batch_size=2, num_workers=2, persistent_workers=True))",
}


def not_recorded(trace):
    """What the trace says that it lacks."""
    return [event["args"]["value"] for event in trace.named("CM") if event["args"]["name"] == "not_recorded"]


def test_loaders_of_every_class(tmp_path):
    """Each is recorded as the loop sees it: not one event for the wrapper and one for what is inside."""
    program = CLASSES + THREADS + f"""
kinds = {KINDS}
truth = {{}}
ai.dataloader.fetch.init, ai.dataloader.fetch.derive("end")  # children take the values that are given from now on
for number, text in enumerate(kinds.values()):
    loader = eval(text)
    before = type(loader).__iter__
    tracing = trace(dataloader=loader)
    waits = truth[number] = []
    ai.dataloader.update(args={{"kind": number}})
    for epoch in range(2):
        for item in measured(loader, waits): pass
    tracing.undo()
    assert type(loader).__iter__ is before
    list(loader)
print(json.dumps(truth))
log.finalize()
"""
    traces = record(START + program, tmp_path, timeout=200)
    (trace,) = (one for one in traces if one.named("fetch.iter"))
    truth = json.loads(record.func.stdout)
    for number, (kind, waits) in enumerate(zip(KINDS, truth.values(), strict=True)):
        mine = [event for event in trace.events if event["args"].get("kind") == number]
        count = collections.Counter(event["name"] for event in mine)
        assert len(waits) == 8 and count["fetch.iter"] == count["fetch.block"] == 8, (kind, count)
        assert count["fetch.init"] == count["fetch.end"] == 2, (kind, count)
        recorded = sum(event["dur"] for event in mine if event["name"] == "fetch.iter")
        assert recorded <= sum(waits) / 1000, kind
        if "workers" not in kind and "thread" not in kind:
            assert recorded >= 2 * 8 * 10_000, "the items slept so long"


def test_loaders_that_a_framework_makes_of_a_given_one(tmp_path):
    """They have the same dataset; the given one is gone."""
    trace = one(
        START
        + """
loader = DataLoader(Slow(), batch_size=2)
trace(dataloader=loader)
loader = DataLoader(loader.dataset, batch_size=4)
list(loader)
list(DataLoader(Slow(), batch_size=1))              # another dataset
log.finalize()
""",
        tmp_path,
    )
    assert len(trace.named("fetch.iter")) == 2


def test_loaders_in_lists_and_dicts(tmp_path):
    """As Lightning holds them, and None where a training has no evaluation."""
    trace = one(
        START
        + """
loaders = [DataLoader(Slow(), batch_size=size) for size in (8, 4, 2, 1)]
first, second, third, fourth = loaders
with trace(None, [], [first, None, [second, (third,)], {"name": fourth}]):
    for loader in loaders: list(loader)
log.finalize()
""",
        tmp_path,
    )
    assert len(trace.named("fetch.iter")) == 1 + 2 + 4 + 8 and not_recorded(trace) == []


@pytest.mark.parametrize("options", ["{}", "dict(num_workers=2)", "dict(num_workers=2, persistent_workers=True)"])
def test_iterators_that_exist_already(tmp_path, options):
    traces = record(
        START
        + f"""
loader = DataLoader(Slow(), batch_size=2, **{options})
waits, iterator = [], iter(loader)
next(iterator)
tracing = trace(dataloader=loader)
for item in measured(iterator, waits): pass         # three are left
for item in measured(loader, waits): pass
iterator = iter(DataLoader(loader.dataset))
tracing.undo()
list(iterator)
print(json.dumps(waits))
log.finalize()
""",
        tmp_path,
    )
    (trace,) = (one for one in traces if one.named("fetch.iter"))
    waits = json.loads(record.func.stdout)
    assert len(waits) == 7 and trace.values("fetch.iter", "count")[:7] == [1, 2, 3, 1, 2, 3, 4]
    for event, wait in zip(trace.named("fetch.iter"), waits, strict=False):
        assert event["dur"] <= wait / 1000


def test_a_loop_that_is_left_ends_its_workers_in_an_event(tmp_path):
    traces = record(
        START
        + """
loader = DataLoader(Slow(), batch_size=2, num_workers=2)
trace(dataloader=loader)
for batch in loader: break
with ai.compute.derive("after"): pass
for batch in loader: pass
log.finalize()
""",
        tmp_path,
    )
    (trace,) = (one for one in traces if one.named("fetch.init"))
    left, whole = trace.named("fetch.end")
    (after,), (cut,) = trace.named("compute.after"), trace.named("fetch.block.cut")
    assert cut["ts"] + cut["dur"] <= left["ts"] and left["ts"] + left["dur"] <= after["ts"] < whole["ts"]
    assert len(trace.named("fetch.iter.cut")) == 1 and len(trace.named("fetch.iter")) == 4


BATCHES = """
import random
class Sizes:
    "Batches of different sizes, in another order in each epoch."
    def __init__(self, sizes): self.sizes, self.epoch = sizes, 0
    def __iter__(self):
        self.epoch += 1
        sizes = list(self.sizes)
        random.Random(self.epoch).shuffle(sizes)
        return iter([list(range(size)) for size in sizes])
    def __len__(self): return len(self.sizes)
class Items(Dataset):
    @ai.data.item
    def __getitem__(self, index): return torch.tensor([index])
def main(method, options, count):
    log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", None, -1)
    loaders = [DataLoader(Items(), batch_sampler=Sizes([scale * size for size in range(1, 8)]), num_workers=2,
                          multiprocessing_context=method, **options) for scale in (1, 10)[:count]]
    trace(dataloader=loaders)
    truth = []
    for epoch in range(2):
        ai.update(epoch=epoch)
        for step, batches in enumerate(zip(*loaders)):
            ai.update(step=step)
            truth.append([epoch, step, sum(len(batch) for batch in batches)])
    print(json.dumps(truth))
    log.finalize()
if __name__ == "__main__": main(sys.argv[2], eval(sys.argv[3]), int(sys.argv[4]))
"""


def items_by_step(folder):
    words = [os.environ["DFT_TEST_COMMAND"], "summary", "--json", "--by", "step", "--name", "item", folder]
    return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["groups"]


@pytest.mark.parametrize(
    ("method", "options", "count"),
    [
        ("fork", "{}", 1),
        ("fork", "dict(persistent_workers=True)", 2),
        ("fork", "dict(prefetch_factor=8, in_order=False)", 1),
        ("fork", "dict(prefetch_factor=1, in_order=False, persistent_workers=True)", 2),
        ("spawn", "dict(persistent_workers=True)", 1),
        ("forkserver", "dict(persistent_workers=True, prefetch_factor=4, in_order=False)", 1),
    ],
)
def test_items_land_in_the_step_that_used_them(tmp_path, method, options, count):
    truth = json.loads(run(START + BATCHES, tmp_path, method, options, count, timeout=200))
    traces = traces_of(tmp_path)
    workers = [trace for trace in traces if trace.named("item")]
    for trace in workers:
        numbers = {(event["args"]["batch"], event["args"]["worker_pid"]) for event in trace.named("data.batch")}
        assert numbers == {(event["args"]["batch"], trace.pid) for event in trace.named("item")}
        assert not any("step" in event["args"] for event in trace.named("item"))
        assert "persistent" not in options or not any("epoch" in event["args"] for event in trace.named("item"))
    assert sum(len(trace.named("data.batch")) for trace in workers) == 2 * 7 * count
    found = {(group["epoch"], group["step"]): group["count"] for group in items_by_step(tmp_path)}
    assert found == {(str(epoch), str(step)): items for epoch, step, items in truth}


def test_loads_in_workers_and_fetches_are_data(tmp_path):
    """Of the training process outside of fetches they are checkpoints, and pickled tensors are neither."""
    traces = record(
        START
        + THREADS
        + """
import copy, io, pickle
path = sys.argv[1] + "/item.pt"
torch.save(torch.ones(1), path)
class Files(Dataset):
    def __len__(self): return 4
    def __getitem__(self, index):
        torch.save(torch.ones(1), io.BytesIO())
        return torch.load(path)
loaders = [DataLoader(Files()), DataLoader(Files(), num_workers=2), InBackground(Files())]
with trace(dataloader=loaders):
    for loader in loaders: list(loader)
    for batch in ai.dataloader.fetch.iter(DataLoader(Files())): pass
    pickle.loads(pickle.dumps(torch.ones(3))); copy.deepcopy(torch.nn.Linear(2, 2))
    torch.load(path); torch.save({}, io.BytesIO())
log.finalize()
""",
        tmp_path,
    )
    count = collections.Counter(event["name"] for trace in traces for event in trace.user_events())
    assert count["restart"] == count["capture"] == 1
    assert count["data.io.read"] == count["data.io.write"] == 4 * 4
    assert count["fetch.iter"] == 4 * 4


def test_what_cannot_be_recorded_is_in_the_trace(tmp_path):
    trace = one(
        START + "trace(dataloader=[range(3), 7])\nwith ai.compute.forward: pass\nlog.finalize()\n", tmp_path
    )
    assert not_recorded(trace) == ["fetch", "fetch"]


if __name__ == "__main__":
    main(__file__)
