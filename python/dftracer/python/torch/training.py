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
from dftracer.python.env import native

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


class Change:
    """Something of torch or of the program that records while anybody wants it to; the last user undoes it."""

    made: ClassVar[dict[tuple[int, str], Change]] = {}

    def __init__(self, owner: Any, name: str, undo: Callable[[], None]) -> None:
        self.owner, self.name, self.undo = owner, name, undo  # the owner lives as long: its id is taken
        self.users = 0

    @classmethod
    def use(cls, owner: Any, name: str, make: Callable[[], Callable[[], None]]) -> Callable[[], None]:
        """Returns what ends this use. `make` changes something and returns what undoes that."""
        change = cls.made.get((id(owner), name))
        if change is None:
            change = cls.made[id(owner), name] = cls(owner, name, make())
        change.users += 1
        return change.leave

    def leave(self) -> None:
        """One user less."""
        self.users -= 1
        if self.users == 0:
            del Change.made[id(self.owner), self.name]
            self.undo()


def _replace(owner: Any, name: str, node: DFTracerAI) -> Callable[[], None]:
    """Records a function of a module or an object. What somebody else has put in its place since stays there."""
    before, was_own = getattr(owner, name), name in vars(owner)
    traced = node(before)
    setattr(owner, name, traced)

    def undo() -> None:
        if vars(owner).get(name) is traced:
            if was_own:
                setattr(owner, name, before)
            else:
                delattr(owner, name)

    return undo


def _hook_model(model: Any) -> Callable[[], None]:
    from dftracer.python.torch.hook import forward_begins, forward_ends

    first = model.register_forward_pre_hook(forward_begins)
    last = model.register_forward_hook(forward_ends, always_call=True)

    def undo() -> None:
        first.remove()
        last.remove()

    return undo


def _hook_optimizer(optimizer: Any) -> Callable[[], None]:
    """torch calls no hook after a step that failed: its closure tells, or else the next step."""
    is_open = False

    def begin(_: Any, args: Any, kwargs: Any) -> Any:
        nonlocal is_open
        end()
        is_open = True
        ai.compute.step.start()
        own, *rest = args
        return (own, *map(guarded, rest)), {key: guarded(value) for key, value in kwargs.items()}

    def guarded(closure: Any) -> Any:
        def call() -> Any:
            try:
                return closure()
            except BaseException:
                end()
                raise

        return call if callable(closure) else closure

    def end(*_: Any) -> None:
        nonlocal is_open
        if is_open:
            is_open = False
            ai.compute.step.stop()

    first = optimizer.register_step_pre_hook(begin)
    last = optimizer.register_step_post_hook(end)

    def undo() -> None:
        first.remove()
        last.remove()
        end()

    return undo


def _derive_loader(loader: Any) -> Callable[[], None]:
    before = type(loader)

    def iterate(self: Any) -> Any:
        return iter(ai.dataloader.fetch.iter(before.__iter__(self)))

    def reduce(self: Any, _: Any) -> Any:
        return object.__new__, (before,), vars(self)  # as it was before

    names = {"__qualname__": before.__qualname__, "__module__": before.__module__, "__reduce_ex__": reduce}
    derived = type(before.__name__, (before,), {"__iter__": iterate, **names})
    loader.__class__ = derived

    def undo() -> None:
        if type(loader) is derived:
            loader.__class__ = before

    return undo


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
        self._undo.append(Change.use(model, "forward", lambda: _hook_model(model)))

    def add_optimizer(self, optimizer: Any) -> None:
        """Events `step` and `compute.zero_grad`."""
        self._undo.append(Change.use(optimizer, "step", lambda: _hook_optimizer(optimizer)))
        self._add_function(optimizer, "zero_grad", ai.compute.derive("zero_grad"))

    def add_dataloader(self, loader: Any) -> None:
        """Loops over the loader give events `fetch.iter` and `fetch.block`."""
        self._undo.append(Change.use(loader, "__iter__", lambda: _derive_loader(loader)))

    def add_process(self) -> None:
        """What belongs to no object of the program: backward, checkpoints, collectives."""
        import torch
        import torch.distributed as distributed

        self._add_function(torch.autograd, "backward", ai.compute.backward)  # that of a tensor calls it
        self._add_function(torch, "save", ai.checkpoint.capture)
        self._add_function(torch, "load", ai.checkpoint.restart)
        if distributed.is_available():
            for name, child in COLLECTIVES.items():
                if hasattr(distributed, name):
                    self._add_function(distributed, name, getattr(ai.comm, child))

    def _add_function(self, owner: Any, name: str, node: DFTracerAI) -> None:
        self._undo.append(Change.use(owner, name, lambda: _replace(owner, name, node)))


def trace(model: Any = None, optimizer: Any = None, dataloader: Any = None) -> Tracing:
    """Records a training from now on; each may be one object or a list of them. Does nothing when tracing is off."""
    tracing = Tracing()
    if not native._enabled:
        return tracing
    adders = ((model, tracing.add_model), (optimizer, tracing.add_optimizer), (dataloader, tracing.add_dataloader))
    for given, add in adders:
        for one in given if isinstance(given, (list, tuple)) else [given]:
            if one is not None:
                add(one)
    tracing.add_process()
    return tracing
