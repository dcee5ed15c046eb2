"""training.py - records a whole training with one call and an unchanged loop.

    tracing = trace(model, optimizer, dataloader)
    ...                      # the loop as it is
    tracing.undo()

It records forward of the model, step and zero_grad of the optimizer, and the fetches of the loader. For the whole
process it records backward of any tensor, torch.save and torch.load as checkpoints, and the collectives of
torch.distributed. The result is also a context manager.
"""

from __future__ import annotations

import functools
import sys
import threading
from typing import TYPE_CHECKING, Any

from dftracer.python.ai_init import ai
from dftracer.python.env import native, setup_stream_logger
from dftracer.python.torch import communication, compiling, loaders
from dftracer.python.torch.change import Change, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType, TracebackType

    from dftracer.python.ai_common import DFTracerAI


class _Depth(threading.local):
    depth = 0


_saving = _Depth()
# Modules of torch that pickle what they are given by torch.save: that is no checkpoint, or a part of one.
PICKLERS = (
    "torch.storage",
    "torch.distributed.checkpoint.filesystem",
    "torch.distributed.checkpoint.default_planner",
)


def _recorded(change: Change, node: DFTracerAI, before: Callable[..., Any]) -> Callable[..., Any]:
    """The function with events. Compiled code gets none: an event would split its graph or make compiling fail."""
    from torch.compiler import is_compiling

    recorded = node(before)

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        return before(*args, **kwargs) if not change.users or is_compiling() else recorded(*args, **kwargs)

    traced.change = change  # type: ignore[attr-defined]
    return traced


def _computed(change: Change, node: DFTracerAI, before: Callable[..., Any]) -> Callable[..., Any]:
    """The same for forward and backward. These may compile, and a backward may communicate: both are apart from it.

    A call within a call of the same function is part of that. With DDP, Lightning makes the whole step a call of the
    module, which calls the module.
    """
    from torch.compiler import is_compiling

    is_backward = node is ai.compute.backward
    within = _Depth()

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        if not change.users or is_compiling() or within.depth:
            return before(*args, **kwargs)
        compiling.watch()
        within.depth = 1
        try:
            with node:
                if not (is_backward and communication.has_reducers()):
                    return before(*args, **kwargs)
                began = communication.clocks()
                result = before(*args, **kwargs)
                communication.record_reducers(began)
                return result
        finally:
            within.depth = 0

    traced.change = change  # type: ignore[attr-defined]
    return traced


def _saved(change: Change, node: DFTracerAI, before: Callable[..., Any]) -> Callable[..., Any]:
    """The same for what saves or loads a checkpoint: those of frameworks call torch's, and the outermost one counts."""
    recorded = _recorded(change, node, before)

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        _saving.depth += 1
        try:
            return (recorded if _saving.depth == 1 else before)(*args, **kwargs)
        finally:
            _saving.depth -= 1

    return traced


def _stored(change: Change, nodes: tuple[DFTracerAI, DFTracerAI], before: Callable[..., Any]) -> Callable[..., Any]:
    """torch.save or torch.load: a checkpoint, or in a worker or a fetch a part of loading."""
    from torch.utils.data import get_worker_info

    checkpoint, data = _saved(change, nodes[0], before), _recorded(change, nodes[1], before)

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        if sys._getframe(1).f_globals.get("__name__") in PICKLERS:
            return before(*args, **kwargs)
        is_data = get_worker_info() is not None or loaders.is_loading()
        return (data if is_data else checkpoint)(*args, **kwargs)

    return traced


def _replace_function(
    change: Change, module: ModuleType, make: Callable[[Change, Any, Any], Callable[..., Any]], nodes: Any
) -> Callable[[], None]:
    traced = make(change, nodes, getattr(module, change.name))
    traced.__module__, traced.__qualname__ = module.__name__, change.name  # its name for pickle
    return put(change, change.name, traced)


def _replace_method(
    change: Change, owner: Any, node: DFTracerAI, make: Callable[..., Callable[..., Any]] = _recorded
) -> Callable[[], None]:
    """A method of an optimizer. Hooks would not do, because torch calls none after a failed step. A scheduler wraps the
    function behind this one. That wrapper stays after the undo and no longer records."""
    own, find = vars(owner).get(change.name), change.owner
    recorded = make(change, node, own or getattr(type(owner), change.name))

    @functools.wraps(recorded)
    def traced(*args: Any, **kwargs: Any) -> Any:
        return recorded(*args, **kwargs) if own else recorded(find(), *args, **kwargs)

    @functools.wraps(recorded)
    def function(_: Any, *args: Any, **kwargs: Any) -> Any:
        return traced(*args, **kwargs)

    traced.__func__ = function  # type: ignore[attr-defined]
    return put(change, change.name, traced)


def _replace_call(change: Change, model: Any) -> Callable[[], None]:
    """The call of a model: in the attribute that compile() sets, which torch leaves out of copies and saved models."""
    from torch.compiler import is_compiling

    if not hasattr(model, "_call_impl"):
        raise TypeError("it is not a torch.nn.Module")
    own, find, kind = model._compiled_call_impl, change.owner, type(model)
    recorded = _computed(change, ai.compute.forward, own or kind._call_impl)

    @functools.wraps(recorded)
    def traced(*args: Any, **kwargs: Any) -> Any:
        if own:
            return recorded(*args, **kwargs)
        # The called object may be a replica made by DataParallel, which copies all attributes.
        caller = None if is_compiling() else sys._getframe(1).f_locals.get("self")
        return recorded(caller if isinstance(caller, kind) else find(), *args, **kwargs)

    return put(change, "_compiled_call_impl", traced)


def _each(given: Any) -> list[Any]:
    """One object, or those in lists and dicts, as frameworks hold several loaders. None is no object."""
    if type(given) is dict:
        given = list(given.values())
    if type(given) in (list, tuple):
        return [one for part in given for one in _each(part)]
    return [] if given is None else [given]


def _inner(optimizer: Any) -> Any:
    """The optimizer itself: Accelerate's one calls its step only when no more gradients are to be accumulated."""
    inner = getattr(optimizer, "optimizer", None)
    if type(optimizer).__name__ != "AcceleratedOptimizer" or not hasattr(inner, "step"):
        return optimizer
    return inner if getattr(optimizer, "scaler", None) is None else optimizer  # with a scaler it replaces the step


class Tracing:
    """The changes that trace() made, and how to undo them."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def undo(self) -> None:
        """Undoes all changes. Safe to call twice."""
        while self._undo:
            self._undo.pop()()

    def __enter__(self) -> Tracing:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.undo()

    def add_model(self, model: Any) -> None:
        """Records each call of the model, or of the models in a list, as `forward`, even if it fails."""
        for one in _each(model):
            self._add(one, "forward", _replace_call)

    def add_optimizer(self, optimizer: Any) -> None:
        """Records `step` and `compute.zero_grad`."""
        for one in map(_inner, _each(optimizer)):
            for name, node in (("step", ai.compute.step), ("zero_grad", ai.compute.derive("zero_grad"))):
                self._add(one, name, functools.partial(_replace_method, node=node))

    def add_dataloader(self, loader: Any) -> None:
        """Records `fetch.init`, `fetch.iter`, `fetch.block` and `fetch.end` of loops over the loader."""
        failed: list[Any] = []
        for one in _each(loader):
            begun = len(self._undo)
            try:
                self._undo.append(loaders.add(one, self._use))
            except Exception as error:
                while len(self._undo) > begun:
                    self._undo.pop()()
                failed.append(one)
                why = error
        if failed:
            self._tell("fetch", failed, why, "; give a loader, or loop over ai.dataloader.fetch.iter(...)")

    def add_checkpoint(self, owner: Any, name: str = "save_checkpoint") -> None:
        """Records calls of this method as `capture`, with everything that it does."""
        self._add(owner, name, functools.partial(_replace_method, node=ai.checkpoint.capture, make=_saved))

    def add_process(self) -> None:
        """Records what belongs to no single object: backward, checkpoints, collectives."""
        import torch

        self._add_function(torch.autograd, "backward", _computed, ai.compute.backward)  # backward of a tensor calls it
        self._add_function(torch, "save", _stored, (ai.checkpoint.capture, ai.data.io.write))
        self._add_function(torch, "load", _stored, (ai.checkpoint.restart, ai.data.io.read))
        tensors = sys.modules.get("safetensors.torch")
        if hasattr(tensors, "serialize_file"):  # what its function save_file calls, which others import by name
            self._add_function(tensors, "serialize_file", _saved, ai.checkpoint.capture)
        self.add_sharded(sys.modules.get("torch.distributed.checkpoint"))
        self._undo.append(communication.add(self._add))
        compiling.use(1)
        self._undo.append(functools.partial(compiling.use, -1))

    def add_sharded(self, package: Any) -> None:
        """Records torch.distributed.checkpoint, if it is there: its files are one checkpoint."""
        capture, restart = ai.checkpoint.capture, ai.checkpoint.restart
        for name, node in (("save", capture), ("async_save", capture), ("load", restart)):
            if hasattr(package, name):
                self._add_function(package, name, _saved, node)

    def _add_function(self, owner: Any, name: str, make: Any, nodes: Any) -> None:
        self._add(owner, name, functools.partial(_replace_function, make=make, nodes=nodes))

    def _use(self, owner: Any, name: str, make: Callable[[Change, Any], Callable[[], None]]) -> None:
        if not native._enabled:
            return
        self._undo.append(Change.use(owner, name, make))

    def _add(self, owner: Any, name: str, make: Callable[[Change, Any], Callable[[], None]]) -> None:
        try:
            self._use(owner, name, make)
        except Exception as error:
            self._tell(name, [owner], error)

    def _tell(self, what: str, owners: list[Any], error: Exception, advice: str = "") -> None:
        """Something cannot be recorded: the program goes on as without tracing, and the trace says what is missing."""
        for _ in owners:
            native.log_metadata_event("not_recorded", what)
        given = ", ".join(f"{' '.join(repr(one).split()):.60} ({type(one).__name__})" for one in owners[:3])
        more = ", ..." if len(owners) > 3 else ""
        words = f"{what} of {given}{more} is not recorded: {error}{advice}"
        setup_stream_logger().error("dftracer.python.torch.trace: %s", words)


def trace(model: Any = None, optimizer: Any = None, dataloader: Any = None) -> Tracing:
    """Records a training from now on. Each argument is one object or a list. Does nothing while tracing is off."""
    tracing = Tracing()
    if not native._enabled:
        return tracing
    frameworks = sys.modules.get("dftracer.python.frameworks.session")
    if frameworks is not None and frameworks.annotated() and loaders.observer is not None:
        tracing.add_dataloader(dataloader)  # which may be of any class; the rest is recorded already
        return tracing
    for given, add in (
        (model, tracing.add_model),
        (optimizer, tracing.add_optimizer),
        (dataloader, tracing.add_dataloader),
    ):
        add(given)
    tracing.add_process()
    return tracing
