"""driving.py - methods of a framework that tells epochs and evaluations itself."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from dftracer.python.frameworks.progress import progress

if TYPE_CHECKING:
    from dftracer.python.torch.change import Change


def driven(change: Change, _: Any, before: Any) -> Any:
    """A method that trains: the framework tells epochs and evaluations in it."""

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        progress.drivers += 1
        try:
            return before(*args, **kwargs)
        finally:
            progress.end_driving()

    return traced


def evaluated(change: Change, _: Any, before: Any) -> Any:
    """A method that evaluates."""

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        progress.drivers += 1
        progress.begin_evaluation()
        try:
            return before(*args, **kwargs)
        finally:
            progress.end_evaluation()
            progress.drivers -= 1

    return traced
