"""keras.py - the callback of a program that asks Keras, with its torch backend, to be traced.

    model.fit(..., callbacks=[DFTracerCallback()])

Without it, DFTRACER_ENABLE=1 does the same in a program that does not open a trace itself.
"""

from __future__ import annotations

import keras
from dftracer.python import frameworks


class DFTracerCallback(keras.callbacks.Callback):
    """Records the training: Keras is patched, so this has no hooks. Does nothing while tracing is off.

    Make it before you call fit: what has begun by then is not recorded.
    """

    def __init__(self) -> None:
        super().__init__()
        frameworks.want()


__all__ = ["DFTracerCallback"]
