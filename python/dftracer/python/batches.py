"""batches.py - which worker of torch's DataLoader made a batch, and the number of the batch.

Torch's iterator keeps its tasks in a dict and takes a task out of it when it returns the batch. That dict is replaced
by one that notes what is taken. If a version of torch has no such dict, the worker is unknown.
"""

from __future__ import annotations

from collections import deque
from typing import Any


class Tasks(dict[int, Any]):
    """The tasks that are under way, by number; each is a tuple that begins with the worker."""

    def __init__(self, tasks: dict[int, Any], batches: Batches) -> None:
        super().__init__(tasks)
        self.batches = batches

    def pop(self, number: int, *default: Any) -> Any:
        """Takes a task out: its batch is what the iterator returns next."""
        task = super().pop(number, *default)
        self.batches.taken.append((task[0], number))
        return task


class Batches:
    """The batches that one iterator returned, for the loop that records it."""

    def __init__(self, pids: list[int]) -> None:
        self.pids = pids
        self.taken: deque[tuple[int, int]] = deque()

    def take(self) -> tuple[int, int, int] | None:
        """Worker, batch, process id of the worker, of the batch that was just fetched; None: unknown."""
        found = self.choose()
        return None if found is None else (*found, self.pids[found[0]])

    def choose(self) -> tuple[int, int] | None:
        """The loop is over the iterator itself, so it is the last one."""
        found = self.taken.pop() if self.taken else None
        self.taken.clear()
        return found


class OneByOne(Batches):
    """The loop is over something that wraps the iterator. It is known as long as each item takes one batch."""

    is_known = True

    def choose(self) -> tuple[int, int] | None:
        """From the first item on that took none or several, nobody knows which batch is in an item."""
        self.is_known = self.is_known and len(self.taken) == 1
        found = super().choose()
        return found if self.is_known else None


class Ahead(Batches):
    """The loop is over a loader that fetches one batch ahead, and may skip the first ones, but keeps their order."""

    def __init__(self, pids: list[int], skipped: int) -> None:
        super().__init__(pids)
        self.skipped = skipped

    def choose(self) -> tuple[int, int] | None:
        """The oldest one."""
        for _ in range(min(self.skipped, len(self.taken))):
            self.taken.popleft()
            self.skipped -= 1
        return self.taken.popleft() if self.taken else None


def batches_of(iterator: Any, kind: type[Batches] = Batches, *values: Any) -> Batches | None:
    """None: it is not an iterator with workers, or one of an unknown kind."""
    own = getattr(iterator, "__dict__", {})
    tasks, workers = own.get("_task_info"), own.get("_workers")
    if type(tasks) is Tasks and type(tasks.batches) is kind:
        return tasks.batches
    if not isinstance(tasks, dict) or not isinstance(workers, list):
        return None
    if not all(isinstance(task, tuple) and task and isinstance(task[0], int) for task in tasks.values()):
        return None
    pids: list[Any] = [getattr(worker, "pid", None) for worker in workers]
    if not all(isinstance(pid, int) for pid in pids):
        return None
    batches = kind(pids, *values)
    own["_task_info"] = Tasks(tasks, batches)
    return batches
