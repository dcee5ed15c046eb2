"""torch.py - a plain PyTorch loop: every loader, model and optimizer of the program, and what belongs to none of them.

What trace() does for the objects that it is given, this does for all: classes are patched in place of objects. A model
is a module with a parameter to train; the outermost call of one is a `forward`.
"""

from __future__ import annotations

import functools
import gc
import sys
import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from dftracer.python.ai_init import ai
from dftracer.python.env import native
from dftracer.python.frameworks import session
from dftracer.python.frameworks.progress import progress
from dftracer.python.torch import compiling, loaders, training
from dftracer.python.torch.change import Change, put_method

if TYPE_CHECKING:
    from collections.abc import Callable

    from dftracer.python.ai_common import DFTracerAI


class _Inside(threading.local):
    depth = 0


_inside = _Inside()  # of a forward
_stepping = _Inside()  # of a step
_models: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # modules -> calls until the next look; 0: it is a model
_LOOK_AGAIN = 100  # calls: parameters of a module may be unfrozen
ZERO_GRAD = ai.compute.derive("zero_grad")


class Patches(training.Tracing):
    """Changes for all objects. Each call asks first whether frameworks are recorded, and tells that time has passed."""

    def _use(self, owner: Any, name: str, make: Callable[[Change, Any], Callable[[], None]]) -> None:
        was_missed = native._exchange_missed(False)
        try:
            super()._use(owner, name, make)
        finally:
            native._exchange_missed(was_missed)  # what is decorated here is no annotation of the program

    def _add(self, owner: Any, name: str, make: Callable[[Change, Any], Callable[[], None]]) -> None:
        try:
            self._use(owner, name, functools.partial(_gated, make))
        except Exception as error:
            session.tell_failure(f"{getattr(owner, '__name__', owner)}.{name}", error)

    def add_method(self, kind: Any, name: str, node: DFTracerAI | None, make: Any = None) -> None:
        """All calls of a method of a class. `make` gets the change, the node and the method."""
        how = functools.partial(_replace_method, node=node, make=make or training._recorded)
        if callable(getattr(kind, name, None)):
            self._add(kind, name, how)


def _gated(make: Any, change: Change, owner: Any) -> Callable[[], None]:
    """The replacement in a function that calls it."""
    undo, name = make(change, owner), change.name
    inner = vars(owner)[name]
    begins = progress.trains if name == "backward" else progress.event_begins

    @functools.wraps(inner)
    def gate(*args: Any, **kwargs: Any) -> Any:
        if sys._getframe(1).f_globals.get("__name__") in training.PICKLERS:
            return inner.__wrapped__(*args, **kwargs)
        if not session.ready():
            return inner.__wrapped__(*args, **kwargs)
        begins()
        try:
            return inner(*args, **kwargs)
        finally:
            progress.touch()

    setattr(owner, name, gate)

    def undo_both() -> None:
        if change.owner() is not None and vars(owner).get(name) is gate:
            setattr(owner, name, inner)
        undo()

    return undo_both


def _replace_method(change: Change, kind: Any, node: DFTracerAI | None, make: Any) -> Callable[[], None]:
    return put_method(change, make(change, node, getattr(kind, change.name)))


# ---- Models ----------------------------------------------------------------------------------------------------------


is_no_model: list[Callable[[Any, Any], bool]] = []  # what frameworks know of a module and its arguments


def _is_model(module: Any, args: Any) -> bool:
    if any(is_other(module, args) for is_other in is_no_model):
        return False
    left = _models.get(module, 1) - 1
    if left > 0:
        _models[module] = left
    elif left == 0:
        has = any(one.requires_grad for one in module.parameters())
        _models[module] = 0 if has else _LOOK_AGAIN
    return _models[module] == 0


def _is_elsewhere() -> bool:
    """A part of loading, or of a backward that computes a forward again."""
    import torch
    from torch.utils.data import get_worker_info

    task: Any = getattr(torch._C, "_current_graph_task_id", None)
    return get_worker_info() is not None or loaders.is_loading() or (task is not None and task() != -1)


def _replace_call(change: Change, kind: Any) -> Callable[[], None]:
    """The call of a module. It is cheap within a forward, where most calls are; compiled code is left alone."""
    from torch.compiler import is_compiling

    before = kind.__call__

    @functools.wraps(before)
    def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling() or _inside.depth or not change.users:
            return before(self, *args, **kwargs)
        return _call_outermost(before, self, args, kwargs)

    return put_method(change, traced)


def _call_outermost(before: Any, module: Any, args: Any, kwargs: Any) -> Any:
    if not _is_model(module, args) or _is_elsewhere() or not session.ready():
        return before(module, *args, **kwargs)
    with Forward(module):
        return before(module, *args, **kwargs)


class Forward:
    """The block of a forward; those within it are part of it."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __enter__(self) -> None:
        import torch

        progress.forward_begins(self.model, torch.is_grad_enabled())
        compiling.watch()
        _inside.depth += 1
        ai.compute.forward.__enter__()

    def __exit__(self, *raised: Any) -> None:
        ai.compute.forward.__exit__(*raised)
        _inside.depth -= 1
        progress.touch()


# ---- Optimizers and loaders ------------------------------------------------------------------------------------------


def _stepped(change: Change, node: DFTracerAI, before: Any) -> Any:
    """A step. One that is given a closure calls it first, for forward and backward: the event begins after it.

    Optimizers wrap optimizers: a step within a step is part of it.
    """

    def step(closure: Any, args: Any, kwargs: Any) -> Any:
        """The call itself; with the closure in its place, if there is one."""
        if not callable(closure):
            _stepping.depth = 1
            try:
                with node:
                    return before(*args, **kwargs)
            finally:
                _stepping.depth = 0
        begun: list[None] = []

        def computed() -> Any:
            result = closure()
            if not _stepping.depth:
                begun.append(None)
                _stepping.depth = 1
                node.start()
            return result

        if "closure" in kwargs:
            kwargs["closure"] = computed
        else:
            args = (args[0], computed, *args[2:])
        try:
            return before(*args, **kwargs)
        finally:
            if begun:
                node.stop()
                _stepping.depth = 0

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        if not change.users or _stepping.depth or not session.ready():
            return before(*args, **kwargs)
        progress.stepped()
        try:
            return step(kwargs.get("closure") or (args[1] if len(args) > 1 else None), args, kwargs)
        finally:
            progress.touch()

    traced.change = change  # type: ignore[attr-defined]
    return traced


def _cleared(change: Change, node: DFTracerAI, before: Any) -> Any:
    """zero_grad of an optimizer."""
    recorded = training._recorded(change, node, before)

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        progress.gradients_are_cleared()
        return recorded(*args, **kwargs)

    return traced


def _cleared_in_training(change: Change, node: DFTracerAI, before: Any) -> Any:
    """zero_grad of a model, if it is part of a training: frameworks call it once before."""
    recorded = _cleared(change, node, before)

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        return (recorded if progress.loops or progress.epoch_began else before)(*args, **kwargs)

    return traced


def _replace_start(change: Change, kind: Any, use: Callable[[Any], None]) -> Callable[[], None]:
    """The constructor of a class, or what unpickles its objects; `use` is called with each new object."""
    before = getattr(kind, change.name)

    @functools.wraps(before)
    def traced(self: Any, *args: Any, **kwargs: Any) -> None:
        before(self, *args, **kwargs)
        if change.users:
            try:
                use(self)
            except Exception as error:
                session.tell_failure(type(self).__name__, error)

    return put_method(change, traced)


def _add_optimizer(optimizer: Any) -> None:
    make = functools.partial(training._replace_method, node=ai.compute.step, make=_stepped)
    patches._use(optimizer, "step", make)


def add_existing() -> None:
    """The optimizers that were made before the program asked for a callback."""
    from torch.optim import Optimizer

    for one in gc.get_objects():
        if issubclass(type(one), Optimizer) and "param_groups" in vars(one):  # others wrap one
            _add_optimizer(one)


def _add_loader(loader: Any) -> None:
    from torch.utils.data import DataLoader

    if type(loader).__iter__ is not DataLoader.__iter__:
        loaders.add_class(type(loader), patches._use)


class _Observer(loaders.Observer):
    def is_ready(self) -> bool:
        return session.ready()

    def loop_begins(self, loader: Any) -> Any:
        import torch

        return progress.loop_begins(loader, torch.is_grad_enabled())


patches = Patches()


def _stop_observing() -> None:
    loaders.observer = None


def patch(module: Any) -> None:
    """After the import of torch, or of what saves checkpoints of it."""
    session.at_silence.append(patches.undo)
    if module.__name__ == "safetensors.torch":
        patches._add_function(module, "serialize_file", training._saved, ai.checkpoint.capture)
        return
    if module.__name__ == "torch.distributed.checkpoint":
        patches.add_sharded(module)
        return
    from torch.utils.data import DataLoader

    loaders.observer = _Observer()
    session.at_silence.append(_stop_observing)
    patches.add_process()
    patches._use(module.nn.Module, "__call__", _replace_call)
    patches.add_method(module.nn.Module, "zero_grad", ZERO_GRAD, _cleared_in_training)
    patches.add_method(module.optim.Optimizer, "zero_grad", ZERO_GRAD, _cleared)
    for name in ("__init__", "__setstate__"):  # copies have the latter alone
        patches._use(module.optim.Optimizer, name, functools.partial(_replace_start, use=_add_optimizer))
    patches._use(DataLoader, "__init__", functools.partial(_replace_start, use=_add_loader))
    loaders.add_class(DataLoader, patches._use)
