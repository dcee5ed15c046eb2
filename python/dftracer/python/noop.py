"""noop.py - replaces the native module while tracing is off."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which would take longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

RESULTS = {"get_time": 0, "get_config": "", "declare_entity": 0}  # all other calls return None


class NoOpProfiler:
    """Accepts every call of the native module and does nothing."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return lambda *_, **__: RESULTS.get(name)
