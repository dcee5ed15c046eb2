"""test_accelerate.py - Accelerate: what is recorded is what the training measured itself."""

import collections

import pytest
from frameworks_harness import Training, block_of, main, only_trace, run_program, server

launch = server("torch", "accelerate")


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


def test_two_ranks(tmp_path):
    Training("train_accelerate.py", tmp_path, 0, ranks=2).check_all()


if __name__ == "__main__":
    main(__file__)
