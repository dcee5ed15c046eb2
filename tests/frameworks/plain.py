"""plain.py - plain PyTorch loops as text, and the number of events that one of them has in each epoch.

SPDX-License-Identifier: MIT
"""

from untouched import counts, launch, traces_of

START = """
import torch
from torch import nn
from torch.utils.data import DataLoader
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
training, evaluation = (DataLoader(torch.randn(items, 4), batch_size=2) for items in (8, 4))
"""
LOOP = """
for epoch in range(2):
    for samples in training:
        model(samples).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
"""
NUMBERS = {"epoch": 1, "fetch.iter": 4, "forward": 4, "backward": 4, "step": 4, "compute.zero_grad": 4}


def record(folder, program, *arguments, **options):
    """Runs a program's text; returns the number of events by name and epoch, or None without a trace."""
    (folder / "program.py").write_text(program)
    record.done = launch(folder / "program.py", folder, *arguments, **options)
    if not (folder / "traces").exists():
        return None
    (record.trace,) = traces_of(folder / "traces")
    return counts(record.trace)


def in_each(numbers, epochs=2):
    return {name: dict.fromkeys(range(epochs), number) for name, number in numbers.items()}
