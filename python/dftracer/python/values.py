"""values.py - tags and entities: the enumerations and the tagged value."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Any, Union

TagValueTuple = tuple[int, Union[int, float, str]]
EntityID = int


class TagType(Enum):
    """What a value is to a reader; it does not appear in the trace."""

    KEY = 0
    VALUE = 1
    IGNORE = 2

    def __int__(self) -> int:
        return self.value


class TagDType(Enum):
    """What a value is converted to."""

    INT = 0
    FLOAT = 1
    STRING = 2

    def __int__(self) -> int:
        return self.value


class TagValue:
    """A value with its type and tag; converted at once."""

    def __init__(self, value: Any, dtype: TagDType = TagDType.STRING, tag_type: TagType = TagType.KEY) -> None:
        self._dtype = dtype
        self._tag_type = tag_type
        self._value: int | float | str
        if dtype == TagDType.INT:
            self._value = int(value)
        elif dtype == TagDType.FLOAT:
            self._value = float(value)
        else:
            self._value = str(value)

    def value(self) -> TagValueTuple:
        """(int(tag_type), converted value)"""
        return (int(self._tag_type), self._value)


class EntityStore(IntEnum):
    """Where an entity is."""

    MEMORY = 0
    GPU_MEMORY = 1
    LOCAL_DISK = 2
    PARALLEL_FS = 3
    BURST_BUFFER = 4
    OBJECT_STORE = 5
    DATABASE = 6
    NETWORK = 7
    OTHER = 8


class EntityRole(IntEnum):
    """What a type of entities is to the program."""

    UNKNOWN = 0
    INPUT = 1
    OUTPUT = 2
    INTERMEDIATE = 3
    PARAMETER = 4
    REFERENCE = 5


class EntityRelation(IntEnum):
    """Below 16 between an event and an entity, from 16 on between two entities."""

    USED = 0
    GENERATED = 1
    INVALIDATED = 2
    UPDATED = 3
    DERIVED_FROM = 16
    REVISION_OF = 17
    CONTAINS = 18
    PART_OF = 19
    SPECIALIZATION_OF = 20
    ALTERNATE_OF = 21
    DEPENDS_ON = 22
