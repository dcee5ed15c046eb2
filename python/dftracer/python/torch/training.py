"""training.py - a whole training in the trace with one call, and without a change to its loop.

    tracing = trace(model, optimizer, dataloader)
    ...                      # the loop as it is
    tracing.undo()

Of what is given: the model's forward, the optimizer's step and zero_grad, the loader's fetches. Of the process:
backward of any tensor, torch.save and torch.load as checkpoints, and the collectives of torch.distributed. It is also a
context manager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from dftracer.python.ai_init import ai
from dftracer.python.common import DFTRACER_ENABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from dftracer.python.ai_common import DFTracerAI

# function of torch.distributed -> child of ai.comm
COLLECTIVES = {
    "send": "send",
    "recv": "receive",
    "barrier": "barrier",
    "broadcast": "bcast",
    "broadcast_object_list": "bcast",
    "reduce": "reduce",
    "all_reduce": "all_reduce",
    "gather": "gather",
    "gather_object": "gather",
    "all_gather": "all_gather",
    "all_gather_into_tensor": "all_gather",
    "all_gather_object": "all_gather",
    "scatter": "scatter",
    "scatter_object_list": "scatter",
    "reduce_scatter": "reduce_scatter",
    "reduce_scatter_tensor": "reduce_scatter",
    "all_to_all": "all_to_all",
    "all_to_all_single": "all_to_all",
}


class Patch:
    """A function of torch that records while anybody wants it to; the first makes it so, the last undoes it."""

    made: ClassVar[dict[tuple[int, str], Patch]] = {}

    def __init__(self, owner: Any, name: str, node: DFTracerAI) -> None:
        self.owner, self.name = owner, name
        self.users = 0
        self.before = getattr(owner, name)
        self.traced = node(self.before)
        setattr(owner, name, self.traced)

    @classmethod
    def use(cls, owner: Any, name: str, node: DFTracerAI) -> Callable[[], None]:
        """Returns what undoes this use."""
        patch = cls.made.get((id(owner), name)) or cls(owner, name, node)
        cls.made[id(owner), name] = patch
        patch.users += 1
        return patch.leave

    def leave(self) -> None:
        """One user less. What somebody else has put in its place since stays there."""
        self.users -= 1
        if self.users == 0:
            del Patch.made[id(self.owner), self.name]
            if getattr(self.owner, self.name) is self.traced:
                setattr(self.owner, self.name, self.before)


class Tracing:
    """What trace() has done, and how it is undone."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def undo(self) -> None:
        """Everything is as it was before. Safe to call twice."""
        while self._undo:
            self._undo.pop()()

    def __enter__(self) -> Tracing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.undo()

    def add_model(self, model: Any) -> None:
        """Each call of the model is an event `forward`, also one that fails."""
        self._undo += [
            model.register_forward_pre_hook(_forward_begins).remove,
            model.register_forward_hook(_forward_ends, always_call=True).remove,
        ]

    def add_optimizer(self, optimizer: Any) -> None:
        """Events `step` and `compute.zero_grad`."""
        self._undo += [
            optimizer.register_step_pre_hook(_step_begins).remove,
            optimizer.register_step_post_hook(_step_ends).remove,
        ]
        optimizer.zero_grad = ai.compute.derive("zero_grad")(optimizer.zero_grad)
        self._undo.append(lambda: optimizer.__dict__.pop("zero_grad", None))

    def add_dataloader(self, loader: Any) -> None:
        """Loops over the loader give events `fetch.iter` and `fetch.block`."""
        before = type(loader)

        def iterate(self: Any) -> Any:
            return iter(ai.dataloader.fetch.iter(before.__iter__(self)))

        names = {"__qualname__": before.__qualname__, "__module__": before.__module__}
        loader.__class__ = type(before.__name__, (before,), {"__iter__": iterate, **names})
        self._undo.append(lambda: setattr(loader, "__class__", before))

    def add_process(self) -> None:
        """What belongs to no object of the program: backward, checkpoints, collectives."""
        import torch
        import torch.distributed as distributed

        self._undo += [
            Patch.use(torch.Tensor, "backward", ai.compute.backward),
            Patch.use(torch, "save", ai.checkpoint.capture),
            Patch.use(torch, "load", ai.checkpoint.restart),
        ]
        if distributed.is_available():
            for name, child in COLLECTIVES.items():
                if hasattr(distributed, name):
                    self._undo.append(Patch.use(distributed, name, getattr(ai.comm, child)))


def _forward_begins(module: Any, inputs: Any) -> None:
    ai.compute.forward.start()


def _forward_ends(module: Any, inputs: Any, output: Any) -> None:
    ai.compute.forward.stop()


def _step_begins(optimizer: Any, args: Any, kwargs: Any) -> None:
    ai.compute.step.start()


def _step_ends(optimizer: Any, args: Any, kwargs: Any) -> None:
    ai.compute.step.stop()


def trace(model: Any = None, optimizer: Any = None, dataloader: Any = None) -> Tracing:
    """Records a training from now on; each may be one object or a list of them. Does nothing when tracing is off."""
    tracing = Tracing()
    if not DFTRACER_ENABLE:
        return tracing
    adders = ((model, tracing.add_model), (optimizer, tracing.add_optimizer), (dataloader, tracing.add_dataloader))
    for given, add in adders:
        for one in given if isinstance(given, (list, tuple)) else [given]:
            if one is not None:
                add(one)
    tracing.add_process()
    return tracing
