"""test_keras.py - Keras's ways to train: each batch that is used is one fetch, whatever Keras takes besides."""

import pytest
from frameworks_harness import main
from plain import in_each, record

START = """
import keras
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset
x, y = torch.ones(16, 4), torch.ones(16, 1)
training, evaluation = (DataLoader(TensorDataset(x[:n], y[:n]), batch_size=2) for n in (16, 8))
class Unknown(keras.utils.PyDataset):
    def __len__(self): return 8
    def __getitem__(self, index): return np.ones((2, 4)), np.ones((2, 1))
class Stop(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None): self.model.stop_training = batch == 2
model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
options = {"epochs": 2, "verbose": 0}
"""
NOT_BUILT = "assert not model.built\n"  # so Keras looks at a batch
FITS = {  # the program, the batches of training and evaluation in an epoch, the number of epochs
    "a loader": ("model.fit(training, validation_data=evaluation, **options)", 8, 4, 2),
    "a loader of unknown length": ("model.fit(Unknown(), validation_data=Unknown(), **options)", 8, 8, 2),
    "arrays": ("model.fit(x.numpy(), y.numpy(), batch_size=2, validation_split=0.25, **options)", 6, 2, 2),
    "a part of the loader": ("model.fit(training, steps_per_epoch=3, validation_data=evaluation,"
                             " validation_steps=2, **options)", 3, 2, 2),
    "a generator": ("model.fit(((x[:2].numpy(), y[:2].numpy()) for _ in range(9)), steps_per_epoch=3,"
                    " **options)", 3, 0, 2),
    "an end in the middle": ("model.fit(training, callbacks=[Stop()], **options)", 3, 0, 1),
}  # fmt: skip


@pytest.mark.parametrize("how", FITS)
def test_each_batch_is_fetched_once(tmp_path, how):
    fit, batches, evaluations, epochs = FITS[how]
    found = record(tmp_path, START + NOT_BUILT + fit)
    numbers = dict.fromkeys(("backward", "step"), batches)
    numbers.update(dict.fromkeys(("fetch.iter", "fetch.block", "forward"), batches + evaluations), epoch=1)
    assert {name: found.get(name) for name in numbers} == in_each(numbers, epochs), found
    assert not [name for name in found if name.endswith(".cut")]
    assert "dftracer" not in record.done.stderr


def test_an_evaluation_alone(tmp_path):
    found = record(tmp_path, START + NOT_BUILT + "model.evaluate(evaluation, verbose=0)\nmodel.predict(x, verbose=0)\n")
    assert found["evaluate"] == {None: 2} and found["fetch.iter"] == found["forward"] == {None: 4 + 1}


def test_an_error_in_the_middle(tmp_path):
    program = "class Stop(Stop):\n    def on_train_batch_end(self, batch, logs=None): assert batch < 2, 'mine'\n"
    found = record(tmp_path, START + program + "model.fit(training, callbacks=[Stop()], **options)\n", status=1)
    assert found["fetch.iter"] == {0: 3} and found["fetch.block.cut"] == {0: 1} and found["epoch"] == {0: 1}
    assert record.done.stderr.endswith("AssertionError: mine\n") and "dftracer:" not in record.done.stderr


def test_a_loop_of_the_program(tmp_path):
    program = """
symbol = keras.Input((4,))
model = keras.Model(symbol, keras.layers.Dense(1)(keras.Sequential([keras.Input((4,)), keras.layers.Dense(4)])(symbol)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for samples, labels in training:
        keras.losses.MeanSquaredError()(labels, model(samples)).backward()
        optimizer.step()
"""
    found = record(tmp_path, START + program)
    names = ("fetch.iter", "forward", "backward", "step")
    assert {name: found[name] for name in names} == in_each(dict.fromkeys(names, 8)), found
    assert found["epoch"] == {0: 1, 1: 1}


if __name__ == "__main__":
    main(__file__)
