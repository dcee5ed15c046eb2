"""page_jobs.py - the jobs of docs/verdict/: one for each page, made so that its truth is known.

    JOBS["input"]()     # a Job of made.py

Times are milliseconds. Each page states what its job does: change both together.
SPDX-License-Identifier: MIT
"""

import contextlib

from made import Job

JOBS = {}
RANKS = 4
KIB, MIB = 1 << 10, 1 << 20
TRAIN = ("python3", "train.py", "--epochs", "2")


def page(function):
    JOBS[function.__name__] = function
    return function


def begin(command, setup):
    """Ranks that differ in nothing, and need this long to start."""
    job = Job(RANKS, command=command)
    for rank in job.ranks:
        rank.main.region("setup", "app", setup)
    return job


@contextlib.contextmanager
def epoch_of(job, number):
    with contextlib.ExitStack() as stack:
        for rank in job.ranks:
            stack.enter_context(rank.main.within("epoch.block", "pipeline", "whole", epoch=number))
        yield


def compute(thread, ms, **numbers):
    """A third forward, two thirds backward."""
    thread.region("forward", "compute", ms / 3, "compute", **numbers)
    thread.region("backward", "compute", ms * 2 / 3, "compute", **numbers)


# ---- Trainings -------------------------------------------------------------------------------------------------------

STEPS, BATCH = 20, 16


def load_sample(worker, path):
    """20 ms. Opening takes long because the folder is on a busy parallel file system."""
    with worker.within("item", "data"):
        worker.call("open", 16, path, ret=5)
        worker.call("read", 1.5, path, ret=110 * KIB)
        worker.call("close", 0.5, path)
        worker.idle(2)  # decoding


class Loader:
    """Two workers of a rank. Each loads one batch after the other, and is at most two ahead (prefetch_factor)."""

    WORKERS, AHEAD = 2, 2

    def __init__(self, job, rank):
        self.rank = rank
        start_ms = (rank.main.now_us - rank.begin_us) / 1000
        self.workers = [job.worker(rank, start_ms) for _ in range(self.WORKERS)]
        self.fetched_us = []

    def load(self, batch, numbers):
        """Returns when it is ready."""
        worker = self.workers[batch % self.WORKERS].main
        ahead = self.WORKERS * self.AHEAD
        if batch >= ahead:
            worker.idle_until(self.fetched_us[batch - ahead])
        with worker.within("batch", "dataloader_worker", **numbers):
            for sample in range(BATCH):
                number = (batch * RANKS + self.rank.rank) * BATCH + sample
                load_sample(worker, f"/scratch/train/img_{number:06}.jpg")
        return worker.now_us

    def fetch(self, batch, **numbers):
        numbers |= {"worker": batch % self.WORKERS, "batch": batch}
        ready_us = self.load(batch, numbers)
        with self.rank.main.within("fetch.iter", "dataloader", "input", **numbers):
            self.rank.main.idle_until(ready_us)
            self.rank.main.idle(0.2)  # from the worker
        self.fetched_us.append(self.rank.main.now_us)


@page
def input():
    """A batch takes a worker 16 * 20 ms, and there are two: one every 160 ms. Compute and exchange take 92 ms."""
    job = begin(TRAIN, 1500)
    loaders = [Loader(job, rank) for rank in job.ranks]
    for epoch in range(2):
        with epoch_of(job, epoch):
            for step in range(STEPS):
                for rank, loader in zip(job.ranks, loaders):
                    loader.fetch(epoch * STEPS + step, epoch=epoch, step=step)
                    compute(rank.main, 90, epoch=epoch, step=step)
                job.meet("all_reduce", 2)
    return job


def train(job, steps, step, every=0, save=None):
    """Two epochs. step(rank, numbers) is what a rank does; save(rank, number) comes after `every` steps."""
    for epoch in range(2):
        with epoch_of(job, epoch):
            for number in range(steps):
                for rank in job.ranks:
                    step(rank, {"epoch": epoch, "step": number})
                job.meet("all_reduce", 6)
                if every and number % every == every - 1:
                    for rank in job.ranks:
                        save(rank, epoch * (steps // every) + number // every)
    return job


@page
def compute_bound():
    """Fetches of 2 ms, 180 ms of compute, 6 ms of all-reduce: 96 % compute."""

    def step(rank, numbers):
        rank.main.region("fetch.iter", "dataloader", 2, "input", **numbers)
        compute(rank.main, 180, **numbers)

    return train(begin(TRAIN, 1500), 40, step)


@page
def checkpoint():
    """Every ten steps, each rank saves its shard: 28 writes of 16 MiB, 20 ms each, then a sync of 40 ms. A checkpoint
    is 600 ms after 10 * 108 ms."""

    def step(rank, numbers):
        rank.main.region("fetch.iter", "dataloader", 2, "input", **numbers)
        compute(rank.main, 100, **numbers)

    def save(rank, number):
        path = f"/scratch/ckpt/{number:02}/rank{rank.rank}.pt"
        with rank.main.within("capture", "checkpoint", "checkpoint"):
            for block in range(28):
                rank.main.call("write", 20, path, ret=16 * MIB, offset=block * 16 * MIB)
            rank.main.call("fsync", 40, path)

    return train(begin(TRAIN, 1500), 40, step, 10, save)


# ---- Programs with MPI -----------------------------------------------------------------------------------------------

WORLD = {"comm": 0, "comm_size": RANKS}


def solve(name, steps, ms, exchange):
    """ms: of `solve`, by rank; exchange: of the all-reduce, once all are there."""
    job = begin((name, "--steps", str(steps)), 300)
    for _ in range(steps):
        for rank in job.ranks:
            rank.main.region("solve", "compute", ms[rank.rank], "compute")
        job.meet("MPI_Allreduce", exchange, "MPI", bytes=8 * MIB, **WORLD)
    return job


@page
def communication():
    """20 ms of compute, 15 ms in an all-reduce of 8 MiB that nobody is late for."""
    return solve("spectral", 200, [20] * RANKS, 15)


@page
def imbalance():
    """Rank 2 needs 60 ms where the others need 36 ms. Everybody waits for it: 3 of 4 ranks for 24 of 61 ms."""
    return solve("lattice", 200, [36, 36, 60, 36], 1)


@page
def io():
    """Of a step of 50 ms, each rank reads for 24 ms: 12 records of 4 KiB in a file of 8 GiB, anywhere in it. Records
    are 4,120 bytes apart."""
    job = begin(("particles", "snapshot.h5"), 300)
    for step in range(120):
        for rank in job.ranks:
            for number in range(12):
                record = (step * 12 + number) * 7919 * (rank.rank + 1) % 2_000_000
                rank.main.call("pread", 2, "/scratch/snapshot.h5", ret=4 * KIB, offset=2048 + record * 4120)
            rank.main.region("advance", "compute", 25, "compute")
        job.meet("MPI_Allreduce", 1, "MPI", bytes=64, **WORLD)
    return job


JOBS["compute"] = JOBS.pop("compute_bound")
