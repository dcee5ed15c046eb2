"""train_deepspeed.py - a training by DeepSpeed on one CPU, which knows nothing of tracing.

SPDX-License-Identifier: MIT
"""

import deepspeed
import torch
from sizes import ACCUMULATION, BATCH, BATCHES, EPOCHS
from torch import nn

ITEMS = BATCH * BATCHES
CONFIG = {
    "train_micro_batch_size_per_gpu": BATCH,
    "gradient_accumulation_steps": ACCUMULATION,
    "optimizer": {"type": "SGD", "params": {"lr": 0.1}},
    "zero_optimization": {"stage": 1},
    "zero_allow_untested_optimizer": True,
}

if __name__ == "__main__":
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # it would compile that for a minute
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    data = [(torch.full((8,), index / ITEMS), torch.tensor([index % 2.0])) for index in range(ITEMS)]
    given = {"model": model, "model_parameters": model.parameters(), "training_data": data, "config": CONFIG}
    engine, _, loader, _ = deepspeed.initialize(**given)
    for _ in range(EPOCHS):
        for samples, labels in loader:
            engine.backward(nn.functional.mse_loss(engine(samples), labels))
            engine.step()
        engine.save_checkpoint("checkpoints")
    engine.load_checkpoint("checkpoints")
    assert engine.global_steps == EPOCHS * BATCHES // ACCUMULATION
