"""process.py - children of a traced process are traced too, without a call of their own.

A forked child goes on by itself: the core notices the fork. Any other child finds in its environment where its parent's
trace is, and starts one of its own, named after it, at its first event. Workers of multiprocessing end by os._exit,
which runs no destructor: their trace is completed by one of its finalizers. What dies is published by the parent.
"""

from __future__ import annotations

import os
import sys

from dftracer.python.env import native

TYPE_CHECKING = False  # as typing has it, without loading it: that takes longer than all the rest
if TYPE_CHECKING:
    from typing import Any

PARENT = "DFTRACER_PARENT"
EXPORTED = (PARENT, "DFTRACER_LOG_FILE", "DFTRACER_DATA_DIR")
LAST = -100  # the priority of a finalizer that runs after the program's

_before: dict[str, str | None] = {}


class _Anchor:
    """multiprocessing remembers what to do in a child as long as this lives."""


_anchor = _Anchor()


def announce() -> None:
    """A trace is open: tells the children to come."""
    log_file = native.get_config("DFTRACER_LOG_FILE")
    values = {
        PARENT: str(os.getpid()),
        "DFTRACER_LOG_FILE": os.path.abspath(log_file),
        "DFTRACER_DATA_DIR": native.get_config("DFTRACER_DATA_DIR"),
    }
    for name in EXPORTED:
        _before.setdefault(name, os.environ.get(name))
        if values[name]:
            os.environ[name] = values[name]
    _watch_forks()


def conceal() -> None:
    """The trace is complete: the environment is as it was."""
    while _before:
        name, value = _before.popitem()
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def follow() -> None:
    """In a child of a traced process: events are recorded without a call of initialize_log."""
    if PARENT not in os.environ or not native._enabled:
        return
    native._follow()
    _watch_forks()
    _in_worker()


def _watch_forks() -> None:
    if not getattr(_anchor, "watches", False):
        _anchor.watches = True  # type: ignore[attr-defined]
        os.register_at_fork(after_in_child=_in_worker)


def _in_worker() -> None:
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_anchor, _finish_last)  # it forgets its finalizers when the child begins
        _finish_last(_anchor)


def _finish_last(_: Any) -> None:
    import multiprocessing.process
    import multiprocessing.util

    if getattr(multiprocessing.process.current_process(), "_inheriting", False):  # spawned; what for is not known yet
        multiprocessing.util.Finalize(None, _finish_spawned, exitpriority=LAST)
    elif multiprocessing.process.parent_process() is not None:
        multiprocessing.util.Finalize(None, native.finalize, exitpriority=LAST)
        if _records_io():
            name_worker()


def _finish_spawned() -> None:
    if _records_io():
        name_worker()
    native.finalize()


def _records_io() -> bool:
    """Whether the first event may be an I/O call, which does not ask for the name."""
    return bool(os.environ.get("DFTRACER_DATA_DIR")) and os.environ.get("DFTRACER_DISABLE_IO") != "1"


def name_worker() -> None:
    """Before the first event of a child: a worker of torch's DataLoader is named by the number in its arguments."""
    processes: Any = sys.modules.get("multiprocessing.process")
    process: Any = processes.current_process() if processes else None
    target: Any = getattr(process, "_target", None)
    if getattr(target, "__name__", "") == "_worker_loop":
        arguments = {**dict(zip(target.__code__.co_varnames, process._args)), **process._kwargs}
        native._name_thread(f"DataLoader worker {arguments['worker_id']}")
