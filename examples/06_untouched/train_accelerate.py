"""train_accelerate.py [WORKERS] - a loop with Accelerate.

Nothing in it knows of tracing. docs/torch.md says how to record it.
"""

import sys
import time

import torch
from accelerate import Accelerator
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
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=ACCUMULATION)
    workers, ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 0, accelerator.num_processes
    model, loss_of = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)), nn.MSELoss()
    loaders = [DataLoader(Slow(items * ranks), batch_size=BATCH, num_workers=workers) for items in (32, 8)]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, training, evaluation = accelerator.prepare(model, optimizer, *loaders)
    for epoch in range(EPOCHS):
        model.train()
        for samples, labels in training:
            with accelerator.accumulate(model):
                accelerator.backward(loss_of(model(samples), labels))
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            loss = sum(loss_of(model(samples), labels).item() for samples, labels in evaluation) / len(evaluation)
        accelerator.save_state("checkpoint")
        accelerator.log({"loss": loss}, step=epoch)
        accelerator.print(f"epoch {epoch}: loss {loss:.4f}", flush=True)
    accelerator.end_training()


if __name__ == "__main__":
    main()
