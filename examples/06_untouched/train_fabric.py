"""train_fabric.py [WORKERS] - a loop with Lightning's Fabric.

Nothing in it knows of tracing. docs/torch.md says how to record it.
"""

import os
import sys
import time

import torch
from lightning.fabric import Fabric
from torch import nn
from torch.utils.data import DataLoader, Dataset

EPOCHS, BATCH, ACCUMULATION = 3, 2, 2


class Slow(Dataset):
    """Each item takes 20 ms, as if it came from a slow disk."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return self.items

    def __getitem__(self, index):
        time.sleep(0.02)
        return torch.full((8,), index / self.items), torch.tensor([index % 2.0])


def main():
    workers, ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 0, int(os.environ.get("WORLD_SIZE", "1"))
    fabric = Fabric(accelerator="cpu", devices=ranks, strategy="ddp" if ranks > 1 else "auto")
    fabric.launch()
    model, loss_of = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)), nn.MSELoss()
    model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), lr=0.1))
    loaders = [DataLoader(Slow(items * ranks), batch_size=BATCH, num_workers=workers) for items in (32, 8)]
    training, evaluation = fabric.setup_dataloaders(*loaders)
    for epoch in range(EPOCHS):
        model.train()
        for number, (samples, labels) in enumerate(training, 1):
            with fabric.no_backward_sync(model, enabled=number % ACCUMULATION != 0 and ranks > 1):
                fabric.backward(loss_of(model(samples), labels) / ACCUMULATION)
            if number % ACCUMULATION == 0:
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            loss = sum(loss_of(model(samples), labels).item() for samples, labels in evaluation) / len(evaluation)
        fabric.save("weights.ckpt", {"model": model, "epoch": epoch})
        fabric.log_dict({"loss": loss})
        fabric.print(f"epoch {epoch}: loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
