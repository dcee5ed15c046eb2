"""absent.py - replaces the native module if it cannot be imported: everything works, and nothing is recorded.

Only env.py loads it, in that case. Its parts behave like those of the native module while tracing is off.
"""

from __future__ import annotations

import sys
import types

TYPE_CHECKING = False  # as in typing, which would take longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_enabled = False
_INIT = 2  # the kind of a decorated constructor
_CO_COROUTINE = 0x80  # as inspect has it


def __getattr__(name: str) -> Any:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dftracer")
    except PackageNotFoundError:
        return "0+unknown"


# ---- Decorated functions ---------------------------------------------------------------------------------------------


def _wrap(profile: Any, wrapped: Any, kind: int = 0, name: str | None = None, /) -> Any:
    """Decorates a function, or the one inside a staticmethod, classmethod or property."""
    if isinstance(wrapped, property):
        return wrapped.getter(_wrap(profile, wrapped.fget, kind, name))
    if isinstance(wrapped, (staticmethod, classmethod)):
        return type(wrapped)(_wrap(profile, wrapped.__func__, kind, name))
    if not callable(wrapped):
        raise TypeError(f"dftracer: expected a function, not {type(wrapped).__name__}")
    is_coroutine = getattr(getattr(wrapped, "__code__", None), "co_flags", 0) & _CO_COROUTINE
    if kind == _INIT and not is_coroutine:
        return _without_result(wrapped)
    if isinstance(wrapped, types.FunctionType):
        return _copy(wrapped)
    return _awaiting(wrapped) if is_coroutine else Function(wrapped)


def _dress(wrapper: Any, wrapped: Any, *options: Any) -> Any:
    import functools  # late: it would take a quarter of the time of the whole import

    return functools.update_wrapper(wrapper, wrapped, *options)


def _copy(function: Any) -> Any:
    """A separate function that runs the same code directly."""
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return _dress(copy, function)


def _awaiting(method: Any) -> Any:
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await method(*args, **kwargs)

    return _dress(call, method)


def _without_result(init: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> None:
        init(*args, **kwargs)

    return _dress(call, init)


class Function:
    """Wraps a callable that is not a function: passes on calls, binds as a method, and has its attributes."""

    __wrapped__: Any

    def __init__(self, wrapped: Any) -> None:
        shown = ("__module__", "__name__", "__qualname__", "__doc__")
        _dress(self, wrapped, shown, () if isinstance(wrapped, type) else ("__dict__",))

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def __reduce__(self) -> Any:
        return Function, (self.__wrapped__,)


# ---- dft_fn and the nodes of the ai tree -----------------------------------------------------------------------------


def _items(iterable: Any) -> Any:
    kind = type(iterable)
    return kind.__aiter__(iterable) if hasattr(kind, "__aiter__") and not hasattr(kind, "__iter__") else iter(iterable)


class Profile:
    """What dft_fn and the nodes of the ai tree have in common."""

    _cat: Any = "unknown"
    _name: Any = "unknown"
    _enable = True
    _flush = False
    _arguments_int = _arguments_float = _arguments_string = _relations = property(lambda _: {})

    def _label(self, cat: Any, name: Any, enable: Any) -> None:
        self._cat, self._name, self._enable = cat, name, bool(enable)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: Any) -> None:
        pass

    def update(
        self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, args: Any = None
    ) -> Any:
        """Keeps nothing."""
        return self

    def flush(self) -> Any:
        """Writes nothing."""
        return self

    def reset(self) -> Any:
        """Measures nothing."""
        self._flush = False
        return self

    def get_time(self) -> int:
        """0: there is no trace."""
        return 0

    def relate(self, relation: int, entity: int) -> Any:
        """Keeps nothing."""
        return self


class dft_fn(Profile):
    """Blocks, functions and loops under a category and a name."""

    def __init__(
        self,
        cat: Any,
        name: Any = None,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        enable: Any = True,
    ) -> None:
        self._label(cat, name or sys._getframe(1).f_code.co_name, enable)

    def _decorate(self, function: Any, name: Any, kind: int = 0) -> Any:
        if function is None or (isinstance(function, str) and name is None):  # f.log(), f.log("n")
            return lambda function: _wrap(self, function, kind)
        return _wrap(self, function, kind)

    def log(self, func: Any = None, name: Any = None) -> Any:
        """Decorator."""
        return self._decorate(func, name)

    log_static = log

    def log_init(self, init: Any = None, name: Any = None) -> Any:
        """Decorator of constructors."""
        return self._decorate(init, name, _INIT)

    def iter(self, func: Any, name: Any = "loop", iter_name: str = "step") -> Any:
        """Iterates over it."""
        return _items(func)

    def log_metadata(self, key: str, value: str) -> None:
        """Writes nothing."""

    def relate_entity(self, relation: int, type: str, key: object, store: int = 0, uri: str = "") -> int:
        """0: no entity."""
        return 0

    def uses(self, type: str, key: object, store: int = 0, uri: str = "") -> int:
        """0: no entity."""
        return 0

    generates = uses


class DFTracerAI(Profile):
    """One kind of event: decorator, block and loop, with children."""

    _children: dict[str, Any]

    def __new__(cls, *_: Any, **__: Any) -> Any:
        node = super().__new__(cls)
        node._children = {}
        return node

    def __init__(
        self,
        *,
        cat: Any,
        name: Any = None,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        enable: Any = True,
    ) -> None:
        self._label(cat, name or cat, enable)

    def __call__(
        self,
        fn: Any = None,
        *,
        enable: Any = None,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        args: Any = None,
    ) -> Any:
        if fn is not None:
            return _wrap(self, fn)
        return DFTracerAI(cat=self._cat, name=self._name, enable=self._enable if enable is None else enable)

    @property
    def cat(self) -> Any:
        """Category of its events."""
        return self._cat

    @property
    def name(self) -> Any:
        """Name of its events."""
        return self._name

    @property
    def profiler(self) -> dft_fn:
        """Its dft_fn, which shares the state of the node."""
        view = dft_fn.__new__(dft_fn)
        view.__dict__ = self.__dict__
        return view

    @property
    def init(self) -> Any:
        """The child for constructors."""
        return self.derive("init")

    def derive(self, name: Any) -> Any:
        """The child named <name>.<given>, the same one on every call."""
        whole = f"{self._name}.{name}"
        return self._child(whole, whole)

    def create_children(self, names: Mapping[str, str]) -> None:
        """Makes children from {attribute: event name}, as attributes of the node."""
        for attribute, name in names.items():
            setattr(self, attribute, self._child(attribute, name))

    def _child(self, key: str, name: Any) -> Any:
        if key not in self._children:
            self._children[key] = DFTracerAI(cat=self._cat, name=name, enable=self._enable)
        return self._children[key]

    def start(self, metadata: Any = False) -> None:
        """Begins nothing."""

    def stop(self, metadata: Any = False) -> None:
        """Ends nothing."""

    def iter(
        self,
        iterator: Any,
        *,
        include_block: Any = True,
        include_iter: Any = True,
        iter_name: Any = None,
        block_name: Any = None,
    ) -> Any:
        """Iterates over it."""
        return _items(iterator)

    def enable(self) -> None:
        """Switches the node and its whole subtree on."""
        self._switch(True)

    def disable(self) -> None:
        """Switches the node and its whole subtree off."""
        self._switch(False)

    def _switch(self, is_on: bool) -> None:
        nodes = [self]
        for node in nodes:  # the list grows during the loop
            node._enable = is_on
            nodes += [one for one in node._children.values() if isinstance(one, DFTracerAI) and one not in nodes]
