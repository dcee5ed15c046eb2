"""train_torch.py [WORKERS [CONTEXT]] - a plain PyTorch loop.

Nothing in it knows of tracing. docs/torch.md says how to record it.
"""

import os
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler

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
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    options = {"batch_size": BATCH, "num_workers": workers, "persistent_workers": "persistent" in sys.argv}
    if workers and len(sys.argv) > 2:
        options["multiprocessing_context"] = sys.argv[2]
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    model, loss_of, data = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)), nn.MSELoss(), Slow(32 * ranks)
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
        model, options["sampler"] = nn.parallel.DistributedDataParallel(model), DistributedSampler(data)
    training, evaluation = DataLoader(data, **options), DataLoader(Slow(8), **{**options, "sampler": None})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(EPOCHS):
        model.train()
        for number, (samples, labels) in enumerate(training, 1):
            (loss_of(model(samples), labels) / ACCUMULATION).backward()
            if number % ACCUMULATION == 0:
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            loss = sum(loss_of(model(samples), labels).item() for samples, labels in evaluation) / len(evaluation)
        torch.save(model.state_dict(), f"weights-{os.environ.get('RANK', '0')}.pt")
        print(f"epoch {epoch}: loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
