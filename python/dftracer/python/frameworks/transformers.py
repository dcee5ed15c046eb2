"""transformers.py - the Trainer of Hugging Face. A checkpoint is one event, whatever files it has."""

from __future__ import annotations

import functools
from typing import Any

from dftracer.python.ai_init import ai
from dftracer.python.frameworks import session
from dftracer.python.frameworks.driving import driven, evaluated
from dftracer.python.frameworks.progress import progress
from dftracer.python.frameworks.torch import patches
from dftracer.python.torch import training


def _epoch_begins(change: Any, _: Any, before: Any) -> Any:
    @functools.wraps(before)
    def traced(self: Any, args: Any, state: Any, *others: Any, **kwargs: Any) -> Any:
        progress.begin_epoch(int(state.epoch or 0))
        return before(self, args, state, *others, **kwargs)

    return traced


def _prepared(change: Any, node: Any, before: Any) -> Any:
    """What moves a batch to the device, unless its loader did: that of the Trainer is Accelerate's."""
    recorded = training._recorded(change, node, before)

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        return (before if progress.has_moved_batch() else recorded)(*args, **kwargs)

    return traced


def patch(module: Any) -> None:
    """After the import of transformers.trainer."""
    trainer = module.Trainer
    patches.add_method(trainer, "train", None, driven)
    patches.add_method(trainer, "evaluation_loop", None, evaluated)
    patches.add_method(trainer, "_save_checkpoint", ai.checkpoint.capture, training._saved)
    patches.add_method(trainer, "save_model", ai.checkpoint.capture, training._saved)
    patches.add_method(trainer, "_load_from_checkpoint", ai.checkpoint.restart, training._saved)
    patches.add_method(trainer, "_prepare_inputs", ai.device.transfer, _prepared)
    patches.add_method(trainer, "log", ai.other.log, session.logged)
    patches.add_method(module.CallbackHandler, "on_epoch_begin", None, _epoch_begins)
