"""train_keras.py [WORKERS] - a training by Keras on top of PyTorch.

Nothing in it knows of tracing. docs/torch.md says how to record it.
"""

import os
import sys
import time

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
import torch
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    """Each item takes 20 ms, as if it came from a slow disk."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return self.items

    def __getitem__(self, index):
        time.sleep(0.02)
        return torch.full((8,), index / self.items), torch.tensor([index % 2.0])


if __name__ == "__main__":
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    training, evaluation = (DataLoader(Slow(items), batch_size=2, num_workers=workers) for items in (32, 8))
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
    saving = keras.callbacks.ModelCheckpoint("model.keras")
    model.fit(training, validation_data=evaluation, epochs=3, callbacks=[saving], verbose=2)
