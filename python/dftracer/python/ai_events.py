"""ai_events.py - the names of the ai tree as enumerations. Loaded at the first use of one of them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from dftracer.python import ai_common

if TYPE_CHECKING:  # made below; type checkers need their names
    CheckpointEvent: Any
    CommunicationEvent: Any
    ComputeEvent: Any
    DataEvent: Any
    DataLoaderEvent: Any
    DeviceEvent: Any
    IOEvent: Any
    OtherEvent: Any
    PipelineEvent: Any


class StringEnum(str, Enum):
    """Members equal their value and print as it."""

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(str(self.value), spec)


def _enumeration(name: str, words: list[str]) -> Any:
    make: Any = StringEnum
    return make(name, {word.upper(): word for word in words}, module=__name__)


ProfileCategory = _enumeration("ProfileCategory", [category.CAT for category in ai_common.CATEGORIES.values()])
for _class in (*ai_common.CATEGORIES.values(), ai_common.IO):
    globals()[f"{_class.__name__}Event"] = _enumeration(f"{_class.__name__}Event", ai_common.events_of(_class))

__all__ = list(ai_common.ENUMERATIONS)
