"""progress.py - epoch, step and evaluation of a training that does not tell them, and of frameworks that do.

A loop over a loader is an epoch if the model trains in it, and an evaluation if gradients are off or the model is in
evaluation mode. An epoch lasts until the next one begins; the last one, until the last event of the training: so the
evaluation and the checkpoint after the loop belong to it. The step is the number of optimizer steps in the epoch, so
all batches whose gradients are accumulated have the same one. A framework that drives the training says when its epochs
and evaluations begin and end.
"""

from __future__ import annotations

import atexit
import functools
from typing import TYPE_CHECKING, Any
from weakref import ref

from dftracer.python.ai_init import ai
from dftracer.python.env import native
from dftracer.python.torch.change import ByIdentity, finder

if TYPE_CHECKING:
    from dftracer.python.torch.change import Change

UNKNOWN, TRAINS, EVALUATES = "unknown", "trains", "evaluates"


class Use:
    """One loop over a loader."""

    def __init__(self, loader: Any, kind: str, began: int) -> None:
        self.find_loader, self.kind, self.began = finder(loader), kind, began
        self.find_loop: Any = lambda: None

    def leave(self) -> None:
        """The batch in hand is done: frameworks keep iterators from which they take no more."""
        loop = self.find_loop()
        if loop is not None:
            loop._dft_loop._step(3)


class Loop:
    """The iterator over a loader that the program gets. Everything else is that of the iterator inside."""

    def __init__(self, loop: Any, use: Use) -> None:
        self._dft_loop, self._dft_use = loop, use

    def __iter__(self) -> Loop:
        return self

    def __next__(self) -> Any:
        if self._dft_use.kind != EVALUATES:
            progress.batch_begins(self._dft_loop)
        try:
            return next(self._dft_loop)
        except StopIteration:
            progress.loop_ends(self._dft_use)
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dft_loop, name)

    def __del__(self) -> None:
        self._dft_loop = None  # it records what it has in hand, and the end of its workers
        if progress is not None:  # the interpreter ends
            progress.loop_ends(self._dft_use)


class Progress:
    """Of the training of this process."""

    def __init__(self) -> None:
        self.epoch, self.step = -1, 0
        self.epoch_began = 0  # 0: none is open
        self.loader_began = 0  # a framework may start the loader before it tells of the first epoch
        self.evaluation_began = 0
        self.last = 0  # when the last event of the training ended
        self.has_stepped = False
        self.drivers = 0  # frameworks that tell epochs and evaluations themselves
        self.loops: list[Use] = []  # that are open, the innermost last
        self.kinds = ByIdentity()  # what loops over a loader were, the last time
        self.model: Any = None  # finds the one that was called last
        atexit.register(self.finish)

    # ---- What frameworks tell ----------------------------------------------------------------------------------------

    def begin_epoch(self, number: int | None = None, began: int = 0) -> None:
        if self.drivers:
            self._leave_loops(TRAINS, EVALUATES)
        began = began or (not self.epoch_began and self.loader_began) or native.get_time()
        self.loader_began = 0
        self.end_epoch(began)
        self.epoch = self.epoch + 1 if number is None else number
        self.step, self.has_stepped, self.epoch_began = 0, False, began
        ai.update(epoch=self.epoch, step=0)

    def end_epoch(self, ended: int = 0) -> None:
        if self.epoch_began:
            began, self.epoch_began = self.epoch_began, 0
            ended = max(ended or self.last, began)
            native.log_event("epoch", "pipeline", began, ended - began, {"epoch": self.epoch})

    def begin_evaluation(self) -> None:
        self.evaluation_began = self.evaluation_began or native.get_time()

    def end_evaluation(self, name: str = "evaluate") -> None:
        if self.evaluation_began:
            self._leave_loops(EVALUATES)
            began, self.evaluation_began = self.evaluation_began, 0
            self._evaluated(began, name)

    def _evaluated(self, began: int, name: str = "evaluate") -> None:
        self.last = native.get_time()
        values = {"epoch": self.epoch} if self.epoch >= 0 else {}
        native.log_event(name, "pipeline", began, self.last - began, values)

    def _leave_loops(self, *kinds: str) -> None:
        for use in list(self.loops):
            if use.kind in kinds:
                use.leave()
                self.touch()

    def touch(self) -> None:
        """An event of the training has ended."""
        self.last = native.get_time()

    def finish(self) -> None:
        """The training is over, or the program is."""
        self._leave_loops(TRAINS, EVALUATES, UNKNOWN)
        self.end_epoch()
        self.loader_began = 0

    # ---- What is seen ------------------------------------------------------------------------------------------------

    def loop_begins(self, loader: Any, has_gradients: bool) -> Any:
        """Returns a function that makes the program's iterator."""
        began, kind = native.get_time(), TRAINS
        if self.drivers:
            kind = EVALUATES if self.evaluation_began else TRAINS
            self.loader_began = self.loader_began if self.evaluation_began else began
        elif not has_gradients:
            kind = EVALUATES
        else:
            model = self.model() if self.model is not None else None
            is_evaluated = model is not None and not model.training
            kind = self.kinds.get(loader, EVALUATES if is_evaluated else UNKNOWN)
            if kind == TRAINS and not self._is_joining(loader):
                self.begin_epoch(began=began)
            elif self.epoch < 0:
                ai.update(epoch=0, step=0)

        def make(loop: Any) -> Loop:
            use = Use(loader, kind, began)
            self.loops.append(use)
            made = Loop(loop, use)
            use.find_loop = ref(made)
            return made

        return make

    def _is_joining(self, loader: Any) -> bool:
        """Whether another loader is in the middle of an epoch: a program may train with several at once."""
        return any(one.kind == TRAINS and one.find_loader() is not loader for one in self.loops)

    def batch_begins(self, loop: Any) -> None:
        """Before the next batch is fetched."""
        if self.has_stepped and not self.evaluation_began:
            loop._step(2)  # the last batch is done: its events have the number that was
            self.has_stepped = False
            self.step += 1
            ai.update(step=self.step)

    def forward_begins(self, model: Any, has_gradients: bool) -> None:
        """A model is called: now it is known what the loop does."""
        if self.model is None or self.model() is not model:
            self.model = ref(model)
        use = self.loops[-1] if self.loops else None
        if use is None or self.drivers or use.kind != UNKNOWN:
            return
        use.kind = TRAINS if has_gradients and model.training else EVALUATES
        loader = use.find_loader()
        self.kinds.set(loader, use.kind)
        if use.kind == TRAINS and not self._is_joining(loader):
            self.begin_epoch(began=use.began)

    def loop_ends(self, use: Use) -> None:
        """It found no more batches, or is left."""
        if use not in self.loops:
            return
        self.loops.remove(use)
        if use.kind == EVALUATES and not self.drivers:
            self._evaluated(use.began)
        self.touch()


progress = Progress()


def driven(change: Change, _: Any, before: Any) -> Any:
    """A method that trains: the framework tells epochs and evaluations in it."""

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        progress.drivers += 1
        try:
            return before(*args, **kwargs)
        finally:
            progress.drivers -= 1
            if not progress.drivers:
                progress.finish()

    return traced


def evaluated(change: Change, _: Any, before: Any) -> Any:
    """A method that evaluates."""

    @functools.wraps(before)
    def traced(*args: Any, **kwargs: Any) -> Any:
        progress.drivers += 1
        progress.begin_evaluation()
        try:
            return before(*args, **kwargs)
        finally:
            progress.end_evaluation()
            progress.drivers -= 1

    return traced
