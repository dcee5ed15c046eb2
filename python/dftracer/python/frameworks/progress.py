"""progress.py - epoch, step and evaluation of a training that does not tell them, and of frameworks that do.

A loop over a loader is an epoch if the model trains in it: something runs backward, or an optimizer steps. Otherwise it
is an evaluation, if a model is called in it. That is known only at the first backward, or at the end; until then the
events get the numbers of what the loop seems to be: what it was the last time, or what the mode of the model says. The
step is the number of optimizer steps in the epoch, so all batches whose gradients are accumulated have the same one. A
framework that drives the training says when its epochs and evaluations begin and end.

A program may loop over its loader in a thread in the background. What the training waits for is not known then: once
another thread calls the model, the fetches of that loop are not recorded, and the trace says so.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import Any
from weakref import ref

from dftracer.python.ai_init import ai
from dftracer.python.env import native
from dftracer.python.frameworks.epochs import NEVER, Epochs, Moment, now, record
from dftracer.python.torch import loaders
from dftracer.python.torch.change import ByIdentity, finder

UNKNOWN, TRAINS, EVALUATES = "unknown", "trains", "evaluates"
BODY_IS_DONE, IS_LEFT, IS_LAST = 2, 3, 4  # what happens in a loop: Loop._step of the native module


class Use:
    """One loop over a loader."""

    def __init__(self, loader: Any, began: Moment) -> None:
        self.find_loader, self.find_dataset, self.began = finder(loader), finder(loaders._dataset_of(loader)), began
        self.kind = UNKNOWN  # what it is, or seems to be
        self.is_known = False  # the last loop over this loader was of that kind
        self.has_trained_before = False  # with the model in that mode, or in the other one
        self.is_like_training = False  # another loader of its dataset was for training
        self.was_called = self.has_graph = False  # a model was called in it, also with gradients
        self.has_trained = False  # backward or step: it is an epoch
        self.is_moving = False  # the loader moves its batches to the device
        self.thread, self.is_ahead = threading.get_ident(), False
        self.find_loop: Any = lambda: None

    def keep_fetch(self) -> None:
        """Records the fetch in hand, whose numbers are known now."""
        loop = self.find_loop()
        if loop is not None and not self.is_ahead:
            loop._dft_loop._keep()

    def is_in_background(self) -> bool:
        """Whether this thread uses what a thread in the background fetches."""
        return self.thread not in (threading.get_ident(), threading.main_thread().ident)

    def leave(self, is_done: bool) -> None:
        """No more is done with the batch in hand: frameworks keep iterators from which they take no more."""
        loop = self.find_loop()
        if loop is not None and not self.is_ahead:
            loop._dft_loop._step(BODY_IS_DONE if is_done else IS_LEFT)


class Iterator:
    """Looks like the iterator of a loader that it has inside."""

    _dft_iterator: Any

    def __iter__(self) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dft_iterator, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._dft_iterator.__reduce_ex__(protocol)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._dft_iterator)


class Loop(Iterator):
    """The iterator over a loader that the program gets."""

    def __init__(self, loop: Any, iterator: Any, use: Use) -> None:
        self._dft_loop, self._dft_iterator, self._dft_use = loop, iterator, use

    def __next__(self) -> Any:
        use = self._dft_use
        if use.is_ahead:
            self._dft_loop = self._dft_iterator  # which records nothing
        elif use.kind != EVALUATES:
            progress.batch_begins(use, self._dft_loop)
        try:
            batch = next(self._dft_loop)
        except StopIteration:
            progress.loop_ends(use, is_whole=True)
            raise
        if not progress.drivers and (use.kind != UNKNOWN or progress.epoch < 0):  # else its numbers are not known yet
            use.keep_fetch()
        return batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dft_loop, name)

    def __del__(self) -> None:
        if progress is None:  # the interpreter ends
            return
        is_open = self._dft_use in progress.loops and not self._dft_use.is_ahead
        if is_open and progress.is_done():
            self._dft_loop._step(IS_LAST)
        elif is_open and not progress.drivers:
            self._dft_loop._keep()  # the program has looked at its batch, and no model was called
        self._dft_loop = None  # it records what it has in hand, and the end of its workers
        progress.loop_ends(self._dft_use)


class SizedLoop(Loop):
    """The same over torch's iterators, which have a length."""

    def __len__(self) -> int:
        return len(self._dft_iterator)


class Look(Iterator):
    """The iterator of a framework that only looks at a batch: no fetch of the training, but a part of the start."""

    def __init__(self, iterator: Any) -> None:
        self._dft_iterator = iterator

    def __next__(self) -> Any:
        with loaders.part("init"):
            return next(self._dft_iterator)

    def __del__(self) -> None:
        if loaders is not None:  # the interpreter ends
            with loaders.part("end"):  # its workers
                self._dft_iterator = None


class Progress(Epochs):
    """Of the training of this process."""

    def __init__(self) -> None:
        super().__init__()
        self.loader_began = NEVER  # a framework may start the loader before it tells of the first epoch
        self.evaluation_began = NEVER
        self.is_looking = False  # a framework takes a batch to learn its shape
        self.drivers = 0  # frameworks that tell epochs and evaluations themselves
        self.loops: list[Use] = []  # that are open, the innermost last
        self.guessed: Use | None = None  # that seems to be an epoch
        self.kinds = ByIdentity()  # what loops over a loader were the last time, and the mode of the model
        self.training_sets = ByIdentity()  # datasets of loaders for training
        self.ahead = ByIdentity()  # loaders that a thread in the background loops over
        self.is_ahead = False  # the batches of this epoch come from such a loader
        self.model: Any = None  # finds the one that was called last
        self.trained: Any = None  # finds the one that was called before the last first backward
        atexit.register(self.finish)
        os.register_at_fork(after_in_child=self._leave_to_parent)

    def _leave_to_parent(self) -> None:
        """In a forked child: the loops, the epoch and the evaluation that are open are its parent's."""
        self.loops, self.guessed, self.numbers_before = [], None, None
        self.epoch_began = self.evaluation_began = self.loader_began = NEVER

    # ---- What frameworks tell ----------------------------------------------------------------------------------------

    def begin_epoch(self, number: int) -> None:
        first = NEVER if self.epoch_began else self.loader_began
        self._leave_loops(TRAINS, EVALUATES, but=first)  # which may hold the first batch of this epoch
        began = first or now()
        self.loader_began, self.guessed = NEVER, None
        self.start_epoch(number, began)

    def begin_evaluation(self) -> None:
        self.evaluation_began = self.evaluation_began or now()

    def end_evaluation(self, name: str = "evaluate") -> None:
        if self.evaluation_began:
            self._leave_loops(EVALUATES)
            began, self.evaluation_began = self.evaluation_began, NEVER
            self._evaluated(began, name)

    def _evaluated(self, began: Moment, name: str = "evaluate") -> None:
        self.touch()
        record(name, began, self.last, self.epoch)

    def is_done(self) -> bool:
        """Whether a framework that leaves a loop has used its batch: it does so unless an error stops it."""
        return self.drivers > 0 and sys.exc_info()[0] is None

    def _leave_loops(self, *kinds: str, but: int = 0) -> None:
        for use in list(self.loops):
            if use.kind in kinds and use.began != but:
                if not self.drivers:
                    use.keep_fetch()
                use.leave(self.is_done())
                self.touch()

    def end_driving(self) -> None:
        """A framework returns to the program, or to another framework that has called it."""
        if self.drivers == 1:
            self.finish()
        self.drivers -= 1

    def finish(self) -> None:
        """The training is over, or the program is."""
        self._leave_loops(TRAINS, EVALUATES, UNKNOWN)
        self.end_epoch()
        self.loader_began = NEVER

    # ---- What is seen ------------------------------------------------------------------------------------------------

    def event_begins(self) -> None:
        """One that is in no loop may come long after the training."""
        if not self.loops and not self.drivers and not self.evaluation_began:
            self.end_after_pause()

    def loop_begins(self, loader: Any, has_gradients: bool) -> Any:
        """Returns a function that makes the program's iterator."""
        if self.is_looking:
            return lambda _, iterator: Look(iterator)
        self.event_begins()
        use = Use(loader, now())
        if self.drivers:
            use.kind = EVALUATES if self.evaluation_began else TRAINS
            self.loader_began = self.loader_began if self.evaluation_began else use.began
        else:
            self._expect(use, loader, has_gradients)

        def make(loop: Any, iterator: Any) -> Loop:
            self._set_ahead(use, not self.drivers and bool(self.ahead.get(loader)))
            self.loops.append(use)
            if use.is_ahead and use.kind == TRAINS and not self.drivers:
                self._prove(use)
            made = (SizedLoop if hasattr(iterator, "__len__") else Loop)(loop, iterator, use)
            use.find_loop = ref(made)
            return made

        return make

    def _expect(self, use: Use, loader: Any, has_gradients: bool) -> None:
        """Before the first batch: what the loop seems to be."""
        kind, mode = self.kinds.get(loader, (UNKNOWN, None))
        use.is_known, use.has_trained_before = kind != UNKNOWN and mode == self._mode(), kind == TRAINS
        use.is_like_training = bool(self.training_sets.get(use.find_dataset()))
        if not has_gradients or (kind == UNKNOWN and self._mode() is False):
            use.kind = EVALUATES
        elif use.is_known:
            use.kind = kind
        if use.kind == TRAINS:
            self._guess(use)
        elif self.epoch < 0 and use.kind == UNKNOWN:
            ai.update(epoch=0, step=0)

    def _mode(self) -> bool | None:
        """Whether the model that was called last is in training mode; None: there is none."""
        model = self.model() if self.model is not None else None
        return None if model is None else bool(model.training)

    def _guess(self, use: Use) -> None:
        if self.guessed is None and not self._is_joining(use):
            self.guessed = use
            self.guess_epoch()

    def _is_joining(self, use: Use) -> bool:
        """Whether another loader is in the middle of an epoch: a program may train with several at once."""
        loader = use.find_loader()
        return any(one.kind == TRAINS and one is not use and one.find_loader() is not loader for one in self.loops)

    def _innermost(self) -> Use | None:
        """The loop that this thread is in; without one, that of another thread, which may fetch for this one."""
        here, last = threading.get_ident(), self.loops[-1] if self.loops else None
        if last is None or last.thread == here:
            return last
        return next((use for use in reversed(self.loops) if use.thread == here), last)

    def _set_ahead(self, use: Use, is_ahead: bool) -> None:
        use.is_ahead = is_ahead
        if use.kind == TRAINS:
            self.is_ahead = is_ahead

    def loader_moves_batch(self) -> None:
        """The loader moves a batch to the device, before the program has it."""
        use = self._innermost()
        if use is not None:
            use.is_moving = True

    def has_moved_batch(self) -> bool:
        """Whether the batch in hand has been moved by its loader."""
        use = self._innermost()
        return use is not None and use.is_moving

    def batch_begins(self, use: Use, loop: Any) -> None:
        """Before the next batch is fetched."""
        seems_to_train = use.is_known and use.has_graph  # it may run backward after several batches
        if use.was_called and not use.has_trained and not seems_to_train and not self.drivers:
            self._take_back(use)
            use.kind = EVALUATES
        if self.has_stepped and not self.evaluation_began:
            loop._step(BODY_IS_DONE)  # of the last batch: its events have the number that was
            self.count_step()

    def _take_back(self, use: Use) -> None:
        if self.guessed is use:
            self.guessed = None
            self.take_guess_back()

    def forward_begins(self, model: Any, has_gradients: bool) -> None:
        """A model is called."""
        if self.model is None or self.model() is not model:
            self.model = ref(model)
        use = self._innermost()
        if use is None:
            self.event_begins()
        elif not self.drivers:
            self._learn(use, model, has_gradients)
        if use is not None:
            use.keep_fetch()
        if self.is_ahead and self.has_stepped and (use is None or use.kind != EVALUATES):
            self.count_step()

    def _learn(self, use: Use, model: Any, has_gradients: bool) -> None:
        """What the loop seems to be when a model is called in it."""
        use.was_called = True
        use.has_graph = use.has_graph or has_gradients
        is_new = use.is_like_training or self.trained is None or self.trained() is not model
        if use.kind == UNKNOWN and has_gradients and (use.has_trained_before or (model.training and is_new)):
            use.kind = TRAINS
            self._guess(use)
        elif use.kind == UNKNOWN and not (has_gradients and model.training):
            use.kind = EVALUATES
        if not use.is_ahead and use.is_in_background():
            native.log_metadata_event("not_recorded", "fetch")
            if use.find_loader() is not None:
                self.ahead.set(use.find_loader(), True)
            self._set_ahead(use, True)
            if use.kind != EVALUATES:  # it may be over before the first backward
                self._prove(use)

    def gradients_are_cleared(self) -> None:
        """Only a training does that."""
        use = self._innermost()
        if use is not None and use.kind == UNKNOWN:
            use.kind = TRAINS
            self._guess(use)
            use.keep_fetch()

    def trains(self) -> None:
        """Something is about to run backward, or an optimizer to step."""
        use = self._innermost()
        if use is not None and not self.drivers and not use.has_trained:
            self._prove(use)

    def stepped(self) -> None:
        """An optimizer is about to step."""
        self.trains()
        self.event_begins()
        self.has_stepped = True

    def _prove(self, use: Use) -> None:
        """The loop is an epoch, or a part of the one that another loop is."""
        epoch, is_joining = self.guessed or use, self.guessed is None and self._is_joining(use)
        for one in self.loops:
            if one is use or one.kind != EVALUATES:  # a program may loop over several at once
                one.kind, one.has_trained = TRAINS, True
                self._note_kind(one)
                if one.find_dataset() is not None:
                    self.training_sets.set(one.find_dataset(), True)
        self.trained, self.guessed = self.model, None
        self._set_ahead(use, use.is_ahead)
        if not is_joining:
            self.start_epoch(None, epoch.began)
        use.keep_fetch()

    def _note_kind(self, use: Use) -> None:
        """For the next loop over the loader."""
        loader = use.find_loader()
        if loader is not None:
            self.kinds.set(loader, (use.kind, self._mode()))

    def loop_ends(self, use: Use, is_whole: bool = False) -> None:
        """It found no more batches (`is_whole`), or is left."""
        if use not in self.loops:
            return
        self.loops.remove(use)
        if not self.drivers and not use.has_trained:
            self._take_back(use)
            if is_whole and use.was_called:
                use.kind = EVALUATES
            if use.kind == EVALUATES:
                self._note_kind(use)
                self._evaluated(use.began)
        self.touch()


progress = Progress()
