"""common.py - the class dftracer, and everything below the ai tree under one name."""

from __future__ import annotations

import atexit
import os
import sys

from dftracer.python import process
from dftracer.python.env import (
    DFTRACER_ENABLE,
    DFTRACER_ENABLE_ENV,
    DFTRACER_INIT_ENV,
    DFTRACER_INIT_PRELOAD,
    DFTRACER_LOG_LEVEL,
    DFTRACER_LOG_LEVEL_ENV,
    DFTRACER_TIME_METRIC_ENV,
    WHY_ABSENT,
    native,
    setup_stream_logger,
)
from dftracer.python.noop import NoOpProfiler
from dftracer.python.paths import check_folders, expanded

TYPE_CHECKING = False  # as in typing, which would take longer to import than all the rest
if TYPE_CHECKING:
    import logging
    from collections.abc import Callable
    from typing import Any

    from dftracer.dftracer import dft_fn as dft_fn
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
else:
    dft_fn = native.dft_fn

profiler: Any = native if native._enabled else NoOpProfiler()

ENTITY_TO_ENTITY = 16  # relations from here on are between entities
UNITS_PER_SECOND = {"NS": 1e9, "US": 1e6, "MS": 1e3, "SEC": 1.0}


def get_time_scale() -> float:
    """Units of the trace's time in one second."""
    unit = dftracer.get_instance().get_config(DFTRACER_TIME_METRIC_ENV)
    return UNITS_PER_SECOND.get(unit.upper(), 1e6)


def get_default_args(func: Callable[..., Any]) -> dict[str, Any]:
    """The parameters of a function that have defaults."""
    import inspect

    parameters = inspect.signature(func).parameters
    return {name: one.default for name, one in parameters.items() if one.default is not inspect.Parameter.empty}


def setup_logger(
    name: str, log_file: str | os.PathLike[str], formatter: logging.Formatter, level: int = 20
) -> logging.Logger:
    """A logger that writes to a file."""
    import logging

    logger = logging.getLogger(name)
    handler = logging.FileHandler(log_file)
    handler.setFormatter(formatter)
    logger.setLevel(level)
    logger.addHandler(handler)
    return logger


def capture_signal(signal_number: int, frame: Any) -> None:
    """A signal handler that programs can install: it completes the trace and exits."""
    dftracer.get_instance().finalize()
    sys.exit(signal_number)


class dftracer:
    """The trace of this process."""

    __instance: dftracer | None = None

    def __init__(self) -> None:
        self._logger: Any = None
        self._is_assigned = False  # the program replaced the native module by its own object
        self._dbg_logging: Any = None
        self.start_time = 0
        dftracer.__instance = self

    @classmethod
    def get_instance(cls) -> dftracer:
        """The only instance; the first call makes it."""
        if dftracer.__instance is None:
            dftracer()
        assert dftracer.__instance is not None
        return dftracer.__instance

    @property
    def logger(self) -> Any:
        """The native module once a trace was opened, else None. An object assigned here gets every call instead."""
        return self._logger

    @logger.setter
    def logger(self, target: Any) -> None:
        self._is_assigned = self._use(target)

    @property
    def dbg_logging(self) -> Any:
        """A logger for higher layers, made by initialize_log; it writes nothing unless a handler is added."""
        if self._dbg_logging is True:
            import logging

            self._dbg_logging = logging.getLogger("dftracer_dbg")
            self._dbg_logging.addHandler(logging.NullHandler())
            self._dbg_logging.propagate = False
        return self._dbg_logging

    @dbg_logging.setter
    def dbg_logging(self, logger: Any) -> None:
        self._dbg_logging = logger

    def _use(self, target: Any) -> bool:
        self._logger = target
        stands_in = target is not None and target is not native and not isinstance(target, NoOpProfiler)
        if native._enabled:
            native._redirect(self if stands_in else None)
        return stands_in

    def _has(self, name: str) -> bool:
        return native._enabled and hasattr(self._logger, name)

    @staticmethod
    def initialize_log(
        logfile: str | os.PathLike[str] | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        process_id: int | None = -1,
        log_file: str | os.PathLike[str] | None = None,
    ) -> dftracer:
        """Opens the trace if none is open, and returns the instance."""
        process.is_annotated = True
        frameworks = sys.modules.get("dftracer.python.frameworks.session")
        if frameworks is not None:
            frameworks.joined()
        return dftracer._open(logfile if logfile is not None else log_file, data_dir, process_id)

    @staticmethod
    def _open(
        logfile: str | os.PathLike[str] | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        process_id: int | None = -1,
    ) -> dftracer:
        """The same, for those who open it in place of the program."""
        instance = dftracer.get_instance()
        instance._dbg_logging = instance._dbg_logging or True
        where = expanded(logfile)
        folders = expanded(data_dir)
        if not native._enabled and not WHY_ABSENT:
            native.initialize(where, folders)  # the program may have set DFTRACER_ENABLE since the import
        if not native._enabled:
            return instance
        if folders:
            check_folders(folders)
        if not instance._is_assigned:
            instance._use(profiler)
        instance._logger.initialize(where, folders, -1 if process_id is None else process_id)
        if instance._logger is native:
            process.announce()
        instance.start_time = instance.get_time()
        instance.mark_used("python_function")
        return instance

    def get_time(self) -> int:
        """The time since the epoch in the unit of the trace; 0 before initialisation or while tracing is off."""
        return int(self._logger.get_time()) if self._has("get_time") else 0

    def get_config(self, key: str) -> str:
        """The value in effect of a DFTRACER_* setting; empty if it is unknown, or before initialisation."""
        return str(self._logger.get_config(key)) if self._has("get_config") else ""

    def enter_event(self) -> int | None:
        """Pushes one level on this thread's stack."""
        return self._logger.enter_event() if self._has("enter_event") else None

    def exit_event(self) -> None:
        """Pops one level off this thread's stack."""
        if self._has("exit_event"):
            self._logger.exit_event()

    def log_event(
        self,
        name: str,
        cat: str,
        start_time: int,
        duration: int,
        int_args: dict[str, Any] | None = None,
        float_args: dict[str, Any] | None = None,
        string_args: dict[str, Any] | None = None,
        relations: dict[int, list[EntityID]] | None = None,
    ) -> None:
        """Writes one complete event with the caller's times."""
        if not self._has("log_event"):
            return
        more = {"relations": {int(key): ids for key, ids in relations.items()}} if relations else {}
        self._logger.log_event(
            name=name,
            cat=cat,
            start_time=start_time,
            duration=duration,
            int_args=int_args or {},
            string_args=string_args or {},
            float_args=float_args or {},
            **more,
        )

    def log_metadata_event(self, key: str, value: str) -> None:
        """Writes one metadata record."""
        if self._has("log_metadata_event"):
            self._logger.log_metadata_event(key=key, value=value)

    def set_app_metadata_int(self, key: str, value: int) -> None:
        """Sets a fact about the application; the last value is written at the end."""
        if self._has("set_app_metadata_int"):
            self._logger.set_app_metadata_int(key, value)

    def set_app_metadata_string(self, key: str, value: str) -> None:
        """Sets a fact about the application; the last value is written at the end."""
        if self._has("set_app_metadata_string"):
            self._logger.set_app_metadata_string(key, value)

    def mark_used(self, name: str) -> None:
        """Marks a layer as used."""
        if self._has("mark_used"):
            self._logger.mark_used(name)

    def declare_entity(self, type: str, key: object, store: EntityStore | int = 0, uri: str = "") -> EntityID:
        """Declares a thing that events use or make; returns its id, or 0 while tracing is off."""
        if not self._has("declare_entity"):
            return 0
        return int(self._logger.declare_entity(type, str(key), int(store), uri))

    def declare_entity_type(self, type: str, role: EntityRole | int = 0, description: str = "") -> None:
        """Describes a type of entities."""
        if self._has("declare_entity_type"):
            self._logger.declare_entity_type(type, int(role), description)

    def relate_entities(self, relation: EntityRelation | int, subject: EntityID, object: EntityID) -> None:
        """Relates two entities; ignored for relations below 16 and for ids of 0."""
        if int(relation) >= ENTITY_TO_ENTITY and subject and object and self._has("relate_entities"):
            self._logger.relate_entities(int(relation), subject, object)

    def finalize(self) -> None:
        """Completes the file. Later events are dropped. Safe to call twice."""
        process.finish_training()
        if self._has("finalize"):
            self._logger.finalize()
        if self._logger is native:
            process.conceal()


def __getattr__(name: str) -> Any:
    if name in __all__:
        from dftracer.python import values

        return getattr(values, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _tell_forgotten() -> None:
    if native._was_forgotten() and os.environ.get(process.PARENT) is None:
        setup_stream_logger().error(
            "dftracer: nothing was recorded, because the program did not call dftracer.initialize_log(); "
            "call it before the first event"
        )


process.follow()
if native._enabled:
    atexit.register(_tell_forgotten)

__all__ = [
    "DFTRACER_ENABLE",
    "DFTRACER_ENABLE_ENV",
    "DFTRACER_INIT_ENV",
    "DFTRACER_INIT_PRELOAD",
    "DFTRACER_LOG_LEVEL",
    "DFTRACER_LOG_LEVEL_ENV",
    "DFTRACER_TIME_METRIC_ENV",
    "EntityID",
    "EntityRelation",
    "EntityRole",
    "EntityStore",
    "NoOpProfiler",
    "P",
    "ProfilerProtocol",
    "R",
    "T",
    "TagDType",
    "TagType",
    "TagValue",
    "TagValueTuple",
    "capture_signal",
    "dft_fn",
    "dftracer",
    "get_default_args",
    "get_time_scale",
    "profiler",
    "setup_logger",
    "setup_stream_logger",
]
