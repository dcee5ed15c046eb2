"""test_nested.py - calls within calls of the same kind count once; a step counts when it changes the model."""

import collections

from torch_harness import main, one

START = """
import io, sys, types
import torch
from dftracer.python.torch import trace
"""


def counts(trace):
    return collections.Counter(event["name"] for event in trace.user_events())


def test_forward_within_forward(tmp_path):
    """With DDP, Lightning calls the module in a call of the module. Another model inside has its own event."""
    trace = one(
        START
        + """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = torch.nn.Linear(2, 2)
    def forward(self, x, depth=2):
        if depth: return self(x, depth - 1)
        if x is None: raise KeyError
        return self.part(x)
model = Model()
with trace([model, model.part]):
    model(torch.ones(1, 2))
    try: model(None)
    except KeyError: pass
    model(torch.ones(1, 2))                                # the one that failed is over
log.finalize()
""",
        tmp_path,
    )
    assert counts(trace) == {"forward": 3 + 2}
    outer = {event["id"] for event in trace.named("forward") if event["args"]["p_idx"] == -1}
    assert len(outer) == 3 and sum(event["args"]["p_idx"] in outer for event in trace.named("forward")) == 2


def test_backward_within_backward(tmp_path):
    """Checkpointed activations are computed again, and have a backward of their own."""
    trace = one(
        START
        + """
from torch.utils.checkpoint import checkpoint
part = torch.nn.Linear(2, 2)
with trace():
    for _ in range(2):
        checkpoint(part, torch.ones(1, 2, requires_grad=True), use_reentrant=True).sum().backward()
assert part.weight.grad is not None
log.finalize()
""",
        tmp_path,
    )
    assert counts(trace) == {"backward": 2}


def test_saves_within_saves(tmp_path):
    """Those of frameworks call torch's and safetensors', as does a function of the user's own object."""
    trace = one(
        START
        + """
tensors = types.ModuleType("safetensors.torch")
tensors.serialize_file = lambda tensors, path: 7
tensors.save_file = lambda *given: tensors.serialize_file(*given)
sys.modules["safetensors.torch"] = tensors
class Framework:
    def save_checkpoint(self, fails=False):
        torch.save({}, io.BytesIO())
        self.save_state()
        if fails: raise KeyError
    def save_state(self): return tensors.save_file({}, "path")
framework, plain = Framework(), tensors.serialize_file
with trace() as tracing:
    tracing.add_checkpoint(framework)
    tracing.add_checkpoint(framework, "save_state")
    framework.save_checkpoint()                            # 1
    try: framework.save_checkpoint(fails=True)             # 2
    except KeyError: pass
    assert framework.save_state() == 7                     # 3
    tensors.save_file({}, "path")                          # 4
    torch.save({}, io.BytesIO())                           # 5
assert tensors.serialize_file is plain and not vars(framework)
framework.save_checkpoint()
log.finalize()
""",
        tmp_path,
    )
    assert counts(trace) == {"capture": 5}


def test_steps_of_an_optimizer_that_accumulates(tmp_path):
    """Accelerate's optimizer calls the one inside only when the model is to change; with a scaler it replaces it."""
    trace = one(
        START
        + """
class AcceleratedOptimizer:
    def __init__(self, optimizer, scaler=None): self.optimizer, self.scaler, self.calls = optimizer, scaler, 0
    def step(self):
        self.calls += 1
        if self.calls % 4 == 0: self.optimizer.step()
    def zero_grad(self): pass
weights = torch.zeros(2, requires_grad=True)
plain = AcceleratedOptimizer(torch.optim.SGD([weights], lr=0.1))
scaled = AcceleratedOptimizer(torch.optim.SGD([weights], lr=0.1), scaler=object())
with trace(optimizer=plain):
    for _ in range(16): plain.step()
with trace(optimizer=scaled):
    for _ in range(8): scaled.step()
log.finalize()
""",
        tmp_path,
    )
    assert counts(trace) == {"step": 4 + 8}


if __name__ == "__main__":
    main(__file__)
