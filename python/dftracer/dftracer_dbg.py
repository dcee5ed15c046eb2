"""dftracer.dftracer_dbg - the native module: there is one build."""

from dftracer.dftracer import *  # noqa: F403
