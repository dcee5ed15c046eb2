"""train.py - a training whose work is sleeping, so that its truth is known: it measures itself (see truth.py).

Usage: train.py FOLDER SIZES. SIZES is JSON: milliseconds of `fetch`, `compute`, `exchange` and `checkpoint`, each a
number or a list by rank; `steps` in each of `epochs`; `every`, steps from a checkpoint or an `evaluation` to the next,
which fetches and computes for so long; `around`, time between the loop and the collectives before and after it;
`workers`, processes that load batches, which takes `load` milliseconds each.
SPDX-License-Identifier: MIT
"""

import contextlib
import json
import multiprocessing
import os
import sys
import time

from dftracer.python import ai, dftracer

RANK = int(os.environ["RANK"])
measured = []


@contextlib.contextmanager
def measure(kind, name):
    begin = time.monotonic_ns()
    yield
    measured.append((kind, name, begin, time.monotonic_ns()))


@contextlib.contextmanager
def measure_around(kind, name, event):
    """An event, measured around it and within it."""
    with measure(kind, name), event, measure("inside", name):
        yield


def sleep(milliseconds):
    time.sleep(milliseconds / 1000)


def meet():
    """Returns when every rank is here: each writes a byte to each other one."""
    own, *others = map(int, os.environ["MEETING"].split())
    for other in others:
        os.write(other, b"x")
    for _ in others:
        assert os.read(own, 1)


class Sizes:
    """What this rank does."""

    def __init__(self, text):
        values = {
            "fetch": 0,
            "exchange": 0,
            "checkpoint": 0,
            "evaluation": 0,
            "around": 0,
            "every": 4,
            "workers": 0,
            "epochs": 2,
            **json.loads(text),
        }
        for key, value in values.items():
            setattr(self, key, value[RANK] if isinstance(value, list) else value)


def load_batches(worker, sizes, output):
    """A worker, as those of a DataLoader: it loads every batch whose turn is its own."""
    for batch in range(worker, sizes.steps, sizes.workers):
        with ai.data.item(args={"worker": worker, "batch": batch, "worker_pid": os.getpid()}):
            sleep(sizes.load)
        output.send(batch)
    output.close()


def batches_of_workers(sizes):
    """Waits for batches that workers load ahead."""
    context = multiprocessing.get_context("fork")
    workers, outputs = [], []
    for number in range(sizes.workers):
        output, end = context.Pipe(duplex=False)
        workers.append(context.Process(target=load_batches, args=(number, sizes, end)))
        workers[-1].start()
        end.close()
        outputs.append(output)
    for batch in range(sizes.steps):
        number = batch % sizes.workers
        arguments = {"worker": number, "batch": batch, "worker_pid": workers[number].pid}
        with measure_around("input", "fetch", ai.dataloader.fetch(args=arguments)):
            assert outputs[number].recv() == batch
        yield batch
    for worker in workers:
        worker.join()


def own_batches(sizes):
    def load():
        for batch in range(sizes.steps):
            with measure("inside", "fetch"):
                sleep(sizes.fetch)
            yield batch

    batches = ai.dataloader.fetch.iter(load())
    for _ in range(sizes.steps):
        with measure("input", "fetch"):
            batch = next(batches)
        yield batch
    assert next(batches, None) is None


@ai.comm.all_reduce
def all_reduce(milliseconds):
    with measure("inside", "all_reduce"):
        meet()
        sleep(milliseconds)


@ai.comm.barrier
def barrier():
    meet()


def evaluate(sizes):
    """Batches of its own, for which it waits most of the time."""
    with measure_around("evaluation", "evaluate", ai.pipeline.evaluate):
        for _ in ai.dataloader.fetch.iter(sleep(sizes.evaluation / 5) for _ in range(4)):
            with ai.compute.forward:
                sleep(sizes.evaluation / 20)


@ai.pipeline.train
def train(sizes):
    for epoch in ai.pipeline.epoch.iter(range(sizes.epochs)):
        batches = batches_of_workers(sizes) if sizes.workers else own_batches(sizes)
        for step in batches:
            ai.update(epoch=epoch, step=step)
            with measure_around("compute", "forward", ai.compute.forward):
                sleep(sizes.compute / 2)
            with measure_around("compute", "backward", ai.compute.backward):
                sleep(sizes.compute / 2)
            if sizes.exchange:
                with measure("comm", "all_reduce"):
                    all_reduce(sizes.exchange)
            if sizes.checkpoint and step % sizes.every == sizes.every - 1:
                with measure_around("checkpoint", "capture", ai.checkpoint.capture):
                    sleep(sizes.checkpoint)
            if sizes.evaluation and step % sizes.every == sizes.every - 1:
                evaluate(sizes)


def main():
    folder, sizes = sys.argv[1], Sizes(sys.argv[2])
    log = dftracer.initialize_log(f"{folder}/train-{RANK}.pfw")
    meet()  # or a rank that starts late would be the imbalance of the first collective
    if sizes.around:
        barrier()
        sleep(sizes.around)
    with measure("whole", "loop"):
        train(sizes)
    if sizes.around:
        sleep(sizes.around)
        barrier()
    log.finalize()
    with open(f"{folder}/truth-{RANK}", "w", encoding="utf-8") as file:
        file.writelines(f"{kind} {name} {begin} {end}\n" for kind, name, begin, end in measured)


if __name__ == "__main__":
    main()
