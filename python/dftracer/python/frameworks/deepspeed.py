"""deepspeed.py - DeepSpeed brackets what it does by ranges of its accelerator: each becomes an event.

Its engine is a module and its loader torch's, so the rest is that of a plain loop. A checkpoint is one event, whatever
files it has.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from dftracer.python.ai_init import ai
from dftracer.python.common import dft_fn
from dftracer.python.frameworks.progress import progress
from dftracer.python.frameworks.torch import patches
from dftracer.python.torch import training


class _Ranges(threading.local):
    def __init__(self) -> None:
        self.open: list[Any] = []


_ranges = _Ranges()


def _pushed(change: Any, _: Any, before: Any) -> Any:
    @functools.wraps(before)
    def traced(self: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
        values = {"epoch": progress.epoch, "step": progress.step}
        known: dict[str, Any] = values if progress.epoch >= 0 else {}
        event = dft_fn("deepspeed", str(name), **known)
        event.__enter__()
        _ranges.open.append(event)
        return before(self, name, *args, **kwargs)

    return traced


def _popped(change: Any, _: Any, before: Any) -> Any:
    @functools.wraps(before)
    def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _ranges.open:
            _ranges.open.pop().__exit__(None, None, None)
        return before(self, *args, **kwargs)

    return traced


def patch(deepspeed: Any) -> None:
    """After the import of deepspeed, which has chosen its accelerator."""
    kind = type(deepspeed.accelerator.get_accelerator())
    patches.add_method(kind, "range_push", None, _pushed)
    patches.add_method(kind, "range_pop", None, _popped)
    for name in ("save_checkpoint", "save_16bit_model"):
        patches.add_method(deepspeed.DeepSpeedEngine, name, ai.checkpoint.capture, training._saved)
    patches.add_method(deepspeed.DeepSpeedEngine, "load_checkpoint", ai.checkpoint.restart, training._saved)
