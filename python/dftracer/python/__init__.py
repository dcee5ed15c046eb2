"""dftracer.python - annotate a Python program: what it did, when, and on which thread.

    from dftracer.python import ai, dft_fn, dftracer

    log = dftracer.initialize_log("out/trace.pfw", data_dir="data")
    with ai.compute.forward:
        ...
    log.finalize()

`ai`, `dynamo` and `logger` are modules of this package. As attributes of the package they are the objects of these
names. Names that need torch or logging are loaded at their first use.
"""

from __future__ import annotations

import sys
import types

from dftracer.python import ai_common as _ai_common
from dftracer.python import ai_init as _ai_init
from dftracer.python import common as _common
from dftracer.python import env as _env

TYPE_CHECKING = False  # as in typing, which would take longer to import than all the rest
if TYPE_CHECKING:
    import logging
    from typing import Any

    from dftracer.python.ai_common import *  # noqa: F403
    from dftracer.python.ai_events import *  # noqa: F403
    from dftracer.python.ai_init import *  # noqa: F403
    from dftracer.python.common import *  # noqa: F403
    from dftracer.python.dynamo import Dynamo as Dynamo
    from dftracer.python.dynamo import create_backend as create_backend
    from dftracer.python.dynamo import dftracer_dynamo_backend as dftracer_dynamo_backend
    from dftracer.python.dynamo import dynamo as dynamo
    from dftracer.python.values import *  # noqa: F403

    __version__: str
    logger: logging.Logger

# Loaded at the first use: the module, and its names in this package.
_LATE = {
    "ai_events": _ai_common.ENUMERATIONS,
    "dynamo": ["Dynamo", "create_backend", "dftracer_dynamo_backend", "dynamo"],
    "values": [name for name in _common.__all__ if name not in vars(_common)],
}
_MODULE_OF = {name: module for module, names in _LATE.items() for name in names}
_NAMES = {
    **{name: getattr(_ai_common, name) for name in _ai_common._OWN},
    **{name: vars(_common)[name] for name in _common.__all__ if name in vars(_common)},
    "ai": _ai_init.ai,
    **_ai_init.ai._children,
}
globals().update(_NAMES)


class _Package(types.ModuleType):
    """Keeps the objects ai, dynamo and logger in place of the modules of these names, and loads slow modules late."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("ai", "dynamo", "logger") and isinstance(value, types.ModuleType):
            return
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name == "logger":
            value: Any = _env.setup_stream_logger()
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
__import__("dftracer.python.logger")  # programs look for it in sys.modules; an import statement would bind the name

if _env.DFTRACER_ENABLE and not _env.native._enabled:
    if _env.DFTRACER_LOG_LEVEL.upper() in ("WARN", "INFO", "DEBUG"):
        _env.setup_stream_logger().warning("tracing is enabled but not available: %s", _env.WHY_ABSENT)
elif _env.DFTRACER_LOG_LEVEL.upper() in ("INFO", "DEBUG"):
    _state = "enabled" if _env.DFTRACER_ENABLE else "not enabled (DFTRACER_ENABLE)"
    _env.setup_stream_logger().info("tracing is %s", _state)

__all__ = sorted(["__version__", "logger", *_NAMES, *_MODULE_OF])
