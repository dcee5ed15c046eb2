"""ai_events.py - the names of the ai tree as enumerations. Loaded when one of them is asked for."""

from __future__ import annotations

from enum import Enum
from typing import Any

from dftracer.python import ai_common


class StringEnum(str, Enum):
    """Members equal their value and print as it."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(str(self.value), spec)


def _enumeration(name: str, words: list[str]) -> Any:
    make: Any = StringEnum
    return make(name, {word.upper(): word for word in words}, module=__name__)


def _events(name: str, category: type) -> Any:
    return _enumeration(name, ai_common.events_of(category))


ProfileCategory = _enumeration("ProfileCategory", [category.CAT for category in ai_common.AI.CATEGORIES])
ComputeEvent = _events("ComputeEvent", ai_common.Compute)
DataEvent = _events("DataEvent", ai_common.Data)
DataLoaderEvent = _events("DataLoaderEvent", ai_common.DataLoader)
CommunicationEvent = _events("CommunicationEvent", ai_common.Communication)
DeviceEvent = _events("DeviceEvent", ai_common.Device)
PipelineEvent = _events("PipelineEvent", ai_common.Pipeline)
CheckpointEvent = _events("CheckpointEvent", ai_common.Checkpoint)
OtherEvent = _events("OtherEvent", ai_common.Other)
IOEvent = _events("IOEvent", ai_common.IO)

__all__ = [
    "CheckpointEvent",
    "CommunicationEvent",
    "ComputeEvent",
    "DataEvent",
    "DataLoaderEvent",
    "DeviceEvent",
    "IOEvent",
    "OtherEvent",
    "PipelineEvent",
    "ProfileCategory",
    "StringEnum",
]
