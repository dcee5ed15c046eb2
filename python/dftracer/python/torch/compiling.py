"""compiling.py - the time in which torch compiles, apart from the forward or backward that caused it.

Torch tells when it begins and ends to compile. Meanwhile the events of compute that are open are suspended: they begin
anew afterwards, so that the first forward of a compiled model is as long as the others.
"""

from __future__ import annotations

import sys
from typing import Any

from dftracer.python.common import dft_fn
from dftracer.python.env import native

_event: Any = None
_users = 0


def _begin(*_: Any) -> None:
    global _event
    if _users:
        native._suspend("compute")
        _event = dft_fn("dynamo", "compile")
        _event.__enter__()


def _end(*_: Any) -> None:
    global _event
    if _event is not None:
        _event.__exit__(None, None, None)
        _event = None
        native._resume("compute")


def watch() -> None:
    """Before a forward: torch may have loaded its compiler, or have dropped its callbacks, since the last one."""
    module: Any = sys.modules.get("torch._dynamo.callback")
    handler: Any = getattr(module, "callback_handler", None)
    begins = getattr(handler, "start_callbacks", None)
    if isinstance(begins, list) and _begin not in begins:
        begins.append(_begin)
        handler.end_callbacks.append(_end)


def use(more: int) -> None:
    """Counts who wants it."""
    global _users
    _users += more
