"""process.py - children of a traced process are traced automatically.

A forked child needs no help: the core notices the fork. Any other child finds the path of its parent's trace in its
environment. At its first event it opens its own trace, named after that one. Workers of multiprocessing end by
os._exit, which runs no destructor, so a finalizer of multiprocessing completes their trace. If a child dies, the parent
publishes its trace.
"""

from __future__ import annotations

import os
import sys

from dftracer.python.env import native

TYPE_CHECKING = False  # as in typing, which would take longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any

PARENT = "DFTRACER_PARENT"
FRAMEWORKS = "DFTRACER_FRAMEWORKS"
EXPORTED = (PARENT, "DFTRACER_LOG_FILE", "DFTRACER_DATA_DIR", FRAMEWORKS)
LAST = -100  # a priority below that of the program's finalizers: runs after them

is_annotated = False  # the program has called initialize_log
_before: dict[str, str | None] = {}


class _Anchor:
    """multiprocessing calls the functions registered for this object in every child, as long as it exists."""


_anchor = _Anchor()


def announce() -> None:
    """After a trace was opened: tells future children where it is."""
    log_file = native.get_config("DFTRACER_LOG_FILE")
    values = {
        PARENT: str(os.getpid()),
        "DFTRACER_LOG_FILE": os.path.abspath(log_file),
        "DFTRACER_DATA_DIR": native.get_config("DFTRACER_DATA_DIR"),
        FRAMEWORKS: "annotated" if is_annotated and not os.environ.get(FRAMEWORKS) else "",  # so are its children
    }
    for name in EXPORTED:
        _before.setdefault(name, os.environ.get(name))
        if values[name]:
            os.environ[name] = values[name]
    _watch_forks()


def conceal() -> None:
    """After the trace was completed: restores the environment."""
    while _before:
        name, value = _before.popitem()
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def follow() -> None:
    """In a child of a traced process: records events without a call of initialize_log."""
    if PARENT not in os.environ or not native._enabled:
        return
    native._follow()
    _watch_forks()


def finish_training() -> None:
    """The epoch that is open ends."""
    frameworks = sys.modules.get("dftracer.python.frameworks.progress")
    if frameworks is not None:
        frameworks.progress.finish()


def _watch_forks() -> None:
    """From the first event on, in this process, which may be a worker, and in its children."""
    if not getattr(_anchor, "watches", False):
        _anchor.watches = True  # type: ignore[attr-defined]
        os.register_at_fork(after_in_child=_in_worker)
        import threading

        if hasattr(threading, "_register_atexit"):  # these functions run before those of atexit
            threading._register_atexit(_expect_ends)
        _in_worker()


def _expect_ends() -> None:
    """At the exit multiprocessing ends workers that are left, such as those of a DataLoader, by SIGTERM."""
    processes: Any = sys.modules.get("multiprocessing.process")
    for child in processes.active_children() if processes else ():
        if child.daemon:
            native._child_ends(child.pid)


def _in_worker() -> None:
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_anchor, _finish_last)  # it drops its finalizers when the child starts
        _finish_last(_anchor)


def _finish_last(_: Any) -> None:
    import multiprocessing.process
    import multiprocessing.util

    if getattr(multiprocessing.process.current_process(), "_inheriting", False):  # spawned; its target is not known yet
        multiprocessing.util.Finalize(None, _finish_spawned, exitpriority=LAST)
        _watch_run(multiprocessing.process.BaseProcess)
    elif multiprocessing.process.parent_process() is not None:
        multiprocessing.util.Finalize(None, _finish, exitpriority=LAST)
        if _records_io():
            name_worker()
        _watch_worker()


def _watch_run(kind: Any) -> None:
    """Calls _watch_worker when the target of a spawned process is known."""
    before = kind.run

    def run(self: Any) -> None:
        kind.run = before
        _watch_worker()
        before(self)

    kind.run = run


def _watch_worker() -> None:
    arguments = _worker_arguments()
    if arguments:
        from dftracer.python import worker

        worker.watch(arguments)


def _finish_spawned() -> None:
    if _records_io():
        name_worker()
    _finish()


def _finish() -> None:
    finish_training()
    native.finalize()


def _records_io() -> bool:
    """Whether the first event may be an I/O call, which does not call name_worker."""
    return bool(os.environ.get("DFTRACER_DATA_DIR")) and os.environ.get("DFTRACER_DISABLE_IO") != "1"


def name_worker() -> None:
    """Before the first event of a child: names a worker of torch's DataLoader after the number in its arguments."""
    arguments = _worker_arguments()
    if arguments:
        native._name_thread(f"DataLoader worker {arguments['worker_id']}")


def _worker_arguments() -> dict[str, Any]:
    """Those of torch's worker loop, if this process was started for it."""
    processes: Any = sys.modules.get("multiprocessing.process")
    process: Any = processes.current_process() if processes else None
    target: Any = getattr(process, "_target", None)
    if getattr(target, "__name__", "") != "_worker_loop":
        return {}
    return {**dict(zip(target.__code__.co_varnames, process._args)), **process._kwargs}
