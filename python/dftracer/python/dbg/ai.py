"""dftracer.python.dbg.ai - the same names."""

from dftracer.python.ai import *  # noqa: F403
from dftracer.python.ai import ai as ai
