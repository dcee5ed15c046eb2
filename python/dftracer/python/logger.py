"""logger.py - everything of common and env under the name that older imports use."""

from dftracer.python.common import *  # noqa: F403
from dftracer.python.env import *  # noqa: F403
