"""dftracer.python.dbg.torch - the same names."""

from dftracer.python.torch import *  # noqa: F403
