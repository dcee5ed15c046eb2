"""dftracer.python.dbg.logger - the same names."""

from dftracer.python.logger import *  # noqa: F403
