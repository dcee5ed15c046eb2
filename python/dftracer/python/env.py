"""env.py - the switches of the Python layer, read at the import; and the native module, or its replacement."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in typing, which would take longer to import than all the rest
if TYPE_CHECKING:
    import logging

DFTRACER_ENABLE_ENV = "DFTRACER_ENABLE"
DFTRACER_INIT_ENV = "DFTRACER_INIT"
DFTRACER_LOG_LEVEL_ENV = "DFTRACER_LOG_LEVEL"
DFTRACER_TIME_METRIC_ENV = "DFTRACER_TIME_METRIC"

WHY_ABSENT = ""
try:
    import dftracer.dftracer as _module

    DFTRACER_ENABLE: bool = _module._enabled
except ImportError as error:
    from dftracer.python import absent as _module  # type: ignore[no-redef]

    WHY_ABSENT = str(error)
    DFTRACER_ENABLE = os.environ.get(DFTRACER_ENABLE_ENV, "0").strip().lower() in ("1", "true", "on", "yes")
native = _module
DFTRACER_INIT_PRELOAD: bool = os.environ.get(DFTRACER_INIT_ENV, "PRELOAD") == "PRELOAD"
DFTRACER_LOG_LEVEL: str = os.environ.get(DFTRACER_LOG_LEVEL_ENV, "ERROR")

LOGGER_NAME = "DFTRACER"


def setup_stream_logger() -> logging.Logger:
    """The logger named DFTRACER, with one handler to stderr, no matter how often this is called."""
    import logging

    logger = logging.getLogger(LOGGER_NAME)
    levels = {"ERROR": logging.ERROR, "WARN": logging.WARNING, "INFO": logging.INFO, "DEBUG": logging.DEBUG}
    logger.setLevel(levels.get(DFTRACER_LOG_LEVEL.upper(), logging.ERROR))
    if not logger.handlers:

        class Handler(logging.StreamHandler):  # type: ignore[type-arg]
            """To what sys.stderr is at each message: pytest puts streams there, and closes them."""

            def emit(self, record: logging.LogRecord) -> None:
                if sys.stderr is not None and not getattr(sys.stderr, "closed", False):
                    self.stream = sys.stderr
                    super().emit(record)

        handler = Handler()
        handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
        logger.addHandler(handler)
    return logger
