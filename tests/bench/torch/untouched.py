"""untouched.py EPOCHS - a small CNN in a plain loop, which knows nothing of tracing. SPDX-License-Identifier: MIT"""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
data = TensorDataset(torch.randn(1024, 1, 32, 32), torch.randint(0, 2, (1024,)))
training, evaluation = (DataLoader(data, batch_size=size) for size in (64, 256))
model = nn.Sequential(nn.Conv2d(1, 32, 5, stride=2), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.Flatten(),
                      nn.Linear(64 * 12 * 12, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(int(sys.argv[1])):
    model.train()
    for images, labels in training:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for images, _ in evaluation:
            model(images)
