"""samples.py - how many samples a batch of torch's loader has.

That is the first dimension of its first tensor, if the loader stacks samples. Torch's own function does, and those of
Transformers. A function of the program may do something else: its batches have the size that the loader was given, and
the last one, which may be smaller, is known only if the batch before was seen to be stacked.
"""

from __future__ import annotations

from collections import UserDict
from typing import Any

from torch import Tensor
from torch.utils.data import BatchSampler

STACKING = ("torch.utils.data.", "transformers.")  # modules of functions that stack
MOST_LOOKS = 8


def _first_tensor(batch: Any, looks: list[None]) -> Any:
    """Looks at plain containers only: methods of the program's classes are not called."""
    looks.append(None)
    kinds = type(batch).__mro__
    if Tensor in kinds:
        return batch
    if UserDict in kinds:
        batch, kinds = batch.__dict__["data"], (dict,)
    items = dict.values(batch) if dict in kinds else batch if type(batch) in (list, tuple) else ()
    for item in items:
        if len(looks) == MOST_LOOKS:
            return None
        found = _first_tensor(item, looks)
        if found is not None:
            return found
    return None


class Samples:
    """Counts for the loops over one loader."""

    def __init__(self, size: int, is_stacked: bool) -> None:
        self.size, self.is_stacked = size, is_stacked
        self.was_full = False  # the batch before had the given size as its dimension

    def __call__(self, batch: Any, is_last: bool) -> int:
        """0: unknown."""
        shape: Any = getattr(_first_tensor(batch, []), "shape", ())
        found = shape[0] if shape else 0
        if found and (self.is_stacked or (is_last and self.was_full)):
            return int(found)
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
