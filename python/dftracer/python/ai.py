"""ai.py - the tree of this process, and the classes and names around it."""

from dftracer.python.ai_common import *  # noqa: F403
from dftracer.python.ai_events import *  # noqa: F403
from dftracer.python.ai_init import ai as ai
from dftracer.python.ai_init import checkpoint as checkpoint
from dftracer.python.ai_init import comm as comm
from dftracer.python.ai_init import compute as compute
from dftracer.python.ai_init import data as data
from dftracer.python.ai_init import dataloader as dataloader
from dftracer.python.ai_init import device as device
from dftracer.python.ai_init import other as other
from dftracer.python.ai_init import pipeline as pipeline
from dftracer.python.common import *  # noqa: F403
