"""hook.py - the hooks by which a model's forward is recorded, and what is compiled as one graph is not."""

from __future__ import annotations

import contextlib
import multiprocessing.context
import sys
from typing import TYPE_CHECKING, Any

from dftracer.python.ai_init import ai
from torch.compiler import is_compiling

if TYPE_CHECKING:
    from collections.abc import Callable


def _must_be_whole() -> bool:
    """Whether the graph that torch is compiling may not be cut, as by a call that it cannot compile."""
    current = sys.modules["torch._dynamo.symbolic_convert"].InstructionTranslator.current_tx()
    return bool(getattr(current, "one_graph", True) or getattr(current, "error_on_graph_break", False))


# Asked while it is compiled: what torch.compiler.assume_constant_result does, without loading the compiler.
_must_be_whole._dynamo_marked_constant = True  # type: ignore[attr-defined]


def cuts_a_graph() -> bool:
    """Whether an event would cut a graph that must be whole."""
    return is_compiling() and _must_be_whole()


class Hook:
    """Saved with a model, it becomes a function of the library that does nothing, so that the model loads where this
    package is not; a process that is being started gets the hook itself."""

    def __init__(self, name: str, call: Callable[[], None]) -> None:
        self.name = name
        self.call = call

    def __call__(self, *_: Any) -> None:
        if not cuts_a_graph():
            self.call()

    def __reduce__(self) -> Any:
        if multiprocessing.context.get_spawning_popen() is not None:
            return self.name
        return getattr, (contextlib.nullcontext(), "__exit__")

    def __deepcopy__(self, _: Any) -> Hook:
        return self


forward_begins = Hook("forward_begins", ai.compute.forward.start)
forward_ends = Hook("forward_ends", ai.compute.forward.stop)
