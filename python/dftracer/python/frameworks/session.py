"""session.py - whether frameworks are recorded in this process; opens the trace at the first event of one.

A program that annotates itself is left alone: its own events are what it wants. It does so if it has opened a trace,
has used an annotation, or holds a name of dftracer in one of its modules. DFTRACER_FRAMEWORKS overrides that.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dftracer.python import common, process
from dftracer.python.ai_init import ai
from dftracer.python.env import native
from dftracer.start import ANNOTATED

if TYPE_CHECKING:
    from collections.abc import Callable

is_wanted = os.environ.get(process.FRAMEWORKS, ANNOTATED) not in ("", ANNOTATED)
is_open = False  # the trace was opened here
at_silence: list[Callable[[], None]] = []  # takes the patches back
_is_on: bool | None = None  # None: not decided yet
_deciding = threading.RLock()  # of the first event; those of other threads wait until the trace is open
_is_deciding = False
os.register_at_fork(after_in_child=_deciding._at_fork_reinit)  # type: ignore[attr-defined]


def ready() -> bool:
    """Before an event of a framework: whether to record it."""
    return _decide() if _is_on is None else _is_on


def _decide() -> bool:
    global _is_on, _is_deciding
    with _deciding:
        if _is_on is None and not _is_deciding:
            _is_deciding = True  # what follows may call a patched function
            try:
                is_on = _open()
            except Exception as error:
                tell_failure("this program", error)
                is_on = False
            _is_on, _is_deciding = is_on, False
    return _is_on is not False


def _open() -> bool:
    """Whether to record; then a trace is open."""
    global is_open
    if process.PARENT in os.environ and int(os.environ[process.PARENT] or 0) != os.getpid():
        return True  # the core opens the trace of a child
    if not is_wanted and _is_annotated():
        silence()
        return False
    if not native.get_time():
        is_open = True
        common.dftracer._open(None if os.environ.get("DFTRACER_LOG_FILE") else f"traces/{_script()}")
    return True


def silence() -> None:
    """From now on nothing is recorded here."""
    global _is_on
    _is_on = False
    while at_silence:
        at_silence.pop()()


def resume() -> bool:
    """Whether the program changed its mind: it wants what was silenced."""
    global _is_on
    was_silent = _is_on is False
    if was_silent:
        _is_on = None
    return was_silent


def joined() -> None:
    """The program has called initialize_log."""
    if _is_on and not is_wanted:
        silence()


def annotated() -> bool:
    """The program calls trace(): what is patched here records beside it if that was asked for, and else never will."""
    if not is_wanted and _is_on is not False:
        silence()
    return is_wanted


def _is_annotated() -> bool:
    was_missed = native._exchange_missed(False)
    if native.get_time() or process.is_annotated or was_missed:
        native._exchange_missed(was_missed)
        return True
    names = (ai, *ai._children.values(), common.dft_fn, common.dftracer, sys.modules["dftracer.python"])
    known = {id(one) for one in names}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in _OTHERS and _holds(module, known):
            return True
    return False


def _holds(module: Any, known: set[int]) -> bool:
    return any(id(one) in known for one in list(getattr(module, "__dict__", {}).values()))


_OTHERS = {*getattr(sys, "stdlib_module_names", ()), "dftracer", "torch", "numpy"} - {"__main__"}


def _script() -> str:
    """The name of the program, as the name of its trace."""
    path = sys.argv[0] if sys.argv else ""
    name = os.path.splitext(os.path.basename(path))[0]
    if name == "__main__":
        name = os.path.basename(os.path.dirname(path))
    if name == "ipykernel_launcher" or "ipykernel" in sys.modules:
        name = "notebook"
    return name if name and not name.startswith("-") else "python"


def tell_failure(what: str, error: Exception) -> None:
    """Once for each kind: the program goes on without these events."""
    if what not in _told:
        _told.add(what)
        print(f"dftracer: {what} is not recorded: {type(error).__name__}: {error}", file=sys.stderr)


_told: set[str] = set()


def logged(change: Any, node: Any, before: Any) -> Any:
    """A method that logs scalars, which are its first argument; programs may give it by its name."""

    @functools.wraps(before)
    def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        names = ("values", "metrics", "logs")
        log(args[0] if args else next((kwargs[name] for name in names if name in kwargs), None))
        with node:
            return before(self, *args, **kwargs)

    return traced


def log(values: Any) -> None:
    """Scalars that a framework logs become counters."""
    for name, value in dict(values if isinstance(values, Mapping) else {}).items():
        try:
            if not isinstance(value, str):
                native._log_counter(str(name), "metric", float(value))
        except Exception:
            continue  # a list, a tensor of several values: not a number
