"""test_accelerate.py - Accelerate: what is recorded is what the training measured itself."""

import collections

import pytest
from frameworks_harness import Training, block_of, main, only_trace, run_program, server
from plain import record

launch = server("torch", "accelerate")
OWN_REGIONS = """
import sys
import torch
from accelerate import Accelerator
from dftracer.python import ai, dftracer
from dftracer.python.accelerate import trace
from torch.utils.data import DataLoader, TensorDataset

log = dftracer.initialize_log(f"{sys.argv[1]}/out/train.pfw")
trace(Accelerator(cpu=True))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=2)
for _ in range(2):
    with ai.pipeline.train:
        for (batch,) in loader:
            model(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    with torch.no_grad(), ai.pipeline.test:
        for (batch,) in loader:
            model(batch)
log.finalize()
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_one_process(tmp_path, workers):
    Training("train_accelerate.py", tmp_path, workers, launch=launch).check_all()


@pytest.mark.parametrize("how", ["early", "asked"])
def test_other_ways_to_ask(tmp_path, how):
    Training("train_accelerate.py", tmp_path, 0, how, launch=launch).check_all()


def test_the_program_of_the_page(tmp_path):
    run_program(block_of("accelerated.py"), tmp_path, launch)
    found = collections.Counter(event["name"] for event in only_trace(tmp_path).user_events())
    numbers = {"fetch.iter": 16, "forward": 16, "backward": 16, "step": 4, "capture": 1, "fetch.init": 1}
    assert {name: found[name] for name in numbers} == numbers, found


def test_regions_of_the_program_may_cross_epochs(tmp_path):
    run_program(OWN_REGIONS, tmp_path, launch)
    trace = only_trace(tmp_path)  # no two events of a thread overlap, or reading would have failed
    epochs = trace.named("epoch")
    assert [event["args"]["epoch"] for event in epochs] == [0, 1], epochs
    assert not {event["tid"] for event in epochs} & {event["tid"] for event in trace.named("forward")}, epochs


def test_two_ranks(tmp_path):
    Training("train_accelerate.py", tmp_path, 0, ranks=2).check_all()


def test_what_is_logged_may_be_no_number(tmp_path):
    program = """
import torch
from accelerate import Accelerator
values = {"text": "1.5", "large": 10**400, "meta": torch.zeros(1, device="meta"), "loss": 0.5}
Accelerator(cpu=True).log(step=1, log_kwargs={"tracker": {"other": 1}}, values=values)
"""
    record(tmp_path, program)
    assert [event["name"] for event in record.trace.events if event["ph"] == "C"] == ["loss"]


if __name__ == "__main__":
    main(__file__)
