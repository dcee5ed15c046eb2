"""accelerate.py - for a program that asks Accelerate to be traced.

    accelerator = trace(Accelerator())

Without it, DFTRACER_ENABLE=1 does the same in a program that does not open a trace itself.
"""

from __future__ import annotations

from typing import TypeVar

from dftracer.python import frameworks

T = TypeVar("T")


def trace(accelerator: T) -> T:
    """Records trainings of this process from now on; returns its argument. Does nothing while tracing is off."""
    frameworks.want()
    return accelerator


__all__ = ["trace"]
