"""keras.py - the callback of a program that asks Keras, with its torch backend, to be traced.

    model.fit(..., callbacks=[DFTracerCallback()])

Without it, DFTRACER_ENABLE=1 does the same in a program that does not open a trace itself.
"""

from __future__ import annotations

import keras
from dftracer.python import frameworks
from dftracer.python.env import native

if native._enabled:
    from dftracer.python.frameworks.keras import Hooks
else:

    class Hooks:  # type: ignore[no-redef]
        """Tracing is off: nothing to do."""


class DFTracerCallback(Hooks, keras.callbacks.Callback):
    """Records the training. Does nothing while tracing is off."""

    def __init__(self) -> None:
        super().__init__()
        frameworks.want()


__all__ = ["DFTracerCallback"]
