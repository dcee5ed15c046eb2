"""lightning.py - Lightning's Trainer and Fabric, in both packages that have them.

A forward is a whole training_step or validation_step, whatever modules it calls; with manual optimization, which steps
within it, it is the calls of models. The Trainer gets a callback that knows epochs and evaluations. Fabric has plain
loops.
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

from dftracer.python.ai_init import ai
from dftracer.python.frameworks import session
from dftracer.python.frameworks.progress import progress
from dftracer.python.frameworks.torch import Forward, _replace_start, patches
from dftracer.python.torch import training


class Hooks:
    """What the callback does. If a trainer has several, the first one does it."""

    is_driving = False

    def _acts(self, trainer: Any) -> bool:
        first = next((one for one in trainer.callbacks if isinstance(one, Hooks)), None)
        return first is self and session.ready()

    def setup(self, trainer: Any, *_: Any, **__: Any) -> None:
        if self._acts(trainer) and not self.is_driving:
            self.is_driving = True
            progress.drivers += 1

    def _end(self) -> None:
        if self.is_driving:
            self.is_driving = False
            progress.end_evaluation()
            progress.end_driving()

    def teardown(self, *_: Any, **__: Any) -> None:
        self._end()

    def on_exception(self, *_: Any, **__: Any) -> None:
        self._end()

    def on_train_epoch_start(self, trainer: Any, *_: Any) -> None:
        if self._acts(trainer):
            progress.begin_epoch(trainer.current_epoch)

    def _begin_evaluation(self, trainer: Any, *_: Any) -> None:
        if self._acts(trainer):
            progress.begin_evaluation()

    def _end_evaluation(self, trainer: Any, *_: Any) -> None:
        if self._acts(trainer):
            progress.end_evaluation("test" if getattr(trainer, "testing", False) else "evaluate")

    on_validation_start = on_test_start = on_predict_start = _begin_evaluation
    on_validation_end = on_test_end = on_predict_end = _end_evaluation


@functools.cache
def callback_class(package: str) -> Any:
    """The callback for this package. Lightning pickles trainers to spawn ranks; theirs are made anew."""
    own = {"__module__": "dftracer.python.lightning", "__reduce__": lambda _: (new_callback, (package,))}
    return type("DFTracerCallback", (Hooks, importlib.import_module(package).Callback), own)


def new_callback(package: str) -> Any:
    """One of that class."""
    return callback_class(package)()


def callbacks(package: str = "lightning.pytorch") -> list[Any]:
    """Those that a new trainer gets."""
    return [new_callback(package)]


def _give_callback(trainer: Any, package: str) -> None:
    if not any(isinstance(one, Hooks) for one in trainer.callbacks):
        trainer.callbacks[:0] = callbacks(package)


def _computed(change: Any, name: str, before: Any) -> Any:
    """A step of the strategy is a forward."""

    @functools.wraps(before)
    def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        module = self.lightning_module
        if name == "training_step" and not module.automatic_optimization:
            return before(self, *args, **kwargs)
        with Forward(module):
            return before(self, *args, **kwargs)

    return traced


def _patch_trainer(package: Any) -> None:
    start = functools.partial(_replace_start, use=functools.partial(_give_callback, package=package.__name__))
    patches._use(package.Trainer, "__init__", start)
    patches.add_method(package.Trainer, "save_checkpoint", ai.checkpoint.capture, training._saved)
    strategy = sys.modules[f"{package.__name__}.strategies"].Strategy
    for name in ("training_step", "validation_step", "test_step", "predict_step"):
        patches.add_method(strategy, name, None, lambda change, _, before, name=name: _computed(change, name, before))
    patches.add_method(strategy, "batch_to_device", ai.device.transfer)
    connector: Any = sys.modules.get(f"{package.__name__}.trainer.connectors.logger_connector.logger_connector")
    patches.add_method(getattr(connector, "_LoggerConnector", None), "log_metrics", ai.other.log, session.logged)


def _patch_fabric(package: Any) -> None:
    patches.add_method(package.Fabric, "save", ai.checkpoint.capture, training._saved)
    patches.add_method(package.Fabric, "load", ai.checkpoint.restart, training._saved)
    patches.add_method(package.Fabric, "log_dict", ai.other.log, session.logged)
    for name in ("wrappers", "fabric"):  # its loaders move batches, and so does Fabric.to_device
        module: Any = sys.modules.get(f"{package.__name__}.{name}")
        if hasattr(module, "move_data_to_device"):
            patches._add_function(module, "move_data_to_device", training._recorded, ai.device.transfer)


def patch(package: Any) -> None:
    """After the import of lightning.pytorch, pytorch_lightning, lightning.fabric or lightning_fabric."""
    if hasattr(package, "Fabric"):
        _patch_fabric(package)
    if hasattr(package, "Trainer"):
        _patch_trainer(package)
