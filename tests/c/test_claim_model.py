#!/usr/bin/env python3
"""test_claim_model.py - every order in which threads can take, fill, claim, consume and give back chunks.

A small copy of the protocol of c/spool/chunk.c and c/drain/batch.c. A producer fills chunks with numbered records,
drains claim and consume them. Each step below touches shared memory once. The search visits every state that any order
of the steps leads to, and checks that each record is handed out once: none twice, and none missing at the end.

Version 5.0 compared the generation alone after the claim. The search must find the events that this loses, or the model
has lost its teeth.
SPDX-License-Identifier: MIT"""

import sys
from collections import namedtuple

FREE, OPEN, FULL = "free", "open", "full"
CELLS = 2  # of a chunk

Chunk = namedtuple("Chunk", "gen state consumed claim cells")  # cells: (generation, record)
Producer = namedtuple("Producer", "at chunk record")
Drain = namedtuple("Drain", "at chunk gen state start end")
State = namedtuple("State", "chunks free lock producer drains output is_wrong")
Rules = namedtuple("Rules", "compares_all has_lock")

NEW = Rules(compares_all=True, has_lock=False)
LOCKED = Rules(compares_all=True, has_lock=True)  # the create lock of drain.c: one drain claims at a time
OLD = Rules(compares_all=False, has_lock=True)

IDLE = Drain("idle", None, 0, FREE, 0, 0)


def put(chunks, number, **changes):
    return (*chunks[:number], chunks[number]._replace(**changes), *chunks[number + 1:])


def produce(state, records):
    """dft__chunk_take, then the cells, then dft__thread_finish_chunk."""
    own, chunks = state.producer, state.chunks
    if own.at == "pop":
        if state.free and own.record < records:
            yield state._replace(free=state.free[:-1], producer=own._replace(at="consumed", chunk=state.free[-1]))
        return
    chunk = chunks[own.chunk]
    if own.at == "consumed":
        yield state._replace(chunks=put(chunks, own.chunk, consumed=0), producer=own._replace(at="claim"))
    elif own.at == "claim":
        yield state._replace(chunks=put(chunks, own.chunk, claim=0), producer=own._replace(at="open"))
    elif own.at == "open":
        yield state._replace(
            chunks=put(chunks, own.chunk, gen=chunk.gen + 1, state=OPEN), producer=own._replace(at="write 0")
        )
    elif own.at.startswith("write"):
        cell = int(own.at[-1])
        cells = (*chunk.cells[:cell], (chunk.gen, own.record), *chunk.cells[cell + 1:])
        then = "finish" if cell + 1 == CELLS else f"write {cell + 1}"
        yield state._replace(
            chunks=put(chunks, own.chunk, cells=cells), producer=own._replace(at=then, record=own.record + 1)
        )
    elif own.at == "finish":
        yield state._replace(chunks=put(chunks, own.chunk, state=FULL), producer=Producer("pop", None, own.record))


def drain(state, rules, number):
    """claim of batch.c, the commit, then dft__batch_apply with dft__chunk_give."""
    own, chunks = state.drains[number], state.chunks

    def then(changes=None, **rest):
        drains = (*state.drains[:number], changes or own, *state.drains[number + 1:])
        return state._replace(drains=drains, **rest)

    unlocked = {"lock": None} if rules.has_lock else {}
    if own.at == "idle":
        for page, chunk in enumerate(chunks):
            if chunk.state == FULL and not (rules.has_lock and state.lock is not None):
                locked = {"lock": number} if rules.has_lock else {}
                yield then(Drain("exchange", page, chunk.gen, chunk.state, 0, CELLS), **locked)
        return
    chunk = chunks[own.chunk]
    if own.at == "exchange":
        if chunk.claim:
            yield then(IDLE, **unlocked)
        else:
            yield then(own._replace(at="compare"), chunks=put(chunks, own.chunk, claim=1))
    elif own.at == "compare":
        is_same = chunk.gen == own.gen and (chunk.state == own.state or not rules.compares_all)
        yield then(own._replace(at="start" if is_same else "refuse"))
    elif own.at == "refuse":
        yield then(IDLE, chunks=put(chunks, own.chunk, claim=0), **unlocked)
    elif own.at == "start":
        yield then(own._replace(at="read", start=chunk.consumed), **unlocked)
    elif own.at == "read":
        # A sink may take less than was claimed. Cells of other generations are passed over.
        for end in range(own.start, own.end + 1):
            taken = [record for gen, record in chunk.cells[own.start : end] if gen == own.gen]
            is_wrong = state.is_wrong or any(record in state.output for record in taken)
            output = state.output | frozenset(taken)
            yield then(own._replace(at="mark", end=end), output=output, is_wrong=is_wrong)
    elif own.at == "mark":
        at = "give" if own.end == CELLS else "unclaim"
        yield then(own._replace(at=at), chunks=put(chunks, own.chunk, consumed=own.end))
    elif own.at == "give":
        if chunk.state == FULL:
            yield then(own._replace(at="push"), chunks=put(chunks, own.chunk, state=FREE))
        else:
            yield then(own._replace(at="unclaim"))
    elif own.at == "push":
        is_wrong = state.is_wrong or own.chunk in state.free
        yield then(IDLE, free=(*state.free, own.chunk), is_wrong=is_wrong)
    elif own.at == "unclaim":
        yield then(IDLE, chunks=put(chunks, own.chunk, claim=0))


TWICE, CLAIMED, LOST = "a record or a chunk is given twice", "a full chunk stays claimed", "a record is lost"


def fault(state, records):
    """What is wrong with a state; None: nothing."""
    if state.is_wrong:
        return TWICE
    if state.producer != Producer("pop", None, records) or any(own != IDLE for own in state.drains):
        return None
    full = [chunk for chunk in state.chunks if chunk.state == FULL]
    if any(chunk.claim for chunk in full):
        return CLAIMED
    left = {record for chunk in full for gen, record in chunk.cells[chunk.consumed :] if gen == chunk.gen}
    return None if left | state.output == set(range(records)) else LOST


def search(rules, chunks, drains, records):
    """Visits every state; which faults there are, and how many states."""
    empty = Chunk(0, FREE, 0, 0, ((0, None),) * CELLS)
    producer = Producer("pop", None, 0)
    first = State((empty,) * chunks, tuple(range(chunks)), None, producer, (IDLE,) * drains, frozenset(), False)
    seen, waiting, faults = {first}, [first], set()
    while waiting:
        state = waiting.pop()
        found = fault(state, records)
        if found:
            faults.add(found)
            continue
        following = list(produce(state, records))
        for number in range(drains):
            following += drain(state, rules, number)
        waiting += [new for new in following if new not in seen]
        seen.update(following)
    return faults, len(seen)


def main():
    failed = 0
    for what, rules, chunks, drains, records, expected in [
        ("the protocol of 5.0", OLD, 1, 2, 4, {TWICE, LOST}),
        ("one chunk, two drains, six generations", NEW, 1, 2, 12, set()),
        ("one chunk, three drains", NEW, 1, 3, 8, set()),
        ("two chunks, two drains, under the lock", LOCKED, 2, 2, 8, set()),
        ("two chunks, two drains", NEW, 2, 2, 6, set()),
    ]:
        faults, states = search(rules, chunks, drains, records)
        failed += faults != expected
        print(f"{'ok' if faults == expected else 'FAILED'}: {what}: {sorted(faults) or 'no fault'}, {states} states")
    return failed


if __name__ == "__main__":
    sys.exit(main())
