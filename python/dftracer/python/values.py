"""values.py - tags, entities and type variables. Loaded at the first use of one of them."""

from __future__ import annotations

import sys
from enum import Enum, IntEnum
from typing import Any, Protocol, TypeVar, Union

TagValueTuple = tuple[int, Union[int, float, str]]
EntityID = int

T = TypeVar("T")
R = TypeVar("R")
if sys.version_info >= (3, 10):
    from typing import ParamSpec

    P = ParamSpec("P")
else:
    P: Any = TypeVar("P")


class TagType(Enum):
    """How a reader should use a value; it is not written to the trace."""

    KEY = 0
    VALUE = 1
    IGNORE = 2

    def __int__(self) -> int:
        return self.value


class TagDType(Enum):
    """The type to which a value is converted."""

    INT = 0
    FLOAT = 1
    STRING = 2

    def __int__(self) -> int:
        return self.value


class TagValue:
    """A value with its type and tag. The constructor converts it."""

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
    """Where an entity is stored."""

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
    """The role of a type of entities in the program."""

    UNKNOWN = 0
    INPUT = 1
    OUTPUT = 2
    INTERMEDIATE = 3
    PARAMETER = 4
    REFERENCE = 5


class EntityRelation(IntEnum):
    """Relations below 16 are between an event and an entity, from 16 on between two entities."""

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


class ProfilerProtocol(Protocol):
    """The calls of the native module."""

    def initialize(self, log_file: str | None = None, data_dirs: str | None = None, process_id: int = -1) -> None: ...
    def get_time(self) -> int: ...
    def get_config(self, key: str) -> str: ...
    def enter_event(self) -> Any: ...
    def exit_event(self) -> None: ...
    def log_event(
        self,
        name: str,
        cat: str,
        start_time: int,
        duration: int,
        int_args: dict[str, Any] = ...,
        string_args: dict[str, Any] = ...,
        float_args: dict[str, Any] = ...,
        relations: dict[int, list[int]] = ...,
    ) -> None: ...
    def log_metadata_event(self, key: str, value: str) -> None: ...
    def set_app_metadata_int(self, key: str, value: int) -> None: ...
    def set_app_metadata_string(self, key: str, value: str) -> None: ...
    def mark_used(self, name: str) -> None: ...
    def declare_entity(self, type: str, key: str, store: int = 0, uri: str = "") -> int: ...
    def declare_entity_type(self, type: str, role: int = 0, description: str = "") -> None: ...
    def relate_entities(self, relation: int, subject: int, object: int) -> None: ...
    def finalize(self) -> None: ...
