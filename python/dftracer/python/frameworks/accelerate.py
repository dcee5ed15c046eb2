"""accelerate.py - loaders that Accelerate makes of others, and what its Accelerator saves and logs."""

from __future__ import annotations

import functools
from typing import Any

from dftracer.python.ai_init import ai
from dftracer.python.frameworks import session
from dftracer.python.frameworks.progress import progress
from dftracer.python.frameworks.torch import patches
from dftracer.python.torch import loaders, training


def _moved(change: Any, node: Any, before: Any) -> Any:
    """What moves a batch to the device, within its fetch."""
    recorded = training._recorded(change, node, before)

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        progress.loader_moves_batch()
        return recorded(*args, **kwargs)

    return traced


def patch(module: Any) -> None:
    """After the import of accelerate.data_loader or accelerate.accelerator."""
    if module.__name__ == "accelerate.data_loader":
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and issubclass(kind, module.DataLoaderAdapter) and "__iter__" in vars(kind):
                loaders.add_class(kind, patches._use)
        if hasattr(module, "send_to_device"):
            patches._add_function(module, "send_to_device", _moved, ai.device.transfer)
        return
    for name in ("save_state", "save_model"):
        patches.add_method(module.Accelerator, name, ai.checkpoint.capture, training._saved)
    patches.add_method(module.Accelerator, "load_state", ai.checkpoint.restart, training._saved)
    patches.add_method(module.Accelerator, "log", ai.other.log, session.logged)
