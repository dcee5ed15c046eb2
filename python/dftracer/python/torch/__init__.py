"""dftracer.python.torch - records what torch does. Imports torch only when it is used."""

from dftracer.python.torch.profiler import trace_handler
from dftracer.python.torch.training import Tracing, trace

__all__ = ["Tracing", "trace", "trace_handler"]
