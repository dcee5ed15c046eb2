"""dftracer.python.torch - for torch.profiler. Imports no torch."""
