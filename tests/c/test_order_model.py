#!/usr/bin/env python3
"""test_order_model.py - every order in which a walk over the spool can meet threads that fill and finish their chunks.

A small copy of dft__chunk_finish (c/spool/chunk.c), dft__queue_fill (c/drain/queue.c) and dft__batch_claim
(c/drain/batch.c): a thread fills chunks, numbers them and marks them FULL. A drain reads the last number, walks over
the chunks one by one, and claims what it saw FULL, the lowest number first. Each step below touches shared memory
once. The search visits every state that any order of the steps leads to, and checks that the thread's records come
out in their order.

Two other protocols must fail, or the model has lost its teeth: a walk that takes every FULL chunk, and numbers that
chunks get when they are taken.
SPDX-License-Identifier: MIT
"""

import sys
from collections import namedtuple

FREE, OPEN, FULL = "free", "open", "full"

Chunk = namedtuple("Chunk", "state number record")  # a chunk holds one record
Producer = namedtuple("Producer", "at chunk next record")  # chunk: that it fills; next: that it has taken
Drain = namedtuple("Drain", "at last page queue")
State = namedtuple("State", "chunks last_number producer drain output")
Rules = namedtuple("Rules", "has_limit numbers_at_finish")

NEW = Rules(has_limit=True, numbers_at_finish=True)
UNLIMITED = Rules(has_limit=False, numbers_at_finish=True)
AT_TAKE = Rules(has_limit=True, numbers_at_finish=False)

IDLE = Drain("idle", 0, 0, ())


def put(chunks, page, **changes):
    return (*chunks[:page], chunks[page]._replace(**changes), *chunks[page + 1:])


def produce(state, rules, records):
    """change_chunk of thread.c: takes the next chunk, then finishes the full one, then writes."""
    own, chunks, number = state.producer, state.chunks, state.last_number + 1
    if own.at == "take":
        for page, chunk in enumerate(chunks):
            if chunk.state != FREE or own.record == records:
                continue
            if rules.numbers_at_finish:
                taken = put(chunks, page, state=OPEN, record=None)
                yield state._replace(chunks=taken, producer=own._replace(at="number", next=page))
            else:
                taken = put(chunks, page, state=OPEN, record=None, number=number)
                yield state._replace(chunks=taken, last_number=number, producer=own._replace(at="finish", next=page))
    elif own.at == "number" and own.chunk is None:
        yield state._replace(producer=own._replace(at="write", chunk=own.next))
    elif own.at == "number":
        numbered = put(chunks, own.chunk, number=number)
        yield state._replace(chunks=numbered, last_number=number, producer=own._replace(at="finish"))
    elif own.at == "finish":
        finished = chunks if own.chunk is None else put(chunks, own.chunk, state=FULL)
        yield state._replace(chunks=finished, producer=own._replace(at="write", chunk=own.next))
    elif own.at == "write":
        written = put(chunks, own.chunk, record=own.record)
        yield state._replace(chunks=written, producer=Producer("take", own.chunk, None, own.record + 1))


def drain(state, rules):
    own, chunks = state.drain, state.chunks
    if own.at == "idle":
        yield state._replace(drain=Drain("walk", state.last_number, 0, ()))
    elif own.at == "walk":
        chunk, queue = chunks[own.page], own.queue
        if chunk.state == FULL and (chunk.number <= own.last or not rules.has_limit):
            queue = (*queue, (chunk.number, own.page))
        at = "walk" if own.page + 1 < len(chunks) else "claim"
        yield state._replace(drain=own._replace(at=at, page=own.page + 1, queue=queue))
    elif not own.queue:
        yield state._replace(drain=IDLE)
    else:  # claims, consumes and gives back
        first = min(own.queue)
        rest = tuple(other for other in own.queue if other != first)
        output = (*state.output, chunks[first[1]].record)
        yield state._replace(
            chunks=put(chunks, first[1], state=FREE), drain=own._replace(queue=rest), output=output
        )


def search(rules, chunks, records):
    """Whether records can come out of order, and how many states there are."""
    empty = Chunk(FREE, 0, None)
    first = State((empty,) * chunks, 0, Producer("take", None, None, 0), IDLE, ())
    seen, waiting, is_wrong = {first}, [first], False
    while waiting:
        state = waiting.pop()
        if state.output != tuple(range(len(state.output))):
            is_wrong = True
            continue
        following = [*produce(state, rules, records), *drain(state, rules)]
        waiting += [new for new in following if new not in seen]
        seen.update(following)
    return is_wrong, len(seen)


def main():
    failed = 0
    for what, rules, chunks, records, expected in [
        ("every full chunk", UNLIMITED, 3, 4, True),
        ("numbers at taking", AT_TAKE, 3, 4, True),
        ("two chunks", NEW, 2, 7, False),
        ("three chunks", NEW, 3, 6, False),
        ("four chunks", NEW, 4, 5, False),
    ]:
        is_wrong, states = search(rules, chunks, records)
        failed += is_wrong != expected
        result = "out of order" if is_wrong else "in order"
        print(f"{'ok' if is_wrong == expected else 'FAILED'}: {what}: {result}, {states} states")
    return failed


if __name__ == "__main__":
    sys.exit(main())
