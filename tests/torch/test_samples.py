"""test_samples.py - how many samples each fetched batch has: the right number, or none.

The truth is what the program gave: ten samples, and the batches that torch makes of them.
"""

import pytest
from torch_harness import main, record

START = """
import collections, dataclasses, torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset
from dftracer.python.torch import trace
image = torch.ones(3, 5, 5)
Pair = collections.namedtuple("Pair", "first second")
Fields = dataclasses.make_dataclass("Fields", ["names", "x"])
class Ten(Dataset):
    def __init__(self, sample): self.sample = sample
    def __len__(self): return 10
    def __getitem__(self, index): return self.sample
class Stream(IterableDataset):
    def __iter__(self): return iter(torch.ones(10, 3))
class Refusing(Dataset):
    def __len__(self): return 10
    def __getitem__(self, index): return 0
    class Batch:
        def __getattribute__(self, name): raise SystemExit("methods of the program are not called")
def loader(sample=image, **options): return DataLoader(Ten(sample), **{"batch_size": 4, **options})
with trace(dataloader=(made := eval(sys.argv[2]))):
    for batch in made: pass
log.finalize()
"""
STACKED = [4, 4, 2]
KINDS = {
    "loader()": STACKED,
    "loader((image, 7))": STACKED,
    "loader({'text': 'x', 'more': {'x': image}})": STACKED,
    "loader(num_workers=2)": STACKED,
    "loader(drop_last=True)": [4, 4],
    "loader(batch_size=20)": [10],
    "DataLoader(Ten(image), batch_sampler=[[0], [1, 2, 3], [4, 5]])": [1, 3, 2],
    "DataLoader(Stream(), batch_size=4)": STACKED,
    "loader(collate_fn=torch.stack)": STACKED,
    "loader(collate_fn=lambda samples: collections.UserDict(x=torch.stack(samples)))": STACKED,
    "loader(collate_fn=lambda samples: {'names': [1] * len(samples), 'x': torch.stack(samples)})": STACKED,
    "loader(collate_fn=lambda samples: Pair([None], [{'deep': (torch.stack(samples),)}]))": STACKED,
    "loader(collate_fn=lambda samples: Fields(['a'] * len(samples), {'x': torch.stack(samples)}))": STACKED,
    "loader('text')": STACKED,
    "loader(collate_fn=lambda samples: {'ids': list(range(len(samples)))})": STACKED,
    "loader({'text': 'x', 'number': 'y'})": STACKED,
    # The first dimension is that of an image.
    "loader(collate_fn=list)": [4, 4, None],
    "loader((image, {}), collate_fn=lambda samples: tuple(zip(*samples)))": [4, 4, None],
    # Nobody knows which batch is the last one.
    "DataLoader(Stream(), batch_size=4, collate_fn=list)": [None] * 3,
    "loader(collate_fn=list, num_workers=2, in_order=False)": [None] * 3,
    "loader(batch_size=None)": [None] * 10,
    "DataLoader(Refusing(), batch_size=4, collate_fn=lambda _: Refusing.Batch())": [4, 4, None],
}


@pytest.mark.parametrize("kind", KINDS)
def test_samples_of_a_batch(tmp_path, kind):
    traces = record(START, tmp_path, kind)
    (trace,) = (one for one in traces if one.named("fetch.iter"))
    assert [event["args"].get("samples") for event in trace.named("fetch.iter")] == KINDS[kind]
    assert not any("samples" in event["args"] for event in trace.events if event["name"] != "fetch.iter")


def test_iterators_that_exist_already_and_plain_loops(tmp_path):
    begin, _ = START.split("with trace")
    loops = """
made = loader()
iterator = iter(made)
next(iterator)
with trace(dataloader=made):
    for batch in iterator: pass
for batch in ai.dataloader.fetch.iter(made): pass
log.finalize()
"""
    (trace,) = record(begin + loops, tmp_path)
    assert [event["args"].get("samples") for event in trace.named("fetch.iter")] == [4, 2, None, None, None]


if __name__ == "__main__":
    main(__file__)
