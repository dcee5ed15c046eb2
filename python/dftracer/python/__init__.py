"""dftracer.python - annotate a Python program: what it did, when, on which thread.

    from dftracer.python import ai, dft_fn, dftracer

    log = dftracer.initialize_log("out/trace.pfw", data_dir="data")
    with ai.compute.forward:
        ...
    log.finalize()

`ai`, `dynamo` and `logger` are modules of this package and, as its attributes, the objects of these names. What needs
torch or logging is loaded when it is asked for.
"""

from __future__ import annotations

import sys
import types

from dftracer.python import env as _env
from dftracer.python.ai_common import (
    AI,
    BLOCK_NAME,
    CTX_SEPARATOR,
    INIT_NAME,
    IO,
    ITER_COUNT_NAME,
    ITER_NAME,
    ROOT_CAT,
    ROOT_NAME,
    START_METADATA_NAME,
    STOP_METADATA_NAME,
    Checkpoint,
    Communication,
    Compute,
    Data,
    DataLoader,
    Device,
    DFTracerAI,
    Other,
    Pipeline,
    get_iter_block_name,
    get_iter_handle_name,
)
from dftracer.python.ai_init import (
    ai,
    checkpoint,
    comm,
    compute,
    data,
    dataloader,
    device,
    other,
    pipeline,
)
from dftracer.python.common import (
    DFTRACER_ENABLE,
    DFTRACER_ENABLE_ENV,
    DFTRACER_INIT_ENV,
    DFTRACER_INIT_PRELOAD,
    DFTRACER_LOG_LEVEL,
    DFTRACER_LOG_LEVEL_ENV,
    DFTRACER_TIME_METRIC_ENV,
    NoOpProfiler,
    capture_signal,
    dft_fn,
    dftracer,
    get_default_args,
    get_time_scale,
    profiler,
    setup_logger,
    setup_stream_logger,
)

TYPE_CHECKING = False  # as typing has it, without loading it: that takes longer than all the rest
if TYPE_CHECKING:
    import logging
    from typing import Any

    from dftracer.python.ai_events import (
        CheckpointEvent,
        CommunicationEvent,
        ComputeEvent,
        DataEvent,
        DataLoaderEvent,
        DeviceEvent,
        IOEvent,
        OtherEvent,
        PipelineEvent,
        ProfileCategory,
        StringEnum,
    )
    from dftracer.python.dynamo import Dynamo, create_backend, dftracer_dynamo_backend, dynamo
    from dftracer.python.values import (
        EntityID,
        EntityRelation,
        EntityRole,
        EntityStore,
        P,
        ProfilerProtocol,
        R,
        T,
        TagDType,
        TagType,
        TagValue,
        TagValueTuple,
    )

    __version__: str
    logger: logging.Logger

# What is loaded when it is asked for: the module, and its names here.
_LATE = {
    "ai_events": (
        "CheckpointEvent",
        "CommunicationEvent",
        "ComputeEvent",
        "DataEvent",
        "DataLoaderEvent",
        "DeviceEvent",
        "IOEvent",
        "OtherEvent",
        "PipelineEvent",
        "ProfileCategory",
        "StringEnum",
    ),
    "dynamo": ("Dynamo", "create_backend", "dftracer_dynamo_backend", "dynamo"),
    "values": (
        "EntityID",
        "EntityRelation",
        "EntityRole",
        "EntityStore",
        "P",
        "ProfilerProtocol",
        "R",
        "T",
        "TagDType",
        "TagType",
        "TagValue",
        "TagValueTuple",
    ),
}
_MODULE_OF = {name: module for module, names in _LATE.items() for name in names}


class _Package(types.ModuleType):
    """Keeps the objects ai, dynamo and logger in front of the modules of these names, and what takes time late."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("ai", "dynamo", "logger") and isinstance(value, types.ModuleType):
            return
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name == "logger":
            value: Any = setup_stream_logger()
        elif name == "__version__":
            value = _env.native.__version__
        elif name in _MODULE_OF:
            import importlib

            value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), "__version__", "logger", *_MODULE_OF})


sys.modules[__name__].__class__ = _Package
__import__("dftracer.python.logger")  # programs look it up in sys.modules; an import statement would bind the name

if DFTRACER_ENABLE and not _env.native._enabled:
    if DFTRACER_LOG_LEVEL.upper() in ("WARN", "INFO", "DEBUG"):
        setup_stream_logger().warning("tracing is enabled but not available: %s", _env.WHY_ABSENT)
elif DFTRACER_LOG_LEVEL.upper() in ("INFO", "DEBUG"):
    setup_stream_logger().info("tracing is %s", "enabled" if DFTRACER_ENABLE else "not enabled (DFTRACER_ENABLE)")

__all__ = [
    "AI",
    "BLOCK_NAME",
    "CTX_SEPARATOR",
    "DFTRACER_ENABLE",
    "DFTRACER_ENABLE_ENV",
    "DFTRACER_INIT_ENV",
    "DFTRACER_INIT_PRELOAD",
    "DFTRACER_LOG_LEVEL",
    "DFTRACER_LOG_LEVEL_ENV",
    "DFTRACER_TIME_METRIC_ENV",
    "INIT_NAME",
    "IO",
    "ITER_COUNT_NAME",
    "ITER_NAME",
    "ROOT_CAT",
    "ROOT_NAME",
    "START_METADATA_NAME",
    "STOP_METADATA_NAME",
    "Checkpoint",
    "CheckpointEvent",
    "Communication",
    "CommunicationEvent",
    "Compute",
    "ComputeEvent",
    "DFTracerAI",
    "Data",
    "DataEvent",
    "DataLoader",
    "DataLoaderEvent",
    "Device",
    "DeviceEvent",
    "Dynamo",
    "EntityID",
    "EntityRelation",
    "EntityRole",
    "EntityStore",
    "IOEvent",
    "NoOpProfiler",
    "Other",
    "OtherEvent",
    "P",
    "Pipeline",
    "PipelineEvent",
    "ProfileCategory",
    "ProfilerProtocol",
    "R",
    "StringEnum",
    "T",
    "TagDType",
    "TagType",
    "TagValue",
    "TagValueTuple",
    "__version__",
    "ai",
    "capture_signal",
    "checkpoint",
    "comm",
    "compute",
    "create_backend",
    "data",
    "dataloader",
    "device",
    "dft_fn",
    "dftracer",
    "dftracer_dynamo_backend",
    "dynamo",
    "get_default_args",
    "get_iter_block_name",
    "get_iter_handle_name",
    "get_time_scale",
    "logger",
    "other",
    "pipeline",
    "profiler",
    "setup_logger",
    "setup_stream_logger",
]
