"""train.py - a small CNN learns which way stripes run: files of images, DataLoader workers, checkpoints, evaluation.

    DFTRACER_ENABLE=1 python train.py FOLDER                             one process
    DFTRACER_ENABLE=1 torchrun --nproc-per-node 2 train.py FOLDER        two, which average their gradients
    dftracer summary FOLDER/trace

The lines with `ai`, `dftracer` or `trace` do the tracing. One call, `trace`, records what torch does; the others record
what only this program knows.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from dftracer.python import ai, dftracer
from dftracer.python.torch import trace
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

TRAIN_FILES, TEST_FILES, IMAGES, SIZE, BATCH = 24, 4, 32, 32, 64
EPOCHS, WORKERS = int(os.environ.get("EPOCHS", "2")), int(os.environ.get("WORKERS", "2"))
RANK, RANKS = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


@ai.data.preprocess.derive("generate")
def make_file(path: Path, seed: int) -> None:
    """Images of stripes with noise, one byte a pixel; before each image one byte that says how they run."""
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 2, (IMAGES, 1), generator=random)
    stripes = torch.arange(SIZE).div(4, rounding_mode="floor").remainder(2).float() * 128
    images = torch.where(labels[:, :, None] == 1, stripes[None, None, :], stripes[None, :, None])
    noisy = images.expand(IMAGES, SIZE, SIZE) + 127 * torch.rand(IMAGES, SIZE, SIZE, generator=random)
    records = torch.cat([labels, noisy.reshape(IMAGES, -1)], dim=1).to(torch.uint8)
    with ai.data.io.write(args={"images": IMAGES}), open(path, "wb") as file:
        file.write(records.numpy().tobytes())


class Stripes(Dataset[Any]):
    """An item is an image and its label, read from a file by a worker."""

    def __init__(self, files: list[Path]) -> None:
        self.files = files

    def __len__(self) -> int:
        return len(self.files) * IMAGES

    @ai.data.item
    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        record_size = SIZE * SIZE + 1
        with open(self.files[index // IMAGES], "rb", buffering=0) as file:
            file.seek(index % IMAGES * record_size)
            record = torch.frombuffer(bytearray(file.read(record_size)), dtype=torch.uint8)
        return self.prepare(record[1:]), record[0].long()

    @ai.data.preprocess
    def prepare(self, pixels: torch.Tensor) -> torch.Tensor:
        return pixels.float().div(255).sub(0.5).reshape(1, SIZE, SIZE)


def make_model() -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 32, 5, stride=2),
        torch.nn.ReLU(),
        torch.nn.Conv2d(32, 64, 3),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(64 * 12 * 12, 2),
    )


def average(gradients: list[torch.Tensor]) -> None:
    """The same gradients for all ranks."""
    together = torch.cat([one.reshape(-1) for one in gradients])
    dist.all_reduce(together)
    for one, mean in zip(gradients, (together / RANKS).split([one.numel() for one in gradients])):
        one.copy_(mean.view_as(one))


@ai.device.transfer
def to_device(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return [one.to("cpu") for one in tensors]  # "cuda" where there is one


@ai.pipeline.evaluate
def evaluate(model: torch.nn.Module, loader: Any) -> float:
    right = 0
    with torch.no_grad():
        for batch in loader:
            images, labels = to_device(batch)
            right += int((model(images).argmax(1) == labels).sum())
    return right / (TEST_FILES * IMAGES)


@ai.other.log
def say(text: str) -> None:
    if RANK == 0:
        print(text, flush=True)


@ai.pipeline.train
def train(model: torch.nn.Module, optimizer: Any, loader: Any, test: Any, weights: Path) -> None:
    for epoch in ai.pipeline.epoch.iter(range(EPOCHS)):
        ai.update(epoch=epoch)  # before the loop, which starts workers: forked ones go on with what is set then
        for step, batch in enumerate(loader):
            ai.update(step=step)
            images, labels = to_device(batch)
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(images), labels)
            loss.backward()
            average([one.grad for one in model.parameters() if one.grad is not None])
            optimizer.step()
        if RANK == 0:
            torch.save(model.state_dict(), weights)
        say(f"epoch {epoch}: loss {loss.item():.4f}, right in {evaluate(model, test):.0%}")
    dist.barrier()
    model.load_state_dict(torch.load(weights))


def main() -> None:
    folder = Path(sys.argv[1])
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    log = dftracer.initialize_log(folder / "trace" / f"train-{RANK}.pfw", data_dir=data, process_id=RANK)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if RANKS > 1:
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    files = [data / f"{number}.images" for number in range(TRAIN_FILES + TEST_FILES)]
    for number in range(RANK, len(files), RANKS):
        make_file(files[number], number)
    dist.barrier()
    workers = {"num_workers": WORKERS, "persistent_workers": WORKERS > 0}  # the same ones in every epoch
    loader = DataLoader(Stripes(files[RANK:TRAIN_FILES:RANKS]), BATCH, shuffle=True, **workers)
    test = DataLoader(Stripes(files[TRAIN_FILES:]), BATCH, **workers)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    with trace(model, optimizer, [loader, test]):
        train(model, optimizer, loader, test, folder / "data" / "weights.pt")
    dist.destroy_process_group()
    log.finalize()


if __name__ == "__main__":
    main()
