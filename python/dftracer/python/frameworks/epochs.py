"""epochs.py - the numbers of epoch and step that events get, and when an epoch begins and ends.

An epoch lasts until the next one begins, so the evaluation and the checkpoint after its loop belong to it. A pause ends
it before: then it ends with its last event. What a program does after a pause, such as to save plots or to prepare
another training, is no part of an epoch.
"""

from __future__ import annotations

from time import monotonic

from dftracer.python.ai_init import ai
from dftracer.python.env import native


class Moment(int):
    """A time of native._ticks."""

    around = 0  # the innermost region of the thread then


def now() -> Moment:
    """This moment."""
    moment = Moment(native._ticks())
    moment.around = native._around()
    return moment


NEVER = Moment(0)


def record(name: str, began: Moment, ended: Moment, epoch: int) -> None:
    """What encloses events. Regions of the program may begin in it and end after it, or the other way round."""
    values = {"epoch": epoch} if epoch >= 0 else {}
    native._log_measured(name, "pipeline", began, ended, values, {}, {}, began.around != ended.around)


class Epochs:
    """Of the training of this process."""

    def __init__(self) -> None:
        self.epoch, self.step = -1, 0
        self.has_stepped = False
        self.epoch_began = NEVER  # none is open
        self.open_epoch = -1
        self.last = NEVER  # when the last event of the training ended
        self.last_seconds = 0.0  # the same by the clock of monotonic
        self.numbers_before: tuple[int, int, bool] | None = None  # an epoch is guessed: what they were

    def touch(self) -> None:
        """An event of the training has ended."""
        self.last, self.last_seconds = now(), monotonic()

    def start_epoch(self, number: int | None, began: Moment) -> None:
        """It is one, whether it was guessed or not."""
        self.end_epoch(began)
        if number is not None or self.numbers_before is None:
            self._set(self.epoch + 1 if number is None else number, 0)
        self.numbers_before = None
        self.epoch_began, self.open_epoch = began, self.epoch

    def guess_epoch(self) -> None:
        """An epoch may have begun: events get its number from now on, and the one that is open stays open."""
        self.numbers_before = self.epoch, self.step, self.has_stepped
        self._set(self.epoch + 1, 0)

    def take_guess_back(self) -> None:
        """None has begun."""
        if self.numbers_before is not None:
            self._set(*self.numbers_before)
            self.numbers_before = None

    def _set(self, epoch: int, step: int, has_stepped: bool = False) -> None:
        self.epoch, self.step, self.has_stepped = epoch, step, has_stepped
        ai.update(epoch=max(epoch, 0), step=step)

    def count_step(self) -> None:
        """The optimizer has stepped, and the next batch begins."""
        self.has_stepped = False
        self.step += 1
        ai.update(step=self.step)

    def end_epoch(self, ended: Moment = NEVER) -> None:
        """At that time, or at the end of the last event."""
        if self.epoch_began:
            began, self.epoch_began = self.epoch_began, NEVER
            record("epoch", began, max(ended or self.last, began), self.open_epoch)

    def end_after_pause(self) -> None:
        """Something begins now, outside of all loops. A second is no pause, nor is a tenth of a long epoch."""
        if not self.epoch_began or monotonic() - self.last_seconds <= 1:
            return
        if native._ticks() - self.last > (self.last - self.epoch_began) / 10:
            self.end_epoch()
