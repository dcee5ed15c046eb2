"""typenames.py - the type variables that annotated code imports from here."""

from __future__ import annotations

import sys
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
if sys.version_info >= (3, 10):
    from typing import ParamSpec

    P = ParamSpec("P")
else:
    P: Any = TypeVar("P")
