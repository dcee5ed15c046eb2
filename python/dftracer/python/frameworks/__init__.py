"""frameworks - records trainings of programs that were not changed: each framework is patched when it is imported.

`patch` is called by dftracer.start. session.py decides whether to record, and opens the trace; progress.py knows the
epoch and the step; one module a framework says what is replaced in it.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from dftracer.python.env import native, setup_stream_logger
from dftracer.start import ANNOTATED, start

NAMES = ("torch", "accelerate", "lightning", "transformers", "keras", "deepspeed")


def chosen() -> tuple[str, ...]:
    """What DFTRACER_FRAMEWORKS names; all by default."""
    words = native.get_config("DFTRACER_FRAMEWORKS").replace(",", " ").lower().split()
    for word in words:
        if word not in (*NAMES, "all", "none", ANNOTATED):
            setup_stream_logger().error("dftracer: DFTRACER_FRAMEWORKS: no framework %r; there are %s", word, NAMES)
    return NAMES if not words or words == [ANNOTATED] or "all" in words else tuple(words)


def patch(framework: str, module: Any) -> None:
    """After the import of a module of a framework. Torch is patched for the others, too: they are built on it."""
    if not native._enabled:
        return
    names = chosen()
    if framework in names or (framework == "torch" and "none" not in names):
        importlib.import_module(f"{__name__}.{framework}").patch(module)


def want() -> None:
    """The program asks for it by one of the callbacks: patches what is imported, and stays when it opens a trace."""
    if native._enabled:
        from dftracer.python.frameworks import session

        session.is_wanted = True
        start(is_wanted=True, again=session.resume())
        if "torch" in sys.modules:
            importlib.import_module(f"{__name__}.torch").add_existing()
