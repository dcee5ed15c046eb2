"""dftracer.logger - the import path of older versions: everything of dftracer.python."""

from __future__ import annotations

import dftracer.python as _current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from dftracer.python import *  # noqa: F403
    from dftracer.python import ai as ai  # mypy does not pass on what was imported by a star
    from dftracer.python import dft_fn as dft_fn
    from dftracer.python import dftracer as dftracer

globals().update({name: value for name, value in vars(_current).items() if not name.startswith("__")})
__all__ = _current.__all__


def __getattr__(name: str) -> Any:
    return getattr(_current, name)
