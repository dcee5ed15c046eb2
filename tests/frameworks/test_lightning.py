"""test_lightning.py - Lightning: what is recorded is what the training measured itself."""

import pytest
from frameworks_harness import Training, block_of, main, run_program, server

launch = server("torch", "lightning.pytorch")


@pytest.mark.parametrize("workers", [0, 2])
def test_one_process(tmp_path, workers):
    Training("train_lightning.py", tmp_path, workers, launch=launch).check_all()


def test_two_ranks(tmp_path):
    Training("train_lightning.py", tmp_path, 0, ranks=2).check_all()


def test_the_block_of_the_page(tmp_path):
    more = "assert [one for one in trainer.callbacks if isinstance(one, DFTracerCallback)]\n"
    run_program(block_of("trace_lightning.py") + more, tmp_path, launch)


if __name__ == "__main__":
    main(__file__)
