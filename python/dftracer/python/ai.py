"""ai.py - the tree of this process, and the classes and names around it."""

from dftracer.python.ai_common import *  # noqa: F403
from dftracer.python.ai_events import *  # noqa: F403
from dftracer.python.ai_init import *  # noqa: F403
from dftracer.python.ai_init import ai as ai
from dftracer.python.common import *  # noqa: F403
