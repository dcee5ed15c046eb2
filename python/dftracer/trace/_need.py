"""Optional packages, imported where they are used.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import importlib
from typing import Any


def need(package: str, purpose: str) -> Any:
    """Imports a package. If it is missing, the ImportError says what to install."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ImportError(f"{package} is needed {purpose}: pip install {package} ({error})", name=package) from error
