"""sitecustomize.py - dftracer run puts this folder first on PYTHONPATH: starts dftracer, then what it stands before."""

import contextlib
import os
import sys

with contextlib.suppress(ImportError):  # this Python may not have the package
    __import__("dftracer.start").start.start()

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _here]
_this = sys.modules.pop(__name__)
try:
    __import__(__name__)
except ImportError as error:
    if error.name != __name__:
        raise
finally:
    sys.modules.setdefault(__name__, _this)
