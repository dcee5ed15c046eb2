"""test_transformers.py - the Trainer of Transformers: what is recorded is what the training measured itself."""

import collections

import pytest
from frameworks_harness import Training, main, run_program, server

launch = server("torch", "transformers.trainer")


@pytest.mark.parametrize("workers", [0, 2])
def test_one_process(tmp_path, workers):
    Training("train_transformers.py", tmp_path, workers, launch=launch).check_all(saves=5)


def test_two_ranks(tmp_path):
    Training("train_transformers.py", tmp_path, 0, ranks=2).check_all(saves=5)


TWICE = """
import sys, torch
from trace_transformers import TraceCallback
from transformers import Trainer, TrainingArguments
from dftracer.python import dftracer
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 1)
    def forward(self, x): return {"loss": self.linear(x).sum()}
log = dftracer.initialize_log(sys.argv[1] + "/out/twice.pfw")
arguments = TrainingArguments(sys.argv[1] + "/checkpoints", max_steps=3, per_device_train_batch_size=1, report_to=[],
                              use_cpu=True, disable_tqdm=True, save_strategy="no")
data = [{"x": torch.ones(2)}] * 6
trainer = Trainer(Model(), arguments, train_dataset=data, eval_dataset=data)
trainer.add_callback(TraceCallback(trainer))
trainer.evaluate()
for _ in range(2): trainer.train()
trainer.evaluate()
log.finalize()
"""


def test_a_second_training_and_evaluations_around_it(tmp_path):
    trace = run_program(TWICE, tmp_path, launch)
    found = collections.Counter(event["name"] for event in trace.user_events())
    assert found["forward"] == found["backward"] == found["step"] == 2 * 3, found
    assert found["fetch.iter"] + found["fetch.iter.cut"] == 2 * 3 + 2, "an evaluation is one batch"


if __name__ == "__main__":
    main(__file__)
