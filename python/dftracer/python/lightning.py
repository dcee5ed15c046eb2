"""lightning.py - the callback of a program that asks Lightning's Trainer to be traced.

    trainer = Trainer(callbacks=[DFTracerCallback()])

Without it, DFTRACER_ENABLE=1 does the same in a program that does not open a trace itself.
"""

from __future__ import annotations

import sys

from dftracer.python import frameworks
from dftracer.python.env import native

if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
    from pytorch_lightning import Callback
else:
    from lightning.pytorch import Callback


if native._enabled:
    from dftracer.python.frameworks.lightning import Hooks
else:

    class Hooks:  # type: ignore[no-redef]
        """Tracing is off: nothing to do."""


class DFTracerCallback(Hooks, Callback):
    """Records the training. Does nothing while tracing is off."""

    def __init__(self) -> None:
        super().__init__()
        frameworks.want()


__all__ = ["DFTracerCallback"]


