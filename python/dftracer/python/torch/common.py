"""common.py - the names of dftracer.python.torch."""

from dftracer.python.torch.profiler import trace_handler

__all__ = ["trace_handler"]
