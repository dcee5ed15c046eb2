"""transformers.py - the callback of a program that asks the Trainer of Hugging Face to be traced.

    trainer = Trainer(..., callbacks=[DFTracerCallback()])

Without it, DFTRACER_ENABLE=1 does the same in a program that does not open a trace itself.
"""

from __future__ import annotations

from dftracer.python import frameworks
from transformers import TrainerCallback


class DFTracerCallback(TrainerCallback):
    """Records the training: the Trainer is patched, so this has no hooks. Does nothing while tracing is off."""

    def __init__(self) -> None:
        super().__init__()
        frameworks.want()


__all__ = ["DFTracerCallback"]
