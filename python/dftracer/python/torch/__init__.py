"""dftracer.python.torch - what torch does, in the trace. Imports no torch before it is used."""

from dftracer.python.torch.profiler import trace_handler

__all__ = ["trace_handler"]
