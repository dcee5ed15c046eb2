"""paths.py - the paths that a program gives to initialize_log: expands ~, and reports folders that do not exist."""

from __future__ import annotations

import os

from dftracer.python.env import setup_stream_logger

TYPE_CHECKING = False  # as in typing, which would take longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any


def expanded(path: Any) -> Any:
    """The path with ~ as the home folder, in each of several that ':' separates."""
    if path is None:
        return None
    text = os.fsdecode(path)
    return ":".join(map(os.path.expanduser, text.split(":"))) if "~" in text else text


def check_folders(data_dir: str) -> None:
    """Prints one line for the first folder that does not exist: it may be misspelt, or made later."""
    for folder in data_dir.split(":"):
        if not folder or folder == "all" or os.path.exists(folder):
            continue
        advice = "put ':' between folders, not ','" if "," in folder else "check its name"
        setup_stream_logger().error(
            "dftracer: only file operations below data_dir are recorded, and %s does not exist; %s",
            os.path.abspath(folder),
            advice,
        )
        return
