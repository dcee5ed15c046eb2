"""training.py - records a whole training with one call and an unchanged loop.

    tracing = trace(model, optimizer, dataloader)
    ...                      # the loop as it is
    tracing.undo()

It records forward of the model, step and zero_grad of the optimizer, and the fetches of the loader. For the whole
process it records backward of any tensor, torch.save and torch.load as checkpoints, and the collectives of
torch.distributed. The result is also a context manager.
"""

from __future__ import annotations

import copyreg
import functools
import sys
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary, ref

from dftracer.python.ai_init import ai
from dftracer.python.env import native, setup_stream_logger

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType, TracebackType

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
    """A replaced function or attribute of torch or of the program; it records until its last user undoes it.

    The recording function holds the change, but the change holds no reference to the owner. So the owner is freed as
    without tracing, even if nobody undoes the change, and does not wait for the garbage collector, which would keep the
    memory of a device in use.
    """

    made: ClassVar[WeakValueDictionary[tuple[int, str], Change]] = WeakValueDictionary()
    undo: Callable[[], None]

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = ref(owner), name
        self.key = (id(owner), name)
        self.users = 0

    @classmethod
    def use(cls, owner: Any, name: str, make: Callable[[Change, Any], Callable[[], None]]) -> Callable[[], None]:
        """Returns a function that ends this use. `make` changes the owner and returns a function that undoes it."""
        change = cls.made.get((id(owner), name))
        if change is None or change.owner() is not owner:
            change = cls(owner, name)
            change.undo = make(change, owner)
            cls.made[change.key] = change
        change.users += 1
        return change.leave

    def leave(self) -> None:
        """Ends one use."""
        self.users -= 1
        if self.users == 0:
            if Change.made.get(self.key) is self:
                del Change.made[self.key]
            self.undo()


def _put(change: Change, name: str, traced: Any) -> Callable[[], None]:
    """Sets an attribute of the owner. If somebody else replaces it later, undo leaves that in place."""
    own = vars(change.owner())  # not setattr, which a compiled model passes on to its inner model
    before = {name: own[name]} if name in own else {}
    own[name] = traced

    def undo() -> None:
        owner = change.owner()
        if owner is not None and vars(owner).get(name) is traced:
            del vars(owner)[name]
            vars(owner).update(before)

    return undo


def _recorded(change: Change, node: DFTracerAI, before: Callable[..., Any]) -> Callable[..., Any]:
    """The function with events. Compiled code gets none: an event would split its graph or make compiling fail."""
    from torch.compiler import is_compiling

    recorded = node(before)

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        return before(*args, **kwargs) if not change.users or is_compiling() else recorded(*args, **kwargs)

    traced.change = change  # type: ignore[attr-defined]
    return traced


def _replace_function(change: Change, module: ModuleType, node: DFTracerAI) -> Callable[[], None]:
    traced = _recorded(change, node, getattr(module, change.name))
    traced.__module__, traced.__qualname__ = module.__name__, change.name  # its name for pickle
    return _put(change, change.name, traced)


def _replace_method(change: Change, owner: Any, node: DFTracerAI) -> Callable[[], None]:
    """A method of an optimizer. Hooks would not do, because torch calls none after a failed step. A scheduler wraps the
    function behind this one. That wrapper stays after the undo and no longer records."""
    own, find = vars(owner).get(change.name), change.owner
    recorded = _recorded(change, node, own or getattr(type(owner), change.name))

    @functools.wraps(recorded)
    def traced(*args: Any, **kwargs: Any) -> Any:
        return recorded(*args, **kwargs) if own else recorded(find(), *args, **kwargs)

    @functools.wraps(recorded)
    def function(_: Any, *args: Any, **kwargs: Any) -> Any:
        return traced(*args, **kwargs)

    traced.__func__ = function  # type: ignore[attr-defined]
    return _put(change, change.name, traced)


def _replace_call(change: Change, model: Any) -> Callable[[], None]:
    """The call of a model: in the attribute that compile() sets, which torch leaves out of copies and saved models."""
    from torch.compiler import is_compiling

    if not hasattr(model, "_call_impl"):
        raise TypeError("it is not a torch.nn.Module")
    own, find, kind = model._compiled_call_impl, change.owner, type(model)
    recorded = _recorded(change, ai.compute.forward, own or kind._call_impl)

    @functools.wraps(recorded)
    def traced(*args: Any, **kwargs: Any) -> Any:
        if own:
            return recorded(*args, **kwargs)
        # The called object may be a replica made by DataParallel, which copies all attributes.
        caller = None if is_compiling() else sys._getframe(1).f_locals.get("self")
        return recorded(caller if isinstance(caller, kind) else find(), *args, **kwargs)

    return _put(change, "_compiled_call_impl", traced)


def _derive_loader(change: Change, loader: Any) -> Callable[[], None]:
    before: Any = type(loader)
    find = change.owner

    def items(self: Any) -> Any:
        """For a loader that is its own iterator."""
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

    def reduce(self: Any, protocol: Any) -> Any:
        reduced = before.__reduce_ex__(self, protocol)
        if isinstance(reduced, str):
            return reduced
        make, args, *rest = reduced
        if make is copyreg.__newobj__:  # type: ignore[attr-defined]
            make = before.__new__  # pickle would compare the class
        return make, tuple(before if one is derived else one for one in args), *rest  # as it was before

    names = {"__qualname__": before.__qualname__, "__module__": before.__module__, "__reduce_ex__": reduce}
    if not hasattr(before, "__iter__"):
        raise TypeError("it has no __iter__")
    derived = type(before.__name__, (before,), {"__iter__": iterate, **names, "change": change})
    loader.__class__ = derived

    def undo() -> None:
        loader = find()
        if type(loader) is derived:
            loader.__class__ = before

    return undo


def _each(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


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
        for one in _each(optimizer):
            for name, node in (("step", ai.compute.step), ("zero_grad", ai.compute.derive("zero_grad"))):
                self._add(one, name, functools.partial(_replace_method, node=node))

    def add_dataloader(self, loader: Any) -> None:
        """Records `fetch.init`, `fetch.iter` and `fetch.block` of loops over the loader."""
        for one in _each(loader):
            self._add(one, "__iter__", _derive_loader, "; loop over ai.dataloader.fetch.iter(loader) instead")

    def add_process(self) -> None:
        """Records what belongs to no single object: backward, checkpoints, collectives."""
        import torch
        import torch.distributed as distributed

        self._add_function(torch.autograd, "backward", ai.compute.backward)  # backward of a tensor calls it
        self._add_function(torch, "save", ai.checkpoint.capture)
        self._add_function(torch, "load", ai.checkpoint.restart)
        if distributed.is_available():
            for name, child in COLLECTIVES.items():
                if hasattr(distributed, name):
                    self._add_function(distributed, name, getattr(ai.comm, child))

    def _add_function(self, owner: Any, name: str, node: DFTracerAI) -> None:
        self._add(owner, name, functools.partial(_replace_function, node=node))

    def _add(
        self, owner: Any, name: str, make: Callable[[Change, Any], Callable[[], None]], advice: str = ""
    ) -> None:
        """Prints a line if something cannot be recorded, because the program must go on as without tracing."""
        try:
            self._undo.append(Change.use(owner, name, make))
        except Exception as error:
            what = f"{name} of a {type(owner).__name__}"
            setup_stream_logger().error("dftracer.python.torch.trace: %s is not recorded: %s%s", what, error, advice)


def trace(model: Any = None, optimizer: Any = None, dataloader: Any = None) -> Tracing:
    """Records a training from now on. Each argument is one object or a list. Does nothing while tracing is off."""
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
