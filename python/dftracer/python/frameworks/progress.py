"""progress.py - epoch, step and evaluation of a training that does not tell them, and of frameworks that do.

A loop over a loader is an epoch if the model trains in it, and an evaluation if gradients are off or the model is in
evaluation mode. An epoch lasts until the next one begins; the last one, until the last event of the training: so the
evaluation and the checkpoint after the loop belong to it. The step is the number of optimizer steps in the epoch, so
all batches whose gradients are accumulated have the same one. A framework that drives the training says when its epochs
and evaluations begin and end.

A program may loop over its loader in a thread in the background. What the training waits for is not known then: once
another thread calls the model, the fetches of that loop are not recorded, and the trace says so.
"""

from __future__ import annotations

import atexit
import functools
import sys
import threading
from typing import TYPE_CHECKING, Any
from weakref import ref

from dftracer.python.ai_init import ai
from dftracer.python.env import native
from dftracer.python.torch import loaders
from dftracer.python.torch.change import ByIdentity, finder

if TYPE_CHECKING:
    from dftracer.python.torch.change import Change

UNKNOWN, TRAINS, EVALUATES = "unknown", "trains", "evaluates"


class Use:
    """One loop over a loader."""

    def __init__(self, loader: Any, kind: str, began: int) -> None:
        self.find_loader, self.kind, self.began = finder(loader), kind, began
        self.thread, self.is_ahead = threading.get_ident(), False
        self.find_loop: Any = lambda: None

    def is_in_background(self) -> bool:
        """Whether this thread uses what a thread in the background fetches."""
        return self.thread not in (threading.get_ident(), threading.main_thread().ident)

    def leave(self, is_done: bool) -> None:
        """No more is done with the batch in hand: frameworks keep iterators from which they take no more."""
        loop = self.find_loop()
        if loop is not None and not self.is_ahead:
            loop._dft_loop._step(2 if is_done else 3)


class Loop:
    """The iterator over a loader that the program gets. Everything else is that of the iterator inside."""

    def __init__(self, loop: Any, iterator: Any, use: Use) -> None:
        self._dft_loop, self._dft_iterator, self._dft_use = loop, iterator, use

    def __iter__(self) -> Loop:
        return self

    def __next__(self) -> Any:
        if self._dft_use.is_ahead:
            self._dft_loop = self._dft_iterator  # which records nothing
        elif self._dft_use.kind != EVALUATES:
            progress.batch_begins(self._dft_loop)
        try:
            return next(self._dft_loop)
        except StopIteration:
            progress.loop_ends(self._dft_use)
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dft_loop, name)

    def __del__(self) -> None:
        if progress is None:  # the interpreter ends
            return
        if self._dft_use in progress.loops and progress.is_done():
            self._dft_loop._step(4)
        self._dft_loop = None  # it records what it has in hand, and the end of its workers
        progress.loop_ends(self._dft_use)


class Look:
    """The iterator of a framework that only looks at a batch: no fetch of the training, but a part of the start."""

    def __init__(self, iterator: Any) -> None:
        self._dft_iterator = iterator

    def __iter__(self) -> Look:
        return self

    def __next__(self) -> Any:
        with loaders.part("init"):
            return next(self._dft_iterator)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dft_iterator, name)

    def __del__(self) -> None:
        if loaders is not None:  # the interpreter ends
            with loaders.part("end"):  # its workers
                self._dft_iterator = None


class Progress:
    """Of the training of this process."""

    def __init__(self) -> None:
        self.epoch, self.step = -1, 0
        self.epoch_began = 0  # 0: none is open
        self.loader_began = 0  # a framework may start the loader before it tells of the first epoch
        self.evaluation_began = 0
        self.last = 0  # when the last event of the training ended
        self.has_stepped = False
        self.is_looking = False  # a framework takes a batch to learn its shape
        self.drivers = 0  # frameworks that tell epochs and evaluations themselves
        self.loops: list[Use] = []  # that are open, the innermost last
        self.kinds = ByIdentity()  # what loops over a loader were, the last time
        self.ahead = ByIdentity()  # loaders that a thread in the background loops over
        self.is_ahead = False  # the batches of this epoch come from such a loader
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

    def is_done(self) -> bool:
        """Whether a framework that leaves a loop has used its batch: it does so unless an error stops it."""
        return self.drivers > 0 and sys.exc_info()[0] is None

    def _leave_loops(self, *kinds: str) -> None:
        for use in list(self.loops):
            if use.kind in kinds:
                use.leave(self.is_done())
                self.touch()

    def touch(self) -> None:
        """An event of the training has ended."""
        self.last = native.get_time()

    def end_driving(self) -> None:
        """A framework returns to the program, or to another framework that has called it."""
        if self.drivers == 1:
            self.finish()
        self.drivers -= 1

    def finish(self) -> None:
        """The training is over, or the program is."""
        self._leave_loops(TRAINS, EVALUATES, UNKNOWN)
        self.end_epoch()
        self.loader_began = 0

    # ---- What is seen ------------------------------------------------------------------------------------------------

    def loop_begins(self, loader: Any, has_gradients: bool) -> Any:
        """Returns a function that makes the program's iterator."""
        if self.is_looking:
            return lambda _, iterator: Look(iterator)
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

        def make(loop: Any, iterator: Any) -> Loop:
            use = Use(loader, kind, began)
            self._set_ahead(use, bool(self.ahead.get(loader)))
            self.loops.append(use)
            made = Loop(loop, iterator, use)
            use.find_loop = ref(made)
            return made

        return make

    def _is_joining(self, loader: Any) -> bool:
        """Whether another loader is in the middle of an epoch: a program may train with several at once."""
        return any(one.kind == TRAINS and one.find_loader() is not loader for one in self.loops)

    def _set_ahead(self, use: Use, is_ahead: bool) -> None:
        use.is_ahead = is_ahead
        if use.kind == TRAINS:
            self.is_ahead = is_ahead

    def batch_begins(self, loop: Any) -> None:
        """Before the next batch is fetched."""
        if self.has_stepped and not self.evaluation_began:
            loop._step(2)  # the last batch is done: its events have the number that was
            self._count_step()

    def _count_step(self) -> None:
        self.has_stepped = False
        self.step += 1
        ai.update(step=self.step)

    def forward_begins(self, model: Any, has_gradients: bool) -> None:
        """A model is called."""
        if self.model is None or self.model() is not model:
            self.model = ref(model)
        use = self.loops[-1] if self.loops else None
        if use is not None and not self.drivers:
            self._learn(use, has_gradients and model.training)
        if self.is_ahead and self.has_stepped and (use is None or use.kind != EVALUATES):
            self._count_step()

    def _learn(self, use: Use, is_training: bool) -> None:
        """What the loop does is known when a model is called in it."""
        loader = use.find_loader()
        if use.kind == UNKNOWN:
            use.kind = TRAINS if is_training else EVALUATES
            self.kinds.set(loader, use.kind)
            if use.kind == TRAINS and not self._is_joining(loader):
                self.begin_epoch(began=use.began)
        if not use.is_ahead and use.is_in_background():
            native.log_metadata_event("not_recorded", "fetch")
            self.ahead.set(loader, True)
            self._set_ahead(use, True)

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
            progress.end_driving()

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
