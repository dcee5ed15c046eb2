"""dynamo.py - the operations of functions compiled by torch. Loads torch when something is compiled."""

from __future__ import annotations

from typing import Any

from dftracer.python.ai_common import DFTracerAI

CAT_DYNAMO = "dynamo"


class Dynamo(DFTracerAI):
    """Records the operations of compiled functions."""

    def __init__(
        self,
        name: str | None = None,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        enable: bool = True,
    ) -> None:
        super().__init__(
            cat=CAT_DYNAMO,
            name=name or CAT_DYNAMO,
            epoch=epoch,
            step=step,
            image_idx=image_idx,
            image_size=image_size,
            enable=enable,
        )


def create_backend(*args: Any, **kwargs: Any) -> Any:
    """A backend for torch.compile."""
    raise NotImplementedError("dftracer: the dynamo backend is not part of this version yet")


def dftracer_dynamo_backend(*args: Any, **kwargs: Any) -> Any:
    """create_backend() with its defaults."""
    return create_backend()(*args, **kwargs)


dynamo = Dynamo()
