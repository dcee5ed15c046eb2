"""train_lightning.py [WORKERS] - a training by Lightning's Trainer.

Nothing in it knows of tracing. docs/torch.md says how to record it.
"""

import os
import sys
import time

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
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


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 1)

    def training_step(self, batch, _):
        loss = nn.functional.mse_loss(self.second(self.first(batch[0]).relu()), batch[1])
        self.log("loss", loss)
        return loss

    validation_step = training_step

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    workers, ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 0, int(os.environ.get("WORLD_SIZE", "1"))
    loaders = [DataLoader(Slow(items * ranks), batch_size=2, num_workers=workers) for items in (32, 8)]
    strategy = {"devices": ranks, "strategy": "ddp" if ranks > 1 else "auto", "accelerator": "cpu"}
    quiet = {"num_sanity_val_steps": 0, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = pl.Trainer(max_epochs=3, accumulate_grad_batches=2, log_every_n_steps=1, logger=CSVLogger("logs"),
                         callbacks=[ModelCheckpoint("checkpoints", save_top_k=-1)], **strategy, **quiet)
    trainer.fit(Model(), *loaders)
