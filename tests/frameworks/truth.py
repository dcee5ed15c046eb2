"""truth.py - a training of known cost, and a watch that measures it from outside. Imports nothing of dftracer.

Items of the dataset sleep, and so do forward and backward of the model, steps of the optimizer and saves. So the times
are the same on a busy machine, and what is around a call takes little of them. Two workers load a batch in half of
their time; theirs is so long that the trainer still waits. A program writes what its watch measured into
truth-RANK.json.
SPDX-License-Identifier: MIT
"""

import contextlib
import json
import os
import time

import torch
from sizes import BATCH, BATCHES, EVALUATIONS
from torch.utils.data import DataLoader, Dataset

ITEM, ITEM_OF_WORKERS, FORWARD, BACKWARD, STEP, SAVE = 0.015, 0.1, 0.03, 0.03, 0.08, 0.1  # seconds


class Watch:
    """Numbers of calls and sums of nanoseconds, by epoch and by what was measured; `compute`: in any computation."""

    def __init__(self):
        self.epoch, self.sums, self.depth = 0, {}, 0
        with contextlib.suppress(PermissionError):
            os.nice(-10)  # the training mostly sleeps, and on a busy machine, too, it goes on as soon as it wakes

    @contextlib.contextmanager
    def __call__(self, what):
        before = time.perf_counter_ns()
        self.depth += 1
        try:
            yield
        finally:
            duration_ns = time.perf_counter_ns() - before
            self.depth -= 1
            self.add(what, duration_ns)
            if self.depth == 0 and what in ("forward", "backward", "step"):
                self.add("compute", duration_ns)

    def add(self, what, duration_ns):
        total = self.sums.setdefault(what, {}).setdefault(str(self.epoch), [0, 0])
        total[0] += 1
        total[1] += duration_ns

    def around(self, function, what):
        """The function, measured."""

        def measured(*args, **kwargs):
            with self(what):
                return function(*args, **kwargs)

        return measured

    def items(self, iterator, what):
        """The items of an iterator; the call that finds no more may wait for the end of workers."""
        while True:
            before = time.perf_counter_ns()
            try:
                item = next(iterator)
            except StopIteration:
                self.add("end", time.perf_counter_ns() - before)
                return
            self.add(what, time.perf_counter_ns() - before)
            yield item

    def save(self, folder):
        with open(f"{folder}/truth-{os.environ.get('RANK', '0')}.json", "w", encoding="utf-8") as file:
            json.dump(self.sums, file)


class Items(Dataset):
    """Items that take their time."""

    def __init__(self, batches, cost):
        self.length, self.cost = batches * BATCH, cost

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        time.sleep(self.cost)
        return {"x": torch.full((8,), index % 7 / 7), "labels": torch.zeros(1)}


class Sleep(torch.autograd.Function):
    """The identity, which takes its time in both directions."""

    @staticmethod
    def forward(_, x):
        time.sleep(FORWARD)
        return x.clone()

    @staticmethod
    def backward(_, gradient):
        time.sleep(BACKWARD)
        return gradient


class Model(torch.nn.Module):
    """Returns the loss, as models of Transformers do."""

    def __init__(self, watch=None):
        super().__init__()
        self.linear = torch.nn.Linear(8, 1)
        self.watch = watch

    def __call__(self, **batch):
        with self.watch("forward") if self.watch else contextlib.nullcontext():  # within what DDP does around it
            return super().__call__(**batch)

    def forward(self, x, labels):
        return {"loss": (Sleep.apply(self.linear(x)) - labels).square().mean(), "logits": x}


class SlowSGD(torch.optim.SGD):
    """Its step takes its time, and measures itself: frameworks call it by wrappers that do more."""

    def __init__(self, parameters, watch):
        super().__init__(parameters, lr=0.01)
        self.watch = watch

    def step(self, closure=None):
        result = closure() if closure else None  # forward and backward, which are no part of the step
        with self.watch("step"):
            super().step()
            time.sleep(STEP)
        return result


def slow(function):
    """The function on a slow disk."""

    def slowed(*args, **kwargs):
        time.sleep(SAVE)
        return function(*args, **kwargs)

    return slowed


torch.serialization._save = slow(torch.serialization._save)  # what torch.save calls


def loaders(workers, ranks=1):
    """For training and for evaluation; each rank gets BATCHES and EVALUATIONS."""
    options = {"batch_size": BATCH, "num_workers": workers}
    cost = ITEM_OF_WORKERS if workers else ITEM
    return [DataLoader(Items(batches * ranks, cost), **options) for batches in (BATCHES, EVALUATIONS)]
