"""training_costs.py - the CPU time of short trainings with tracing and without it, taking turns in one process.

    python training_costs.py plain|untouched|accelerate|lightning|transformers STEPS WIDTH PAIRS FOLDER

Lines of samples: `traced` or `untraced`, and the CPU microseconds of all threads for a step. Each sample is a training
of STEPS steps, and the pause after it, in which the thread in the background writes what the training recorded. WIDTH
is that of the model's layers. Lightning and Transformers are asked by DFTracerCallback. A training includes the call of
trace() and its undo, but not the import, nor the start and the end of the trace, nor what a callback patches.
SPDX-License-Identifier: MIT
"""

import gc
import logging
import os
import sys
import time
import warnings

import torch
from dftracer.python import ai, dftracer, frameworks
from dftracer.python.frameworks import session
from dftracer.python.torch import trace
from torch.utils.data import DataLoader, TensorDataset

KIND, (STEPS, WIDTH, PAIRS), FOLDER = sys.argv[1], map(int, sys.argv[2:5]), sys.argv[5]
BATCH, PAUSE = 64, 0.05


class Model(torch.nn.Module):
    """Returns the loss, as models of Transformers do."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH) for _ in range(3)))

    def forward(self, x):
        return {"loss": self.layers(x).square().mean()}


def collate(samples):
    return {"x": torch.stack([x for (x,) in samples])}


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=0.001)


def plain():
    model = Model()
    return loop(model, optimizer_of(model), loader(), lambda loss: loss.backward())


def accelerate():
    from accelerate import Accelerator

    accelerator, model = Accelerator(cpu=True), Model()
    return loop(*accelerator.prepare(model, optimizer_of(model), loader()), accelerator.backward)


def loop(model, optimizer, batches, backward):
    def train(is_traced):
        tracing = trace(model, optimizer, batches) if is_traced else None
        for step, batch in enumerate(batches):
            if is_traced:
                ai.update(step=step)
            optimizer.zero_grad()
            backward(model(**batch)["loss"])
            optimizer.step()
        if tracing:
            tracing.undo()

    return lambda is_traced: lambda: train(is_traced)


def untouched():
    """A plain loop without a line of tracing."""
    model = Model()
    optimizer, batches = optimizer_of(model), loader()

    def train(_):
        for batch in batches:
            optimizer.zero_grad()
            model(**batch)["loss"].backward()
            optimizer.step()

    return asked(frameworks.want, train)


def lightning():
    import lightning.pytorch as pl
    from dftracer.python.lightning import DFTracerCallback

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    quiet = dict.fromkeys(("logger", "enable_progress_bar", "enable_model_summary", "enable_checkpointing"), False)

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Model()

        def forward(self, x):
            return self.model(x)

        def training_step(self, batch, _):
            return self(**batch)["loss"]

        def configure_optimizers(self):
            return optimizer_of(self)

    def train(callbacks):
        pl.Trainer(accelerator="cpu", max_epochs=1, callbacks=callbacks, **quiet).fit(Module(), loader())

    return asked(DFTracerCallback, train)


def transformers():
    from dftracer.python.transformers import DFTracerCallback
    from transformers import Trainer, TrainingArguments

    dataset = loader().dataset
    arguments = TrainingArguments(
        f"{FOLDER}/checkpoints",
        num_train_epochs=1,
        per_device_train_batch_size=BATCH,
        save_strategy="no",
        logging_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )

    def train(callbacks):
        model = Model()
        optimizers = (optimizer_of(model), None)
        Trainer(
            model, arguments, train_dataset=dataset, data_collator=collate, optimizers=optimizers, callbacks=callbacks
        ).train()

    return asked(DFTracerCallback, train)


def loader():
    return DataLoader(TensorDataset(torch.randn(STEPS * BATCH, WIDTH)), batch_size=BATCH, collate_fn=collate)


def asked(kind, train):
    """A training that is recorded by patches, if the program asks for it by this callback."""

    def prepare(is_traced):
        callbacks = [kind()] if is_traced else []
        if not is_traced:
            session.silence()
        return lambda: train(callbacks)

    return prepare


def measure(prepare, is_traced):
    train = prepare(is_traced)
    gc.collect()
    before = time.process_time()
    train()
    time.sleep(PAUSE)
    return 1e6 * (time.process_time() - before) / STEPS


warnings.simplefilter("ignore")
torch.set_num_threads(1)
log = dftracer.initialize_log(f"{FOLDER}/train.pfw")
output = os.dup(1)
os.dup2(2, 1)  # frameworks print
prepare = {one.__name__: one for one in (plain, untouched, accelerate, lightning, transformers)}[KIND]()
for number in range(PAIRS + 1):
    order = (True, False) if number % 2 else (False, True)
    taken = {is_traced: measure(prepare, is_traced) for is_traced in order}
    if number:  # the first pair warms up
        os.write(output, b"traced %f\nuntraced %f\n" % (taken[True], taken[False]))
log.finalize()
