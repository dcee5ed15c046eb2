"""train_lightning.py FOLDER WORKERS - a training by Lightning, traced by DFTracerCallback."""

import os
import sys
import time

import lightning.pytorch as pl
import sizes
import truth
from dftracer.python import dftracer
from dftracer.python.lightning import DFTracerCallback
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.profilers import Profiler
from torch.utils.data.dataloader import _BaseDataLoaderIter

folder, workers = sys.argv[1], int(sys.argv[2])
ranks = int(os.environ.get("WORLD_SIZE", "1"))
watch = truth.Watch()


class Watching(Profiler):
    """Lightning reports here when it begins and ends to save a checkpoint."""

    def __init__(self):
        super().__init__()
        self.begun = {}

    def start(self, action_name):
        self.begun[action_name] = time.perf_counter_ns()

    def stop(self, action_name):
        if action_name == "save_checkpoint":
            watch.add("checkpoint", time.perf_counter_ns() - self.begun[action_name])


class Module(pl.LightningModule):
    """Measures forward and backward."""

    def __init__(self):
        super().__init__()
        self.model = truth.Model()

    def forward(self, **batch):
        return self.model(**batch)

    def training_step(self, batch, _):
        with watch("forward"):
            output = self(**batch)
        return output["loss"]

    def validation_step(self, batch, _):
        with watch("forward"):
            self(**batch)

    def backward(self, loss):
        with watch("backward"):
            loss.backward()

    def on_train_epoch_start(self):
        watch.epoch = self.current_epoch

    def configure_optimizers(self):
        return truth.SlowSGD(self.parameters(), watch)


_BaseDataLoaderIter.__next__ = watch.around(_BaseDataLoaderIter.__next__, "fetch")
log = dftracer.initialize_log(f"{folder}/out/train.pfw")
trainer = pl.Trainer(
    accelerator="cpu",
    devices=ranks,
    strategy="ddp" if ranks > 1 else "auto",
    max_epochs=sizes.EPOCHS,
    accumulate_grad_batches=sizes.ACCUMULATION,
    num_sanity_val_steps=0,
    profiler=Watching(),
    callbacks=[DFTracerCallback(), ModelCheckpoint(f"{folder}/checkpoints", save_top_k=-1)],
    logger=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
training, evaluation = truth.loaders(workers, ranks)
trainer.fit(Module(), training, evaluation)
log.finalize()
watch.save(folder)
