"""ai_init.py - the tree of this process. Pickling or copying one of its nodes gives the same node again."""

from __future__ import annotations

import copyreg

from dftracer.python import ai_common
from dftracer.python.ai_common import AI, DFTracerAI

TYPE_CHECKING = False  # as in typing, which would take longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    # The short names, which are made below; type checkers need them here.
    compute: ai_common.Compute
    data: ai_common.Data
    dataloader: ai_common.DataLoader
    comm: ai_common.Communication
    device: ai_common.Device
    checkpoint: ai_common.Checkpoint
    pipeline: ai_common.Pipeline
    other: ai_common.Other

ai = AI()
globals().update(ai._children)


def _walk(node: DFTracerAI, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], DFTracerAI]]:
    yield path, node
    for key, child in node._children.items():
        yield from _walk(child, (*path, key))


def _node_at(path: tuple[str, ...]) -> DFTracerAI:
    node: DFTracerAI = ai
    for key in path:
        child = node._children.get(key)
        node = child if child is not None else node.derive(key[len(node.name) + 1 :])
    return node


def _reduce(node: DFTracerAI) -> Any:
    for path, known in _walk(ai):
        if known is node:
            return (_node_at, (path,))
    return node.__reduce_ex__(2)


_CLASSES: list[type] = [AI, *ai_common.CATEGORIES.values(), ai_common.IO, DFTracerAI]
for _class in _CLASSES:
    copyreg.pickle(_class, _reduce)


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return ["ai", *ai._children, *ai_common.__all__]
    return getattr(ai_common, name)
