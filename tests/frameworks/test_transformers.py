"""test_transformers.py - the Trainer of Transformers: what is recorded is what the training measured itself."""

import collections

import pytest
from frameworks_harness import Training, block_of, main, only_trace, run_program, server

launch = server("torch", "transformers.trainer")


@pytest.mark.parametrize("workers", [0, 2])
def test_one_process(tmp_path, workers):
    Training("train_transformers.py", tmp_path, workers, launch=launch).check_all()


def test_two_ranks(tmp_path):
    Training("train_transformers.py", tmp_path, 0, ranks=2).check_all()


def test_the_block_of_the_page(tmp_path):
    more = "import torch\ntrainer = make_trainer(model=torch.nn.Linear(1, 1))\n"
    more += "assert [one for one in trainer.callback_handler.callbacks if isinstance(one, DFTracerCallback)]\n"
    run_program(block_of("trace_transformers.py") + more, tmp_path, launch)


TWICE = """
import sys, torch
from transformers import Trainer, TrainingArguments
from dftracer.python import dftracer
from dftracer.python.transformers import DFTracerCallback
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 1)
    def forward(self, x): return {"loss": self.linear(x).sum()}
log = dftracer.initialize_log(sys.argv[1] + "/out/twice.pfw")
arguments = TrainingArguments(sys.argv[1] + "/checkpoints", max_steps=3, per_device_train_batch_size=1, report_to=[],
                              use_cpu=True, disable_tqdm=True, save_strategy="no")
data = [{"x": torch.ones(2)}] * 6
trainer = Trainer(Model(), arguments, train_dataset=data, eval_dataset=data, callbacks=[DFTracerCallback()])
trainer.evaluate()
for _ in range(2): trainer.train()
trainer.evaluate()
log.finalize()
"""


OWN = """
class Own(Trainer):
    def get_train_dataloader(self): return torch.utils.data.DataLoader(data)
trainer = Own("""


@pytest.mark.parametrize("loader", ["\ntrainer = Trainer(", OWN], ids=["of the Trainer", "of the program"])
def test_a_second_training_and_evaluations_around_it(tmp_path, loader):
    """Accelerate's loaders move their batches; the Trainer moves those of others."""
    run_program(TWICE.replace("\ntrainer = Trainer(", loader), tmp_path, launch)
    found = collections.Counter(event["name"] for event in only_trace(tmp_path).user_events())
    assert found["backward"] == found["step"] == 2 * 3 and found["evaluate"] == 2, found
    assert found["forward"] == found["fetch.iter"] + found["fetch.iter.cut"] == 2 * 3 + 2, "an evaluation is one batch"
    assert found["transfer"] == found["forward"], found


if __name__ == "__main__":
    main(__file__)
