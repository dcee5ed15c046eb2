"""dftracer.python.torch - what torch does, in the trace. Imports no torch before it is used."""

from dftracer.python.torch.profiler import trace_handler
from dftracer.python.torch.training import Tracing, trace

__all__ = ["Tracing", "trace", "trace_handler"]
