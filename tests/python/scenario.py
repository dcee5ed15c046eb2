"""scenario.py - a small training run, annotated: 3 epochs over 2 files. Arguments: FOLDER CASE.

Its number of lines is known for each case; test_line_counts.py has the table. SPDX-License-Identifier: MIT
"""

import os
import sys

from dftracer.python import ai, dftracer

folder, case = sys.argv[1:]
EPOCHS, FILES = 3, 2


class Reader:
    @ai.data.item
    def read(self, name):
        with open(name, "rb") as file:
            return file.read()


@ai.dataloader.fetch
def batches(reader):
    for number in range(FILES):
        yield reader.read(f"{folder}/{number}.bin")


@ai.data.preprocess.derive(name="collate")
def collate(batch):
    return batch


@ai.device.transfer
def transfer(batch):
    return batch


@ai.compute.forward
def forward(batch):
    return len(batch)


@ai.compute.backward
def backward():
    with ai.comm.all_reduce(enable=False):
        pass


@ai.compute
def compute(batch):
    loss = forward(batch)
    backward()
    return loss


class Checkpoint:
    @ai.checkpoint.init
    def __init__(self):
        self.state = None

    @ai.checkpoint.capture
    def capture(self, state):
        self.state = state

    @ai.checkpoint.restart
    def restart(self, state):
        return state


def epoch_steps(epoch, reader):
    for step, batch in ai.dataloader.fetch.iter(enumerate(batches(reader))):
        ai.compute.step.start()
        compute(transfer(collate(batch)))
        ai.compute.step.stop()
        ai.update(step=step, epoch=epoch)


@ai.pipeline.train
def train():
    reader = Reader()
    checkpoint = Checkpoint()
    checkpoint.restart({})
    if case == "metadata":
        for epoch in range(EPOCHS):
            ai.pipeline.epoch.start(metadata=True)
            epoch_steps(epoch, reader)
            ai.pipeline.epoch.stop(metadata=True)
    else:
        for epoch in ai.pipeline.epoch.iter(range(EPOCHS)):
            epoch_steps(epoch, reader)
    checkpoint.capture({})


for number in range(FILES):
    with open(f"{folder}/{number}.bin", "wb") as file:
        file.write(os.urandom(1000))
if case == "all":
    ai.disable()
elif case not in ("normal", "metadata", "off"):
    getattr(ai, case).disable()
log = dftracer.initialize_log(logfile=f"{folder}/run.pfw", data_dir=folder, process_id=-1)
train()
log.finalize()
print(sum(1 for name in os.listdir(folder) if ".pfw" in name))
