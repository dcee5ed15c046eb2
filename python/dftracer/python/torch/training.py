"""training.py - a whole training in the trace with one call, and without a change to its loop.

    tracing = trace(model, optimizer, dataloader)
    ...                      # the loop as it is
    tracing.undo()

Of what is given: the model's forward, the optimizer's step and zero_grad, the loader's fetches. Of the process:
backward of any tensor, torch.save and torch.load as checkpoints, and the collectives of torch.distributed. It is also a
context manager.
"""

from __future__ import annotations

import functools
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar

from dftracer.python.ai_init import ai
from dftracer.python.env import native, setup_stream_logger

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


def _replace_step(optimizer: Any) -> Callable[[], None]:
    """No hooks: torch calls none after a step that failed. A method, because schedulers make theirs of its function;
    that one stays, and records no more when this is undone."""
    from dftracer.python.torch.hook import cuts_a_graph

    before, was_own, is_on = optimizer.step, "step" in vars(optimizer), True

    @functools.wraps(getattr(before, "__func__", before))
    def step(_: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_on or cuts_a_graph():
            return before(*args, **kwargs)
        with ai.compute.step:
            return before(*args, **kwargs)

    traced = MethodType(step, optimizer)
    optimizer.step = traced

    def undo() -> None:
        nonlocal is_on
        is_on = False
        if vars(optimizer).get("step") is traced:
            if was_own:
                optimizer.step = before
            else:
                del optimizer.step

    return undo


def _derive_loader(loader: Any) -> Callable[[], None]:
    before = type(loader)

    def items(self: Any) -> Any:
        """Of a loader that is its own iterator."""
        while True:
            try:
                item = self.__next__()
            except StopIteration:
                return
            yield item

    def iterate(self: Any) -> Any:
        with ai.dataloader.fetch.init:  # workers are started
            iterator = before.__iter__(self)
        return iter(ai.dataloader.fetch.iter(items(self) if iterator is self else iterator))

    def reduce(self: Any, _: Any) -> Any:
        return object.__new__, (before,), vars(self)  # as it was before

    names = {"__qualname__": before.__qualname__, "__module__": before.__module__, "__reduce_ex__": reduce}
    try:
        derived = type(before.__name__, (before,), {"__iter__": iterate, **names})
        loader.__class__ = derived
    except TypeError as error:
        raise TypeError("its class is fixed; loop over ai.dataloader.fetch.iter(loader) instead") from error

    def undo() -> None:
        if type(loader) is derived:
            loader.__class__ = before

    return undo


def _each(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


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
        """Each call of the model, or of those of a list, is an event `forward`, also one that fails."""
        for one in _each(model):
            self._add(one, "forward", lambda one=one: _hook_model(one))

    def add_optimizer(self, optimizer: Any) -> None:
        """Events `step` and `compute.zero_grad`."""
        for one in _each(optimizer):
            self._add(one, "step", lambda one=one: _replace_step(one))
            self._add_function(one, "zero_grad", ai.compute.derive("zero_grad"))

    def add_dataloader(self, loader: Any) -> None:
        """Loops over the loader give events `fetch.init`, `fetch.iter` and `fetch.block`."""
        for one in _each(loader):
            self._add(one, "__iter__", lambda one=one: _derive_loader(one))

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
        self._add(owner, name, lambda: _replace(owner, name, node))

    def _add(self, owner: Any, name: str, make: Callable[[], Callable[[], None]]) -> None:
        """What cannot be recorded is told: without tracing the program would go on."""
        try:
            self._undo.append(Change.use(owner, name, make))
        except (AttributeError, TypeError) as error:
            what = f"{name} of a {type(owner).__name__}"
            setup_stream_logger().error("dftracer.python.torch.trace: %s is not recorded: %s", what, error)


def trace(model: Any = None, optimizer: Any = None, dataloader: Any = None) -> Tracing:
    """Records a training from now on; each may be one object or a list of them. Does nothing when tracing is off."""
    tracing = Tracing()
    if not native._enabled:
        return tracing
    for given, add in (
        (model, tracing.add_model),
        (optimizer, tracing.add_optimizer),
        (dataloader, tracing.add_dataloader),
    ):
        if given is not None:
            add(given)
    tracing.add_process()
    return tracing
