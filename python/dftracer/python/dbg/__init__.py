"""dftracer.python.dbg - the same names: there is one build."""

from dftracer.python import *  # noqa: F403
