"""communication.py - collectives of torch.distributed, the wait for them, and the all-reduce inside of backward.

Collectives call each other, and wait for themselves: only the outermost call records. The reducer of
DistributedDataParallel runs in C++ and measures itself; its times are read after each backward. Nothing is registered
with it, because a communication hook would change what it does.
"""

from __future__ import annotations

import functools
import gc
import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from dftracer.python.ai_init import ai
from dftracer.python.common import get_time_scale
from dftracer.python.env import native
from dftracer.python.torch.change import Change, put, put_method

if TYPE_CHECKING:
    from collections.abc import Callable

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
USUAL_SAMPLE_RATE = 100  # torch's: the reducer measures itself in one iteration of so many


class _Inside(threading.local):
    depth = 0


_inside = _Inside()
_users: list[None] = []
_reducers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # models -> when the last all-reduce ended


def _outermost(change: Change, node: DFTracerAI, before: Callable[..., Any]) -> Callable[..., Any]:
    from torch.compiler import is_compiling

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        if not change.users or is_compiling() or _inside.depth:
            return before(*args, **kwargs)
        _inside.depth += 1
        try:
            with node:
                return before(*args, **kwargs)
        finally:
            _inside.depth -= 1

    return traced


def _replace_collective(change: Change, module: Any, node: DFTracerAI) -> Callable[[], None]:
    return put(change, change.name, _outermost(change, node, getattr(module, change.name)))


def _replace_wait(change: Change, kind: Any) -> Callable[[], None]:
    return put_method(change, _outermost(change, ai.comm.derive("wait"), kind.wait))


def _replace_start(change: Change, kind: Any) -> Callable[[], None]:
    """The constructor of DistributedDataParallel."""
    before = kind.__init__

    @functools.wraps(before)
    def traced(self: Any, *args: Any, **kwargs: Any) -> None:
        before(self, *args, **kwargs)
        if change.users:
            _watch_reducer(self)

    return put_method(change, traced)


def _watch_reducer(model: Any) -> None:
    """On a device, measuring would make the program wait for it; there the all-reduce stays a part of backward."""
    logger = getattr(model, "logger", None)
    if getattr(model, "device_type", "") == "cpu" and hasattr(logger, "set_runtime_stats_and_log"):
        _set_sample_rate(model, 1)
        _reducers[model] = 0


def _set_sample_rate(model: Any, rate: int) -> None:
    change = getattr(model, "_set_ddp_runtime_logging_sample_rate", None)
    if change is not None:
        change(rate)


def clocks() -> tuple[int, int]:
    """Now, in the unit of the trace, as torch measures it, and in ticks, as events are."""
    return native.get_time(), native._ticks()


def record_reducers(began: tuple[int, int]) -> None:
    """At the end of a backward that began then, by clocks(): its all-reduces."""
    node, units = ai.comm.all_reduce, get_time_scale() / 1e9
    for model, last in list(_reducers.items()):
        try:
            model.logger.set_runtime_stats_and_log()
            times = model.logger._get_ddp_logging_data().ints_map
            start, end = times.get("backward_comm_time_start", 0), times.get("backward_comm_time_end", 0)
        except Exception:  # a version of torch that measures otherwise
            del _reducers[model]
            continue
        if end <= last or not start or not node.profiler._enable:
            continue
        _reducers[model] = end
        now = clocks()
        scale = (now[1] - began[1]) / max(now[0] - began[0], 1)
        times = (min(max(int(at * units), began[0]), now[0]) - began[0] for at in (start, end))
        first, final = (began[1] + int(time * scale) for time in times)
        values = node.profiler
        native._log_measured(
            node.name,
            node.cat,
            first,
            final,
            values._arguments_int,
            values._arguments_string,
            values._arguments_float,
        )


def has_reducers() -> bool:
    """Whether a backward may contain an all-reduce."""
    return bool(_reducers)


def add(add_change: Callable[[Any, str, Callable[[Change, Any], Callable[[], None]]], None]) -> Callable[[], None]:
    """Records communication from now on; returns a function that undoes what `add_change` does not."""
    import torch.distributed as distributed

    if not distributed.is_available():
        return lambda: None
    from torch.nn.parallel import DistributedDataParallel

    for name, child in COLLECTIVES.items():
        if hasattr(distributed, name):
            node = getattr(ai.comm, child)
            add_change(distributed, name, functools.partial(_replace_collective, node=node))
    if hasattr(distributed, "Work"):
        add_change(distributed.Work, "wait", _replace_wait)
    add_change(DistributedDataParallel, "__init__", _replace_start)
    if distributed.is_initialized():
        for one in gc.get_objects():
            if type(one) is DistributedDataParallel:
                _watch_reducer(one)

    _users.append(None)

    def undo() -> None:
        _users.pop()
        for model in list(_reducers) if not _users else ():
            _set_sample_rate(model, USUAL_SAMPLE_RATE)
            del _reducers[model]

    return undo
