"""logger.py - the names of common and env under the module name of older versions, looked up at their first use."""

from __future__ import annotations

from dftracer.python.common import __all__ as _common

TYPE_CHECKING = False  # as in typing, which would take longer to import than all the rest
if TYPE_CHECKING:
    import logging
    from typing import Any

    from dftracer.python.common import *  # noqa: F403
    from dftracer.python.env import *  # noqa: F403

    logger: logging.Logger

__all__ = [*_common, "logger"]


def __getattr__(name: str) -> Any:
    from dftracer.python import common

    if name == "logger":
        return common.setup_stream_logger()
    if name in __all__:
        return getattr(common, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
