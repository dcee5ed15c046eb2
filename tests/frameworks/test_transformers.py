"""test_transformers.py - the Trainer of Transformers: what is recorded is what the training measured itself."""

import pytest
from frameworks_harness import Training, main, server

launch = server("torch", "transformers.trainer")


@pytest.mark.parametrize("workers", [0, 2])
def test_one_process(tmp_path, workers):
    Training("train_transformers.py", tmp_path, workers, launch=launch).check_all()


def test_two_ranks(tmp_path):
    Training("train_transformers.py", tmp_path, 0, ranks=2).check_all()


if __name__ == "__main__":
    main(__file__)
