"""test_untouched_programs.py - kinds of plain PyTorch programs that know nothing of tracing: what counts as what."""

import collections
import json
import os
import subprocess

import pytest
from frameworks_harness import main
from plain import LOOP, NUMBERS, START, in_each, record
from untouched import launch, traces_of

EVALUATIONS = {
    "no_grad around": "    with torch.no_grad():\n        for samples in evaluation: model(samples)\n",
    "no_grad within": "    for samples in evaluation:\n        with torch.no_grad(): model(samples)\n",
    "mode": "    model.eval()\n    for samples in evaluation: model(samples)\n    model.train()\n",
    "mode that stays": "    model.eval()\n    for samples in evaluation: model(samples)\n",
    "inference": "    with torch.inference_mode():\n        for samples in evaluation: model(samples)\n",
    "within the epoch": "        with torch.no_grad():\n            outputs = [model(one) for one in evaluation]\n",
}


@pytest.mark.parametrize("how", EVALUATIONS)
def test_evaluations(tmp_path, how):
    found = record(tmp_path, START + LOOP + EVALUATIONS[how])
    loops = 4 if how == "within the epoch" else 1
    more = {"evaluate": loops, "fetch.iter": 4 + 2 * loops, "forward": 4 + 2 * loops}
    expected = in_each({**NUMBERS, **more})
    assert {name: found[name] for name in expected} == expected


SCALED = """        with torch.autocast('cpu'): loss = model(samples).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()"""
WRAPPED = """
class Outer(torch.optim.Optimizer):
    def __init__(self, inner):
        super().__init__(inner.param_groups, {})
        self.inner = inner
    def step(self, closure=None): return self.inner.step(closure)
optimizer = Outer(optimizer)
"""
TAUGHT = """        with torch.no_grad(): wanted = teacher(samples)
        (model(samples) - wanted).sum()"""
OTHERS = {
    "a loop that is left": (
        LOOP + "        break\n",
        {"epoch": 1, "forward": 1, "fetch.iter": 1, "fetch.block.cut": 1},
    ),
    "a loader that is made anew": (
        LOOP.replace("in training", "in DataLoader(training.dataset, batch_size=2)"),
        NUMBERS,
    ),
    "two loaders at once": (
        LOOP.replace("samples in training", "samples, others in zip(training, DataLoader(range(9)))"),
        {"epoch": 1, "forward": 4, "step": 4},
    ),
    "two optimizers": (
        "second = torch.optim.Adam(model.parameters())\n" + LOOP + "        second.step()\n",
        {"epoch": 1, "forward": 4, "step": 8},
    ),
    "an optimizer that wraps another": (WRAPPED + LOOP, NUMBERS),
    "an optimizer that wraps another, with a closure": (
        WRAPPED
        + LOOP.replace("        model(samples).sum().backward()\n        optimizer.step()",
                       "        optimizer.step(lambda: model(samples).sum().backward())"),
        NUMBERS,
    ),
    "a copied optimizer": ("import copy\nmodel, optimizer = copy.deepcopy((model, optimizer))\n" + LOOP, NUMBERS),
    "a loss that is a module": (
        "loss = nn.MSELoss()\n" + LOOP.replace("model(samples).sum()", "loss(model(samples), torch.zeros(2, 1))"),
        NUMBERS,
    ),
    "a model that is not trained": (
        "other = nn.Linear(4, 1).requires_grad_(False)\n" + LOOP + "        other(samples)\n",
        NUMBERS,
    ),
    "a forward again in backward": (
        "from torch.utils.checkpoint import checkpoint\n"
        + LOOP.replace("model(samples)", "checkpoint(model, samples.requires_grad_(), use_reentrant=False)"),
        NUMBERS,
    ),
    "a model in a transform": (
        "kept = nn.Linear(4, 4)\n"
        "training = DataLoader(training.dataset, 2, collate_fn=lambda x: kept(torch.stack(x)).detach())\n" + LOOP,
        NUMBERS,
    ),
    "a loader of an own class": (
        "class Own(DataLoader):\n    def __iter__(self):\n        yield from super().__iter__()\n"
        "training = Own(training.dataset, batch_size=2)\n" + LOOP,
        NUMBERS,
    ),
    "a teacher": (
        "teacher = nn.Linear(4, 1)\n"
        + LOOP.replace("        model(samples).sum()", TAUGHT),
        {**NUMBERS, "forward": 8, "evaluate": None},
    ),
    "a model in evaluation mode that trains": ("model.eval()\n" + LOOP, {**NUMBERS, "evaluate": None}),
    "two models and two optimizers": (
        "critic = nn.Linear(1, 1)\nsecond = torch.optim.Adam(critic.parameters())\n"
        + LOOP + "        critic(model(samples).detach()).sum().backward()\n        second.step()\n",
        {"epoch": 1, "fetch.iter": 4, "forward": 12, "backward": 8, "step": 8},
    ),
    "a gradient scaler": (
        "scaler = torch.amp.GradScaler('cpu')\n"
        + LOOP.replace("        model(samples).sum().backward()\n        optimizer.step()", SCALED),
        NUMBERS,
    ),
    "an iterable dataset": (
        "class Items(torch.utils.data.IterableDataset):\n    def __iter__(self): yield from torch.ones(8, 4)\n"
        "training = DataLoader(Items(), batch_size=2)\n" + LOOP,
        NUMBERS,
    ),
    "a training in a thread": (
        "import threading\ndef train():\n"
        + LOOP.replace("\n", "\n    ")
        + "\none = threading.Thread(target=train)\none.start()\none.join()\n",
        NUMBERS,
    ),
    "a scheduler": (
        "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)\n" + LOOP + "        scheduler.step()\n",
        NUMBERS,
    ),
}


@pytest.mark.parametrize("what", OTHERS)
def test_programs(tmp_path, what):
    program, numbers = OTHERS[what]
    found = record(tmp_path, START + program)
    expected = in_each({name: number for name, number in numbers.items() if number})
    assert {name: found.get(name) for name in numbers} == {**dict.fromkeys(numbers), **expected}
    assert "dftracer" not in record.done.stderr


def test_looks_at_a_batch(tmp_path):
    look = "samples = next(iter(DataLoader(training.dataset, batch_size=2)))\n"
    held = "iterator = iter(DataLoader(training.dataset, 2))\nsamples = next(iterator)\n"
    found = record(tmp_path, START + look + LOOP + look + held)
    assert sum(found["fetch.iter"].values()) == 1 + 2 * NUMBERS["fetch.iter"] + 2, found
    assert "fetch.iter.cut" not in found and sum(found["fetch.block.cut"].values()) == 3, found


def test_a_checkpoint_of_many_files(tmp_path):
    save = "    saving.save({'model': model.state_dict(), 'number': epoch}, checkpoint_id=f'{epoch}')\n"
    load = "saving.load({'model': model.state_dict()}, checkpoint_id='1')\n"
    found = record(tmp_path, START + "import torch.distributed.checkpoint as saving\n" + LOOP + save + load)
    assert found["capture"] == {0: 1, 1: 1} and found["restart"] == {1: 1}


def test_trainings_in_threads(tmp_path):
    program = """
import threading
together = threading.Barrier(3)
def train():
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for samples in DataLoader(torch.randn(8, 4), batch_size=2):
        together.wait()
        model(samples).sum().backward()
        together.wait()
        optimizer.step()
threads = [threading.Thread(target=train) for _ in range(3)]
for one in threads: one.start()
for one in threads: one.join()
"""
    found = record(tmp_path, START + program)
    names = ("fetch.iter", "forward", "backward", "step")
    assert {name: sum(found[name].values()) for name in names} == dict.fromkeys(names, 3 * 4), found


def numbers_of_all(folder, program):
    """Of the traces of all processes."""
    (folder / "program.py").write_text(START + program)
    launch(folder / "program.py", folder)
    return collections.Counter(event["name"] for trace in traces_of(folder / "traces") for event in trace.user_events())


def test_trainings_in_processes(tmp_path):
    """Python ends these by os._exit; the one that starts them has no trace."""
    found = numbers_of_all(
        tmp_path,
        "import multiprocessing\ndef train(_):\n"
        + LOOP.replace("\n", "\n    ")
        + """
with multiprocessing.get_context("fork").Pool(2) as pool:
    pool.map(train, range(2))
    pool.close()
    pool.join()
""",
    )
    assert {name: found[name] for name in NUMBERS} == {name: 2 * 2 * number for name, number in NUMBERS.items()}


def test_a_child_does_not_end_the_epoch_of_its_parent(tmp_path):
    program = "import os, sys\n" + LOOP + "        if not os.fork(): sys.exit()\n        os.wait()\n"
    found = numbers_of_all(tmp_path, program)
    assert {name: found[name] for name in NUMBERS} == {name: 2 * number for name, number in NUMBERS.items()}


def test_iterators_look_like_those_of_torch(tmp_path):
    program = """
import copy
class Own(DataLoader):
    def __iter__(self): yield from super().__iter__()
iterator = iter(training)
assert len(iterator) == 4 and isinstance(iterator, torch.utils.data.dataloader._BaseDataLoaderIter)
assert not hasattr(iter(Own(training.dataset)), "__len__")
try: copy.copy(iterator)
except NotImplementedError as error: assert "pickled" in str(error)
else: raise AssertionError
"""
    record(tmp_path, START + program)


AHEAD = """
import queue, threading
class Ahead:
    def __iter__(self):
        batches = queue.Queue(1)
        def fetch():
            for batch in training: batches.put(batch)
            batches.put(None)
        threading.Thread(target=fetch).start()
        while (batch := batches.get()) is not None: yield batch
"""


def test_a_thread_that_fetches_ahead(tmp_path):
    found = record(tmp_path, START + AHEAD + LOOP.replace("in training", "in Ahead()"))
    numbers = {name: NUMBERS[name] for name in ("epoch", "forward", "backward", "step")}
    assert {name: found[name] for name in numbers} == in_each(numbers)
    assert [event["args"]["step"] for event in record.trace.named("backward")] == [0, 1, 2, 3] * 2
    assert 1 not in found["fetch.iter"], "what the training waits for is not known"
    summary = subprocess.run(
        [os.environ["DFT_TEST_COMMAND"], "summary", "--json", tmp_path / "traces"], check=True, capture_output=True
    )
    training = json.loads(summary.stdout)["training"]
    assert training["fetch_ns"] is None and training["wait_ns"] is None


def test_a_closure_is_no_part_of_the_step(tmp_path):
    program = (
        START
        + """
import time
def closure():
    time.sleep(0.05)
    optimizer.zero_grad()
    loss = model(samples).sum()
    loss.backward()
    return loss
for samples in training: optimizer.step(closure)
for samples in training: optimizer.step(closure=closure)
"""
    )
    found = record(tmp_path, program)
    assert found["step"] == found["forward"] == {0: 4, 1: 4}
    inside = [record.trace.named(name) for name in ("step", "forward", "backward")]
    for step, forward, backward in zip(*inside, strict=True):
        assert forward["ts"] < backward["ts"] and backward["ts"] + backward["dur"] <= step["ts"], "they come before it"


def test_compiled_models(tmp_path):
    program = (
        START
        + """
plain, eager = torch.randn(2, 4), model
model = torch.compile(model, backend="eager", fullgraph=True)
assert torch.equal(model(plain), eager(plain))
"""
        + LOOP
        + "assert len(torch._dynamo.utils.counters['graph_break']) == 0\n"
    )
    found = record(tmp_path, program)
    assert found["forward"] == {None: 2, 0: 4, 1: 4} and found["epoch"] == {0: 1, 1: 1}


def test_resuming_and_saving(tmp_path):
    program = START + "torch.save(model.state_dict(), 'w')\nmodel.load_state_dict(torch.load('w'))\n" + LOOP
    found = record(tmp_path, program + "    torch.save(model.state_dict(), 'w')\n")
    assert found["capture"] == {None: 1, 0: 1, 1: 1} and found["restart"] == {None: 1}


if __name__ == "__main__":
    main(__file__)
