"""worker.py - in a worker of torch's DataLoader: an event for each batch, and the batch's number on what is loaded.

The worker takes its tasks from one queue and puts the batches into another; both are wrapped here. In between, it loads
one batch. If a version of torch works otherwise, the batch is unknown.

A worker whose IterableDataset has no more samples answers so, once: that event is a `data.batch.cut`. It still gets
tasks then, which were on their way. It drops them, and they are no batches.
"""

from __future__ import annotations

import os
from typing import Any


def watch(arguments: dict[str, Any]) -> None:
    """`arguments` are those of torch's worker loop, which is about to begin."""
    from dftracer.python.ai_init import ai

    tasks: Any = arguments.get("index_queue")
    results: Any = arguments.get("data_queue")
    done: Any = arguments.get("done_event")
    worker = arguments.get("worker_id")
    get, put = getattr(tasks, "get", None), getattr(results, "put", None)
    # A fork copies the step, which is another one when the batch is used. Workers that stay outlive the epoch, too.
    ai._forget("step", *(["epoch"] if arguments.get("persistent_workers") else []))
    if not callable(get) or not callable(put) or not isinstance(worker, int) or hasattr(get, "is_traced"):
        return
    pid = os.getpid()
    loop: Any = ai.data.derive("batch").iter((), include_iter=False, block_name="data.batch")
    begins, has_item, body_is_done, is_left = range(4)
    has_ended = False

    def next_task(*args: Any, **kwargs: Any) -> Any:
        nonlocal has_ended
        task = get(*args, **kwargs)
        if type(task).__name__ == "_ResumeIteration":  # workers that stay begin another epoch
            has_ended = False
        if task is None:  # the last one
            loop._step(is_left)
        is_dropped = has_ended or (hasattr(done, "is_set") and done.is_set())
        if isinstance(task, tuple) and len(task) == 2 and isinstance(task[0], int) and not is_dropped:
            ai.data.update(args={"worker": worker, "batch": task[0], "worker_pid": pid})
            loop._step(begins)
            loop._step(has_item)
        return task

    def put_result(*args: Any, **kwargs: Any) -> Any:
        nonlocal has_ended
        result = args[0] if args else None
        is_end = isinstance(result, tuple) and type(result[-1]).__name__ == "_IterableDatasetStopIteration"
        has_ended = has_ended or is_end
        loop._step(is_left if is_end else body_is_done)  # before the training can see the batch
        return put(*args, **kwargs)

    next_task.is_traced = True  # type: ignore[attr-defined]
    tasks.get, results.put = next_task, put_result
