"""helpers.py - parts of the native module that are rare, or simpler in Python. Loaded at the first use."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

from dftracer.python.env import native, setup_stream_logger


def _tracer() -> Any:
    from dftracer.python.common import dftracer

    return dftracer.get_instance()


def decorator(profile: Any, kind: int, name: str | None) -> Callable[[Any], Any]:
    """The result of f.log() and f.log(name="n")."""
    return lambda function: native._wrap(profile, function, kind, name)


def coroutine(traced: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """A coroutine function whose event includes the time spent waiting."""

    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        with traced._block(*args, **kwargs):
            return await function(*args, **kwargs)

    return call


async def async_loop(loop: Any, iterator: Any) -> AsyncIterator[Any]:
    """Reports to the loop, step by step, what an asynchronous iterator does."""
    begins, has_item, body_is_done, is_left = range(4)
    while True:
        loop._step(begins)
        try:
            item = await iterator.__anext__()
        except StopAsyncIteration:
            return
        loop._step(has_item)
        try:
            yield item
        except BaseException:
            loop._step(is_left)
            raise
        loop._step(body_is_done)


def batches_of(iterator: Any) -> Any:
    """For the loop over a loader: who made its items, if workers of torch did."""
    if not hasattr(iterator, "_task_info"):
        return None
    from dftracer.python import batches

    return batches.batches_of(iterator)


def metadata(key: str, value: str) -> None:
    """Writes one metadata record."""
    _tracer().log_metadata_event(key, value)


def log_metadata(profile: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """dft_fn.log_metadata(key, value)"""
    _log_metadata(profile, *args, **kwargs)


def _log_metadata(profile: Any, key: str, value: str) -> None:
    if profile._enable:
        metadata(key, value)


def relate_entity(profile: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """dft_fn.relate_entity(relation, type, key, store, uri)"""
    return _relate_entity(profile, *args, **kwargs)


def uses(profile: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """dft_fn.uses(type, key, store, uri)"""
    return _relate_entity(profile, 0, *args, **kwargs)


def generates(profile: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """dft_fn.generates(type, key, store, uri)"""
    return _relate_entity(profile, 1, *args, **kwargs)


def _relate_entity(profile: Any, relation: int, type: str, key: object, store: int = 0, uri: str = "") -> int:
    if not profile._enable:
        return 0
    entity = int(_tracer().declare_entity(type, key, store, uri))
    profile.relate(int(relation), entity)
    return entity


def reduced(function: Any, parts: tuple[Any, ...]) -> Any:
    """For pickling: its name, or its parts if cloudpickle or dill would send the code of a plain function."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") == "pickle":
        frame = frame.f_back
    pickler = frame.f_globals.get("__name__", "") if frame is not None else ""
    if "cloudpickle" not in pickler and not pickler.startswith("dill"):
        return function.__qualname__
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is function and function.__module__ != "__main__":
        return function.__qualname__
    own = {name: value for name, value in vars(function).items() if name not in _COPIED}
    return (*parts, own)


_COPIED = ("__module__", "__name__", "__qualname__", "__doc__", "__wrapped__")


def tell_open(log_file: str) -> None:
    """initialize_log was called while a trace is open. To name the same file again is usual in notebooks."""
    frameworks: Any = sys.modules.get("dftracer.python.frameworks.session")
    if frameworks is not None and frameworks.is_open:
        return  # a framework began before: the program joins that trace
    current = native.get_config("DFTRACER_LOG_FILE")
    if os.path.abspath(log_file) != os.path.abspath(current):
        setup_stream_logger().error(
            "dftracer: initialize_log(%r) is ignored, because the trace %r is open and goes on; call finalize() first",
            log_file,
            current,
        )


def switched_on(silent: int) -> None:
    """DFTRACER_ENABLE was set after the import, and initialize_log has found it."""
    for name in ("env", "common", ""):
        module: Any = sys.modules[f"dftracer.python.{name}".rstrip(".")]
        for attribute, value in (("DFTRACER_ENABLE", True), ("profiler", native)):
            if attribute in vars(module):
                setattr(module, attribute, value)
    if silent:
        setup_stream_logger().error(
            "dftracer: DFTRACER_ENABLE was set after the import of dftracer.python, so functions decorated before "
            "initialize_log stay silent (%d of them); set it before the import",
            silent,
        )
