"""test_lightning.py - Lightning: what is recorded is what the training measured itself."""

import pytest
from frameworks_harness import Training, block_of, main, run_program, server
from plain import in_each, record

launch = server("torch", "lightning.pytorch")


@pytest.mark.parametrize("workers", [0, 2])
def test_one_process(tmp_path, workers):
    Training("train_lightning.py", tmp_path, workers, launch=launch).check_all()


def test_two_ranks(tmp_path):
    Training("train_lightning.py", tmp_path, 0, ranks=2).check_all()


def test_the_block_of_the_page(tmp_path):
    more = "assert [one for one in trainer.callbacks if isinstance(one, DFTracerCallback)]\n"
    run_program(block_of("trace_lightning.py") + more, tmp_path, launch)


UNSIZED = """
import lightning.pytorch as pl
import torch
from torch.utils.data import DataLoader, IterableDataset
class Items(IterableDataset):
    def __iter__(self): yield from torch.ones(8, 4)
class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)
    def training_step(self, batch, _): return self.linear(batch).sum()
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), lr=0.1)
quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "enable_checkpointing": False}
pl.Trainer(max_epochs=2, accelerator="cpu", **quiet).fit(Model(), DataLoader(Items(), batch_size=2))
"""


def test_a_batch_that_is_fetched_before_the_epoch_begins(tmp_path):
    """Of a loader without a length, Lightning fetches one batch ahead."""
    found = record(tmp_path, UNSIZED)
    names = ("fetch.iter", "fetch.block", "forward", "backward", "step")
    assert {name: found.get(name) for name in names} == in_each(dict.fromkeys(names, 4)), found


def test_a_trainer_can_be_pickled(tmp_path):
    """Lightning does so to spawn ranks."""
    program = """
import pickle
import lightning.pytorch as pl
trainer = pl.Trainer(accelerator="cpu", logger=False)
again = pickle.loads(pickle.dumps(trainer))
print(*(type(one).__name__ for one in again.callbacks))
"""
    record(tmp_path, program)
    assert record.done.stdout.split()[0] == "DFTracerCallback"


def test_what_is_logged_may_be_given_by_name(tmp_path):
    program = """
import torch
from lightning.fabric import Fabric
class Logger:
    def log_metrics(self, metrics, step): print(step, *metrics)
fabric = Fabric(accelerator="cpu", loggers=[Logger()])
fabric.log_dict(step=3, metrics={"loss": torch.tensor(0.5)})
fabric.log_dict({"loss": 0.25})
"""
    record(tmp_path, program)
    assert record.done.stdout.splitlines() == ["3 loss", "None loss"]
    assert [event["args"]["loss"] for event in record.trace.events if event["ph"] == "C"] == [0.5, 0.25]


def test_a_loader_that_a_thread_has_used_before(tmp_path):
    """Then the Trainer leaves each of its loops early."""
    program = """
import queue, threading
import lightning.pytorch as pl
import torch
loader = torch.utils.data.DataLoader([torch.full((8,), number / 24) for number in range(24)], batch_size=2)
batches = queue.Queue()
thread = threading.Thread(target=lambda: [*map(batches.put, loader), batches.put(None)])
thread.start()
model = torch.nn.Linear(8, 1)
while (batch := batches.get()) is not None: model(batch).sum().backward()
thread.join()
class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 1)
    def training_step(self, batch, _): return self.linear(batch).sum()
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), lr=0.1)
quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
pl.Trainer(max_epochs=3, limit_train_batches=5, accelerator="cpu", **quiet).fit(Module(), loader)
"""
    record(tmp_path, program)
    assert "dftracer" not in record.done.stderr and "Traceback" not in record.done.stderr, record.done.stderr
    before = sorted(event["ts"] for event in record.trace.named("backward"))[11]  # the last one of the thread's batches
    fetches = [event for event in record.trace.user_events() if event["name"].startswith("fetch.iter")]
    assert len([event for event in fetches if event["ts"] > before]) == 3 * 5, fetches


if __name__ == "__main__":
    main(__file__)
