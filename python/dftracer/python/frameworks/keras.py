"""keras.py - fit, evaluate and predict of Keras with its torch backend. Other backends are not traced."""

from __future__ import annotations

import functools
import sys
from typing import Any

from dftracer.python.ai_init import ai
from dftracer.python.frameworks import session
from dftracer.python.frameworks.driving import driven, evaluated
from dftracer.python.frameworks.progress import progress
from dftracer.python.frameworks.torch import _stepped, is_no_model, patches
from dftracer.python.torch import training


def _epoch_begins(change: Any, _: Any, before: Any) -> Any:
    @functools.wraps(before)
    def traced(self: Any, epoch: int, *args: Any, **kwargs: Any) -> Any:
        progress.begin_epoch(epoch)
        return before(self, epoch, *args, **kwargs)

    return traced


def _epoch_ends(change: Any, _: Any, before: Any) -> Any:
    @functools.wraps(before)
    def traced(self: Any, epoch: int, logs: Any = None) -> Any:
        session.log(logs)
        return before(self, epoch, logs)

    return traced


def _looked(change: Any, _: Any, before: Any) -> Any:
    """Before it trains, Keras takes a batch to learn the shapes, and throws it away."""

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        progress.is_looking = True
        try:
            return before(*args, **kwargs)
        finally:
            progress.is_looking = False

    return traced


class Hooks:
    """Drives a call that is not patched: Python finds `model.fit` before it makes the callback, its argument."""

    drives = ""  # the kind of the call

    def _begin(self, kind: str) -> bool:
        if progress.drivers or not session.ready():
            return False
        self.drives = kind
        progress.drivers += 1
        return True

    def _end(self, kind: str) -> None:
        if self.drives == kind:
            self.drives = ""
            if kind == "train":
                progress.end_driving()
            else:
                progress.end_evaluation()
                progress.drivers -= 1

    def on_train_begin(self, logs: Any = None) -> None:
        self._begin("train")

    def on_train_end(self, logs: Any = None) -> None:
        self._end("train")

    def _evaluation_begins(self, logs: Any = None) -> None:
        if self._begin("evaluate"):
            progress.begin_evaluation()

    def _evaluation_ends(self, logs: Any = None) -> None:
        self._end("evaluate")

    on_test_begin = on_predict_begin = _evaluation_begins
    on_test_end = on_predict_end = _evaluation_ends

    def __del__(self) -> None:  # an exception left the call
        self._evaluation_ends()
        self.on_train_end()


def _exclude_layers(keras: Any) -> None:
    """A forward is the call of a model. To learn shapes, Keras calls it with symbols, or in a scope of its own."""
    scope: Any = sys.modules.get("keras.src.backend.common.stateless_scope")
    is_symbolic = getattr(scope, "in_stateless_scope", lambda: False)

    def is_other(module: Any, args: Any) -> bool:
        if not isinstance(module, keras.Layer):
            return False
        is_model = isinstance(module, keras.Model) and module.built
        return not is_model or is_symbolic() or any(isinstance(one, keras.KerasTensor) for one in args)

    is_no_model.append(is_other)


def patch(keras: Any) -> None:
    """After the import of keras."""
    if keras.backend.backend() != "torch":
        return
    _exclude_layers(keras)
    patches.add_method(keras.Model, "fit", None, driven)
    patches.add_method(keras.Model, "evaluate", None, evaluated)
    patches.add_method(keras.Model, "predict", None, evaluated)
    patches.add_method(keras.Model, "_symbolic_build", None, _looked)
    patches.add_method(keras.optimizers.Optimizer, "apply", ai.compute.step, _stepped)
    patches.add_method(keras.callbacks.CallbackList, "on_epoch_begin", None, _epoch_begins)
    patches.add_method(keras.callbacks.CallbackList, "on_epoch_end", None, _epoch_ends)
    saving: Any = sys.modules.get("keras.src.saving.saving_lib")
    for name in ("save_model", "save_weights_only"):
        if hasattr(saving, name):
            patches._add_function(saving, name, training._saved, ai.checkpoint.capture)
    for name in ("load_model", "load_weights_only"):
        if hasattr(saving, name):
            patches._add_function(saving, name, training._saved, ai.checkpoint.restart)
