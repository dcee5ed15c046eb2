"""profiler.py - writes the entries of torch.profiler into the trace. Imports no torch."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from dftracer.python.common import dftracer, get_time_scale
from dftracer.python.env import native, setup_stream_logger

CAT_PROFILER = "PP"
_written: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # entries written so far, of profilers that keep them all


def trace_handler(profiler_result: Any) -> None:
    """For torch.profiler.profile(on_trace_ready=trace_handler): records every entry of the cycle."""
    instance = dftracer.get_instance()
    if not instance.get_time():
        return
    try:
        events = profiler_result.events()
    except Exception as error:  # an error of torch, or nothing was profiled; the program must go on
        setup_stream_logger().error("dftracer.python.torch.trace_handler: torch has no events: %s", error)
        return
    if getattr(profiler_result, "acc_events", False):  # the entries of earlier cycles come last
        events, _written[profiler_result] = events[: len(events) - _written.get(profiler_result, 0)], len(events)
    instance.mark_used("torch_profiler")
    if instance.logger is native:
        has_device = any(getattr(event, "use_device", None) for event in events[:1])
        device_us = float(sum(getattr(event, "self_device_time_total", 0) for event in events)) if has_device else 0.0
        has_shapes = getattr(getattr(profiler_result, "profiler", None), "record_shapes", True)
        start_ns = _start_ns(profiler_result)
        native._log_torch(events, start_ns, get_time_scale(), device_us, has_device, bool(has_shapes))
        return
    for event in events:  # another object replaces the native module
        _log_one(instance, event, _start_ns(profiler_result))


def _start_ns(profiler_result: Any) -> int:
    """When torch's trace began, since the epoch; if that is unknown, when this trace began."""
    results = getattr(getattr(profiler_result, "profiler", None), "kineto_results", None)
    if results is not None:
        return int(results.trace_start_ns())
    return int(dftracer.get_instance().start_time * 1e9 / get_time_scale())


def _log_one(instance: dftracer, event: Any, start_ns: int) -> None:
    scale = get_time_scale()
    begin = int((start_ns / 1e3 + event.time_range.start) * scale / 1e6)
    end = int((start_ns / 1e3 + event.time_range.end) * scale / 1e6)
    ints = {
        "device": int(getattr(event.device_type, "value", 0)),
        "cpu_memory": event.cpu_memory_usage,
        "is_remote": int(event.is_remote),
        "device_memory_usage": event.device_memory_usage,
        "input_size": sum(len(shape) for shape in event.input_shapes or ()),
    }
    floats = {"total_cpu_percent": event.total_cpu_percent, "total_device_percent": event.total_device_percent}
    instance.log_event(
        event.key,
        CAT_PROFILER,
        begin,
        end - begin,
        {name: (0, value) for name, value in ints.items()},
        {name: (0, float(value)) for name, value in floats.items()},
    )
