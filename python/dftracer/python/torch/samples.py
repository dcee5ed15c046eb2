"""samples.py - how many samples a batch of torch's loader has.

That is the first dimension of its first tensor, however deep in it, if the loader stacks samples. Without a tensor it
is the length of its first list, of numbers or texts. Torch's own function stacks, and those of Transformers do. A
function of the program may do something else: its batches have the size that the loader was given, and the last one,
which may be smaller, is known only if the batch before was seen to be stacked.
"""

from __future__ import annotations

from collections import UserDict
from typing import Any

from torch import Tensor
from torch.utils.data import BatchSampler

STACKING = ("torch.utils.data.", "transformers.")  # modules of functions that stack
MOST_LOOKS = 100


def _parts(batch: Any) -> Any:
    """What a container holds, without methods of the program's classes; None: it is no container."""
    kinds = type(batch).__mro__
    if UserDict in kinds:
        batch, kinds = object.__getattribute__(batch, "__dict__").get("data"), (dict,)
    if dict in kinds and isinstance(batch, dict):
        return list(dict.values(batch))
    for kind in (list, tuple):
        if kind in kinds:
            return kind.__getitem__(batch, slice(None))
    fields = next((vars(kind)["__dataclass_fields__"] for kind in kinds if "__dataclass_fields__" in vars(kind)), None)
    return [object.__getattribute__(batch, name) for name in fields] if fields else None


def _size_of(batch: Any) -> int:
    """The first dimension of the first tensor, or without one the length of the first list. 0: unknown."""
    length, left = 0, [batch]
    for _ in range(MOST_LOOKS):
        if not left:
            break
        part = left.pop()
        if Tensor in type(part).__mro__:
            if part.shape:
                return int(part.shape[0])
            continue
        parts = _parts(part)
        if parts and type(part) is list and Tensor not in type(parts[0]).__mro__ and _parts(parts[0]) is None:
            length = length or len(parts)  # of numbers or texts
        elif parts:
            left += parts[:MOST_LOOKS][::-1]
    return length


class Samples:
    """Counts for the loops over one loader."""

    def __init__(self, size: int, is_stacked: bool) -> None:
        self.size, self.is_stacked = size, is_stacked
        self.was_full = False  # the batch before had the given size as its dimension

    def __call__(self, batch: Any, is_last: bool) -> int:
        """0: unknown."""
        found = _size_of(batch)
        if found and (self.is_stacked or (is_last and self.was_full)):
            return found
        self.was_full = found == self.size
        return 0 if is_last else self.size


def samples_of(loader: Any, has_length: bool) -> Samples | None:
    """`loader` may be an iterator of torch's. None: it makes no batches, or is of an unknown kind."""
    sampler = getattr(loader, "batch_sampler", None)
    if sampler is None and getattr(loader, "_auto_collation", False):
        sampler = loader._index_sampler
    if sampler is None:
        return None
    collate = getattr(loader, "collate_fn", None) or getattr(loader, "_collate_fn", None)
    is_stacked = str(getattr(collate, "__module__", "")).startswith(STACKING)
    is_in_order = getattr(loader, "in_order", getattr(loader, "_in_order", True))
    is_regular = has_length and is_in_order and type(sampler) is BatchSampler and hasattr(sampler.sampler, "__len__")
    return Samples(sampler.batch_size if is_regular else 0, is_stacked)
