"""train.py - a training loop in plain NumPy, annotated: worker processes make the data, files hold it.

    DFTRACER_ENABLE=1 python train.py FOLDER
    dftracer summary FOLDER/trace
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from dftracer.python import ai, dftracer

EPOCHS, FILES, ROWS, COLUMNS = 3, 8, 4096, 128
Array = Any  # numpy.typing is not needed for this


@ai.data.preprocess
def make_file(job: tuple[Path, int]) -> None:
    """Runs in a worker process: one file of samples."""
    path, seed = job
    random = np.random.default_rng(seed)
    samples = random.normal(size=(ROWS, COLUMNS))
    targets = samples @ np.arange(COLUMNS) / COLUMNS + 0.1 * random.normal(size=ROWS)
    with ai.data.io.write(args={"rows": ROWS}):
        np.save(path, np.column_stack([samples, targets]))


@ai.data.item
def load(path: Path) -> Array:
    return np.load(path)


def batches(data: Path) -> Iterator[Array]:
    for number in range(FILES):
        yield load(data / f"{number}.npy")


@ai.compute.forward
def forward(weights: Array, samples: Array) -> Array:
    return samples @ weights


@ai.compute.backward
def backward(samples: Array, error: Array) -> Array:
    return samples.T @ error / len(error)


@ai.checkpoint.capture
def save(path: Path, weights: Array) -> None:
    np.save(path, weights)


@ai.pipeline.train
def train(data: Path) -> float:
    weights = np.zeros(COLUMNS)
    loss = 0.0
    for epoch in ai.pipeline.epoch.iter(range(EPOCHS)):
        for step, batch in ai.dataloader.fetch.iter(enumerate(batches(data))):
            ai.update(epoch=epoch, step=step)
            samples, targets = batch[:, :-1], batch[:, -1]
            error = forward(weights, samples) - targets
            with ai.compute.step:
                weights -= 0.5 * backward(samples, error)
            loss = float(np.mean(error**2))
        save(data / "weights.npy", weights)
    return loss


def main() -> None:
    folder = Path(sys.argv[1])
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    log = dftracer.initialize_log(folder / "trace" / "train.pfw", data_dir=data)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(make_file, [(data / f"{number}.npy", number) for number in range(FILES)])
        pool.close()
        pool.join()
    print(f"loss {train(data):.4f}")
    log.finalize()


if __name__ == "__main__":
    main()
