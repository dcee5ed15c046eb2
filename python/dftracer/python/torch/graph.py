"""graph.py - a backend of torch.compile that records each operation of a graph, and changes nothing else.

Each operation of the graph is replaced once by a function that does the same and records it. Then the graph runs as the
Python code that torch generates from it. With autograd these are the forward and backward graphs after AOT autograd;
without it, the captured graph.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

import torch
from dftracer.python.dynamo import CallStackRecord, create_detailed_op_name
from dftracer.python.env import native
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.backends.debugging import boxed_nop
from torch.fx import GraphModule

if TYPE_CHECKING:
    from collections.abc import Callable

    from dftracer.python.dynamo import Dynamo
    from torch.fx import Node

CALLS = ("call_function", "call_method", "call_module")


class Backend:
    """torch.compile calls it with each captured graph."""

    def __init__(self, owner: Dynamo, autograd: bool) -> None:
        self.owner = owner
        self.autograd = autograd
        self.__name__ = "dftracer"  # torch uses it in its messages

    def __call__(self, gm: GraphModule, example_inputs: Any, **_: Any) -> Callable[..., Any]:
        if not self.autograd:
            return self.record(gm, example_inputs) if native._enabled else cast("Callable[..., Any]", gm.forward)
        compiler = self.record_boxed if native._enabled else boxed_nop  # without AOT autograd the graph would be wrong
        return cast("Callable[..., Any]", aot_autograd(fw_compiler=compiler, bw_compiler=compiler)(gm, example_inputs))

    def record_boxed(self, gm: GraphModule, example_inputs: Any) -> Callable[..., Any]:
        """For AOT autograd, which passes its arguments as one list."""
        forward = self.record(gm, example_inputs)

        def boxed(arguments: list[Any]) -> Any:
            return forward(*arguments)

        boxed._boxed_call = True  # type: ignore[attr-defined]
        return boxed

    def record(self, gm: GraphModule, _: Any) -> Callable[..., Any]:
        """A copy of the graph whose operations are recorded."""
        graph = GraphModule(gm, copy.deepcopy(gm.graph))  # torch keeps the original unchanged
        for node in graph.graph.nodes:
            if node.op in CALLS:
                self.replace(node, graph)
        graph.recompile()
        return cast("Callable[..., Any]", graph.forward)

    def replace(self, node: Node, graph: GraphModule) -> None:
        """Replaces the target of the node by a recording function."""
        name = create_detailed_op_name(node, graph)
        record = CallStackRecord(name, node.op, str(node.target), native.get_time(), torch.is_grad_enabled())
        args = describe(node) if self.owner._shapes else {}
        plain, training = (
            native._wrap(self.owner.operation(name, {"grad_enabled": grad, **args}).profiler, work(node, graph))
            for grad in (0, 1)
        )
        is_grad_enabled = torch.is_grad_enabled

        def operation(*values: Any, **named: Any) -> Any:
            return (training if is_grad_enabled() else plain)(*values, **named)

        node.op = "call_function"
        node.target = operation
        self.owner.note(record)


def work(node: Node, graph: GraphModule) -> Callable[..., Any]:
    """What the node does, as a function."""
    target: Any = node.target
    if node.op == "call_module":
        return cast("Callable[..., Any]", graph.get_submodule(target))
    if node.op == "call_method":
        return lambda subject, *values, **named: getattr(subject, target)(*values, **named)
    return cast("Callable[..., Any]", target)


def describe(node: Node) -> dict[str, str]:
    """Shape and type of the node's result as text, such as 8x3x32x32 and float32."""
    value = node.meta.get("val", node.meta.get("example_value"))
    tensors = [one for one in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(one, torch.Tensor)]
    if not tensors:
        return {}
    shapes = ",".join("x".join(map(str, one.shape)) or "scalar" for one in tensors)
    return {"shape": shapes, "dtype": ",".join(str(one.dtype).removeprefix("torch.") for one in tensors)}
