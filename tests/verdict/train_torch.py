"""train_torch.py - trainings with torch, traced by trace() alone, whose work is sleeping; they measure themselves.

Usage: train_torch.py CASES. CASES is JSON: {folder: {"ranks": n, "load": ms, "compute": ms, "save": ms, "idle": ms}};
milliseconds may be a list by rank. All of them run at once, in forks: torch takes seconds to load.
SPDX-License-Identifier: MIT
"""

import contextlib
import io
import json
import os
import sys
import time

import torch
import torch.distributed
from dftracer.python import dftracer
from dftracer.python.torch import trace
from torch.utils.data import DataLoader, Dataset

STEPS = 24
measured = []


@contextlib.contextmanager
def measure(kind, name):
    begin = time.monotonic_ns()
    yield
    measured.append((kind, name, begin, time.monotonic_ns()))


class Samples(Dataset):
    """Each takes its time to load."""

    def __init__(self, ms):
        self.ms = ms

    def __len__(self):
        return STEPS

    def __getitem__(self, index):
        with measure("inside", "fetch"):
            time.sleep(self.ms / 1000)
        return torch.ones(4)


class Model(torch.nn.Module):
    """Its forward takes its time."""

    def __init__(self, ms):
        super().__init__()
        self.linear, self.ms = torch.nn.Linear(4, 1), ms

    def forward(self, x):
        with measure("inside", "forward"):
            time.sleep(self.ms / 1000)
            return self.linear(x)


class SlowFile(io.BytesIO):
    """A file on a slow disk, for torch.save: its first write takes its time."""

    def __init__(self, ms):
        super().__init__()
        self.ms = ms

    def write(self, data):
        if self.tell() == 0:
            time.sleep(self.ms / 1000)
        return super().write(data)


def batches_of(loader):
    """What the loop waits for: the start of the loader, its batches and its end."""
    with measure("input", "start"):
        iterator = iter(loader)
    measured.append(("inside", "start", 0, 0))  # nothing in it is known to be in the event
    while True:
        with measure("input", "fetch"):
            batch = next(iterator, None)
        if batch is None:
            return
        yield batch


def load_all():
    """What tracing and optimizers import may take a minute, and would be the start-up of every training."""
    model = Model(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trace(model, optimizer, DataLoader(Samples(0))).undo()


def train(sizes, ranks):
    model = Model(sizes["compute"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Samples(sizes["load"]), batch_size=1)
    if ranks > 1:
        torch.distributed.barrier()  # ranks begin together: who comes late to the first all_reduce is not the slow one
    with trace(model, optimizer, loader), measure("whole", "loop"):
        for step, batch in enumerate(batches_of(loader)):
            with measure("compute", "forward"):
                loss = model(batch).sum()
            time.sleep(sizes["idle"] / 1000)
            with measure("compute", "backward"):
                loss.backward()
                optimizer.step()
            if ranks > 1:
                with measure("comm", "all_reduce"):
                    torch.distributed.all_reduce(torch.ones(1))
            if sizes["save"] and step % 4 == 2:
                with measure("checkpoint", "capture"):
                    torch.save(model.state_dict(), SlowFile(sizes["save"]))


def run_rank(case, folder, rank):
    ranks = case["ranks"]
    sizes = {key: value[rank] if isinstance(value, list) else value for key, value in case.items()}
    torch.set_num_threads(1)
    with contextlib.suppress(PermissionError):
        os.nice(-10)  # it mostly sleeps from here on, and on a busy machine, too, it goes on as soon as it wakes
    if ranks > 1:
        store = f"file://{folder}/store"
        torch.distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=ranks)
        torch.distributed.all_reduce(torch.ones(1))  # the first one connects the ranks, which takes its time
    log = dftracer.initialize_log(f"{folder}/train-{rank}.pfw")
    train(sizes, ranks)
    log.finalize()
    with open(f"{folder}/truth-{rank}", "w", encoding="utf-8") as file:
        file.writelines(f"{kind} {name} {begin} {end}\n" for kind, name, begin, end in measured)
    if ranks > 1:
        torch.distributed.destroy_process_group()


def main():
    children = []
    load_all()
    for folder, case in json.loads(sys.argv[1]).items():
        for rank in range(case["ranks"]):
            child = os.fork()
            if child == 0:
                os.environ.update(RANK=str(rank), WORLD_SIZE=str(case["ranks"]))
                run_rank(case, folder, rank)
                sys.exit(0)
            children.append(child)
    status = max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    os._exit(status)  # it recorded nothing itself, which dftracer would report


if __name__ == "__main__":
    main()
