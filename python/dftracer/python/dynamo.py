"""dynamo.py - records each operation of functions compiled by torch. Loads torch when something is compiled.

    @dynamo.compile
    def forward(self, x): ...

    model = torch.compile(model, backend=dftracer_dynamo_backend)
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, overload

from dftracer.python.ai_common import DFTracerAI
from dftracer.python.common import dftracer
from dftracer.python.env import native

if TYPE_CHECKING:
    from collections.abc import Callable

    from dftracer.python.values import P, R

CAT_DYNAMO = "dynamo"
TORCH_AVAILABLE = importlib.util.find_spec("torch") is not None


@dataclass
class CallStackRecord:
    """One operation of a compiled graph."""

    op_name: str
    op_type: str
    target: str
    timestamp_us: int
    grad_enabled: bool


def create_detailed_op_name(node: Any, gm: Any) -> str:
    """The name of a graph node's events."""
    if node.op == "call_module":
        path = str(node.target)
        return f"{path}.{type(gm.get_submodule(path)).__name__}_{path.replace('.', '_')}"
    if node.op == "call_method":
        return f"method.{node.target}"
    return f"function.{getattr(node.target, '__name__', None) or node.target}"


def _need_torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise RuntimeError(f"dftracer: PyTorch is not available: {error} (pip install torch)") from error


class Dynamo(DFTracerAI):
    """Records the operations of compiled functions; with `name`, as their argument `dynamo`.

    With `shapes`, also the shape and type of each result.
    """

    def __init__(
        self,
        name: str | None = None,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        enable: bool = True,
        shapes: bool = False,
    ) -> None:
        self._named = {"epoch": epoch, "step": step, "image_idx": image_idx, "image_size": image_size}
        super().__init__(cat=CAT_DYNAMO, name=name or CAT_DYNAMO, enable=enable, **self._named)
        self._enabled = enable
        self._shapes = shapes
        self._own = {"dynamo": name} if name else {}
        self.call_stack: list[CallStackRecord] = []

    def enable(self) -> None:
        """Starts recording."""
        self._enabled = True
        super().enable()

    def disable(self) -> None:
        """Stops recording."""
        self._enabled = False
        super().disable()

    def update(
        self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, args: Any = None
    ) -> Any:
        """Sets values of all operations, including those compiled later."""
        given = {"epoch": epoch, "step": step, "image_idx": image_idx, "image_size": image_size}
        self._named.update({key: value for key, value in given.items() if value is not None})
        return super().update(**given, args=args)

    def reset(self) -> Any:
        """Starts a new measurement and clears the list of operations."""
        self.call_stack.clear()
        return super().reset()

    def operation(self, name: str, args: dict[str, Any]) -> DFTracerAI:
        """The node of an operation in this subtree: one for each name with its arguments."""
        key = f"{name} {args}"
        node = self._children.get(key)
        if node is None:
            node = DFTracerAI(cat=CAT_DYNAMO, name=name, enable=self._enabled, **self._named)
            node.enable()
            node.update(args={**args, **self._own})
            if not self._enabled:
                node.disable()
            self._children[key] = node
        return node

    def backend(self, autograd: bool = True) -> Callable[..., Any]:
        """A backend for torch.compile that records with this object."""
        _need_torch()
        from dftracer.python.torch.graph import Backend

        return Backend(self, autograd)

    @overload
    def compile(self, f_py: Callable[P, R], autograd: bool = True) -> Callable[P, R]: ...

    @overload
    def compile(self, f_py: None = None, autograd: bool = True) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def compile(self, f_py: Any = None, autograd: bool = True) -> Any:
        """Compiles a function with events; returns the function itself while this object or tracing is off."""
        if f_py is None:
            return lambda function: self.compile(function, autograd=autograd)
        if not native._enabled or not self._enabled:
            return f_py
        backend = self.backend(autograd)
        import torch

        return torch.compile(f_py, backend=backend)

    def count_parameters(self, module: Any) -> int | None:
        """The number of parameters of a module; None if it is not a module."""
        parameters = getattr(module, "parameters", None)
        return sum(int(one.numel()) for one in parameters()) if callable(parameters) else None

    def note(self, record: CallStackRecord) -> None:
        """Notes that an operation became part of a compiled graph."""
        self.call_stack.append(record)
        dftracer.get_instance().mark_used("dynamo")


def create_backend(
    name: str | None = None,
    epoch: Any = None,
    step: Any = None,
    image_idx: Any = None,
    image_size: Any = None,
    enable: bool = True,
    autograd: bool = True,
    shapes: bool = False,
) -> Callable[..., Any]:
    """A backend for torch.compile with its own Dynamo."""
    return Dynamo(name, epoch, step, image_idx, image_size, enable, shapes).backend(autograd)


dynamo = Dynamo()


def dftracer_dynamo_backend(gm: Any, example_inputs: Any, **options: Any) -> Callable[..., Any]:
    """The backend of `dynamo`: torch.compile(model, backend=dftracer_dynamo_backend)."""
    return cast("Callable[..., Any]", dynamo.backend()(gm, example_inputs, **options))
