"""ai_common.py - the classes, enumerations and names of the ai tree."""

from __future__ import annotations

from dftracer.python.env import native as _native

TYPE_CHECKING = False  # as in typing, which would take longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any

    from dftracer.dftracer import DFTracerAI as DFTracerAI  # a class to type checkers, which `native` may not have
else:
    DFTracerAI = _native.DFTracerAI

CTX_SEPARATOR = "."
ROOT_NAME = "ai_root"
ROOT_CAT = "ai_root"
INIT_NAME = "init"
BLOCK_NAME = "block"
ITER_NAME = "iter"
ITER_COUNT_NAME = "count"
START_METADATA_NAME = "start"
STOP_METADATA_NAME = "end"


def _with_suffix(name: str, suffix: str) -> str:
    ending = CTX_SEPARATOR + suffix
    return name if name.endswith(ending) else name + ending


def get_iter_block_name(name: str) -> str:
    """The name of the events for the bodies of a loop."""
    return _with_suffix(name, BLOCK_NAME)


def get_iter_handle_name(name: str) -> str:
    """The name of the events for fetching the items of a loop."""
    return _with_suffix(name, ITER_NAME)


def _annotations(category: type) -> dict[str, str]:
    found: dict[str, str] = category.__dict__.get("__annotations__") or category.__annotations__
    return found


def events_of(category: type) -> list[str]:
    """The events of a class below: its attributes that are plain nodes."""
    return [name for name, kind in _annotations(category).items() if kind == "DFTracerAI"]


class _Category(DFTracerAI):
    """A category. Its events are its children and have the names of the attributes."""

    CAT = ""

    def __init__(
        self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, enable: bool = True
    ) -> None:
        values = {"epoch": epoch, "step": step, "image_idx": image_idx, "image_size": image_size}
        super().__init__(cat=self.CAT, name=self.CAT, enable=enable, **values)
        self.create_children({event: self.event_name(event) for event in events_of(type(self))})

    def event_name(self, event: str) -> str:
        """The name of the events of this child."""
        return event

    def adopt(self, attribute: str, child: DFTracerAI) -> None:
        """Adds a node that is made elsewhere to the subtree."""
        self._children[attribute] = child
        setattr(self, attribute, child)


class IO(DFTracerAI):
    """I/O of one category: <parent>.io, with open, read, write and close."""

    open: DFTracerAI
    read: DFTracerAI
    write: DFTracerAI
    close: DFTracerAI

    def __init__(
        self,
        *,
        cat: str,
        parent_name: str,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        enable: bool = True,
    ) -> None:
        name = f"{parent_name}{CTX_SEPARATOR}io"
        super().__init__(
            cat=cat, name=name, epoch=epoch, step=step, image_idx=image_idx, image_size=image_size, enable=enable
        )
        self.create_children({event: f"{name}{CTX_SEPARATOR}{event}" for event in events_of(IO)})


class _CategoryWithIO(_Category):
    io: IO

    def __init__(
        self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, enable: bool = True
    ) -> None:
        super().__init__(epoch, step, image_idx, image_size, enable)
        self.adopt(
            "io",
            IO(
                cat=self.CAT,
                parent_name=self.CAT,
                epoch=epoch,
                step=step,
                image_idx=image_idx,
                image_size=image_size,
                enable=enable,
            ),
        )


class Compute(_Category):
    """Computation of the model."""

    CAT = "compute"
    forward: DFTracerAI
    backward: DFTracerAI
    step: DFTracerAI


class Data(_CategoryWithIO):
    """Samples and their preprocessing."""

    CAT = "data"
    preprocess: DFTracerAI
    item: DFTracerAI


class DataLoader(_Category):
    """Batches."""

    CAT = "dataloader"
    fetch: DFTracerAI


class Communication(_Category):
    """Communication between processes."""

    CAT = "comm"
    send: DFTracerAI
    receive: DFTracerAI
    barrier: DFTracerAI
    bcast: DFTracerAI
    reduce: DFTracerAI
    all_reduce: DFTracerAI
    gather: DFTracerAI
    all_gather: DFTracerAI
    scatter: DFTracerAI
    reduce_scatter: DFTracerAI
    all_to_all: DFTracerAI


class Device(_Category):
    """Transfers between host and device."""

    CAT = "device"
    transfer: DFTracerAI


class Checkpoint(_CategoryWithIO):
    """Saving and restoring the model."""

    CAT = "checkpoint"
    capture: DFTracerAI
    restart: DFTracerAI


class Pipeline(_Category):
    """The phases of a run."""

    CAT = "pipeline"
    epoch: DFTracerAI
    train: DFTracerAI
    evaluate: DFTracerAI
    test: DFTracerAI


class Other(_CategoryWithIO):
    """Everything else."""

    CAT = "other"
    log: DFTracerAI

    def event_name(self, event: str) -> str:
        """other.log, not log."""
        return f"{self.CAT}{CTX_SEPARATOR}{event}"


class AI(_Category):
    """The tree. Each category has a line here; nodes, short names and enumerations all follow from these lines."""

    CAT = ROOT_CAT
    compute: Compute
    data: Data
    dataloader: DataLoader
    comm: Communication
    device: Device
    checkpoint: Checkpoint
    pipeline: Pipeline
    other: Other

    def __init__(
        self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, enable: bool = True
    ) -> None:
        super().__init__(epoch, step, image_idx, image_size, enable)
        for attribute, make in CATEGORIES.items():
            self.adopt(attribute, make(epoch, step, image_idx, image_size, enable))


_HIDDEN = ("TYPE_CHECKING", "annotations", "events_of")
_OWN = [name for name in globals() if not name.startswith("_") and name not in _HIDDEN]
CATEGORIES: dict[str, type[_Category]] = {name: globals()[kind] for name, kind in _annotations(AI).items()}
# The names of ai_events, which is not loaded for them.
ENUMERATIONS = ["IOEvent", "ProfileCategory", "StringEnum", *(f"{one.__name__}Event" for one in CATEGORIES.values())]


def __getattr__(name: str) -> Any:
    """The names of ai_events and common: older versions had all of them in this module."""
    if name == "__all__" or not name.startswith("_"):
        from dftracer.python import ai_events, common

        if name == "__all__":
            return [*_OWN, *ENUMERATIONS, *common.__all__]
        for module in (ai_events, common):
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
