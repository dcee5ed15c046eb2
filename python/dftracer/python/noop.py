"""noop.py - what stands in place of the native module when tracing is off."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, without loading it: that takes longer than all the rest
if TYPE_CHECKING:
    from typing import Any


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
