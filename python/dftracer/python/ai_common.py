"""ai_common.py - the classes, enumerations and names of the ai tree."""

from __future__ import annotations

from enum import Enum
from typing import Any

from dftracer.dftracer import DFTracerAI

CTX_SEPARATOR = "."
ROOT_NAME = "ai_root"
ROOT_CAT = "ai_root"
INIT_NAME = "init"
BLOCK_NAME = "block"
ITER_NAME = "iter"
ITER_COUNT_NAME = "count"
START_METADATA_NAME = "start"
STOP_METADATA_NAME = "end"


class StringEnum(str, Enum):
    """Members equal their value and print as it."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(str(self.value), spec)


def _enumeration(name: str, words: str) -> Any:
    return StringEnum(name, {word.upper(): word for word in words.split()}, module=__name__)


ProfileCategory = _enumeration("ProfileCategory", "compute data dataloader comm device checkpoint pipeline other")
ComputeEvent = _enumeration("ComputeEvent", "forward backward step")
DataEvent = _enumeration("DataEvent", "preprocess item")
DataLoaderEvent = _enumeration("DataLoaderEvent", "fetch")
CommunicationEvent = _enumeration(
    "CommunicationEvent",
    "send receive barrier bcast reduce all_reduce gather all_gather scatter reduce_scatter all_to_all",
)
DeviceEvent = _enumeration("DeviceEvent", "transfer")
PipelineEvent = _enumeration("PipelineEvent", "epoch train evaluate test")
CheckpointEvent = _enumeration("CheckpointEvent", "capture restart")
OtherEvent = _enumeration("OtherEvent", "log")
IOEvent = _enumeration("IOEvent", "open read write close")


def _with_suffix(name: str, suffix: str) -> str:
    ending = CTX_SEPARATOR + suffix
    return name if name.endswith(ending) else name + ending


def get_iter_block_name(name: str) -> str:
    """The name of the events around the bodies of a loop."""
    return _with_suffix(name, BLOCK_NAME)


def get_iter_handle_name(name: str) -> str:
    """The name of the events around getting the items of a loop."""
    return _with_suffix(name, ITER_NAME)


class _Category(DFTracerAI):
    """A category: its events are its children, named as they are."""

    CAT = ""
    EVENTS: Any = ()

    def __init__(
        self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, enable: bool = True
    ) -> None:
        values = {"epoch": epoch, "step": step, "image_idx": image_idx, "image_size": image_size}
        super().__init__(cat=self.CAT, name=self.CAT, enable=enable, **values)
        self.create_children({event.value: self.event_name(event.value) for event in self.EVENTS})

    def event_name(self, event: str) -> str:
        """The name that events of this child have."""
        return event

    def adopt(self, attribute: str, child: DFTracerAI) -> None:
        """Makes a node of a class of its own part of the subtree."""
        self._children[attribute] = child
        setattr(self, attribute, child)


class IO(DFTracerAI):
    """Reading and writing of one category: <parent>.io, with open, read, write and close."""

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
        self.create_children({event.value: f"{name}{CTX_SEPARATOR}{event.value}" for event in IOEvent})


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
    """What the model computes."""

    CAT, EVENTS = "compute", ComputeEvent
    forward: DFTracerAI
    backward: DFTracerAI
    step: DFTracerAI


class Data(_CategoryWithIO):
    """Samples and what is made of them."""

    CAT, EVENTS = "data", DataEvent
    preprocess: DFTracerAI
    item: DFTracerAI


class DataLoader(_Category):
    """Batches."""

    CAT, EVENTS = "dataloader", DataLoaderEvent
    fetch: DFTracerAI


class Communication(_Category):
    """Between processes."""

    CAT, EVENTS = "comm", CommunicationEvent
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
    """Between host and device."""

    CAT, EVENTS = "device", DeviceEvent
    transfer: DFTracerAI


class Checkpoint(_CategoryWithIO):
    """Saving and restoring the model."""

    CAT, EVENTS = "checkpoint", CheckpointEvent
    capture: DFTracerAI
    restart: DFTracerAI


class Pipeline(_Category):
    """The phases of a run."""

    CAT, EVENTS = "pipeline", PipelineEvent
    epoch: DFTracerAI
    train: DFTracerAI
    evaluate: DFTracerAI
    test: DFTracerAI


class Other(_CategoryWithIO):
    """Everything else."""

    CAT, EVENTS = "other", OtherEvent
    log: DFTracerAI

    def event_name(self, event: str) -> str:
        """other.log, not log."""
        return f"{self.CAT}{CTX_SEPARATOR}{event}"


class AI(_Category):
    """A tree of all categories."""

    CAT = ROOT_CAT
    CATEGORIES = (Compute, Data, DataLoader, Communication, Device, Checkpoint, Pipeline, Other)
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
        for make in self.CATEGORIES:
            self.adopt(make.CAT, make(epoch, step, image_idx, image_size, enable))
