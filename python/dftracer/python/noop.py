"""noop.py - what stands in place of the native module when tracing is off."""

from __future__ import annotations

from typing import Any, Protocol


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


class NoOpProfiler:
    """Takes every call of the native module and does nothing."""

    def initialize(self, log_file: Any = None, data_dirs: Any = None, process_id: Any = -1) -> None:
        """Opens no trace."""

    def get_time(self) -> int:
        """0: there is no trace."""
        return 0

    def get_config(self, key: str) -> str:
        """Nothing is set."""
        return ""

    def enter_event(self) -> None:
        """Pushes nothing."""

    def exit_event(self) -> None:
        """Pops nothing."""

    def log_event(
        self,
        name: str,
        cat: str,
        start_time: int,
        duration: int,
        int_args: Any = None,
        string_args: Any = None,
        float_args: Any = None,
        relations: Any = None,
    ) -> None:
        """Writes nothing."""

    def log_metadata_event(self, key: str, value: str) -> None:
        """Writes nothing."""

    def set_app_metadata_int(self, key: str, value: int) -> None:
        """Keeps nothing."""

    def set_app_metadata_string(self, key: str, value: str) -> None:
        """Keeps nothing."""

    def mark_used(self, name: str) -> None:
        """Keeps nothing."""

    def declare_entity(self, type: str, key: str, store: int = 0, uri: str = "") -> int:
        """0: no entity."""
        return 0

    def declare_entity_type(self, type: str, role: int = 0, description: str = "") -> None:
        """Declares nothing."""

    def relate_entities(self, relation: int, subject: int, object: int) -> None:
        """Relates nothing."""

    def finalize(self) -> None:
        """There is nothing to complete."""
