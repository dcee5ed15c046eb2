"""dftracer.python.dbg.torch.profiler - the same names."""

from dftracer.python.torch.profiler import *  # noqa: F403
from dftracer.python.torch.profiler import trace_handler as trace_handler
