"""train_transformers.py [WORKERS] - a training by the Trainer of Hugging Face.

Nothing in it knows of tracing. docs/torch.md says how to record it.
"""

import os
import sys
import time

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments


class Slow(Dataset):
    """Each item takes 20 ms, as if it came from a slow disk."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return self.items

    def __getitem__(self, index):
        time.sleep(0.02)
        return {"x": torch.full((8,), index / self.items), "labels": torch.tensor([index % 2.0])}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x, labels):
        return {"loss": (self.layers(x) - labels).square().mean(), "logits": x}


if __name__ == "__main__":
    arguments = TrainingArguments(
        output_dir="checkpoints",
        num_train_epochs=3,
        per_device_train_batch_size=2,
        per_device_eval_batch_size=2,
        gradient_accumulation_steps=2,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        dataloader_num_workers=int(sys.argv[1]) if len(sys.argv) > 1 else 0,
    )
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    Trainer(Model(), arguments, train_dataset=Slow(32 * ranks), eval_dataset=Slow(8 * ranks)).train()
