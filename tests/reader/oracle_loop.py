"""Where a training loop pauses, as docs/summary.md defines it."""

import math

from oracle_events import ai_kind

SECOND = 10**9
TRAINS = ("fetch", "start", "compute", "step")
FOLLOWS = ("checkpoint", "comm", "device")


class LoopEnd:
    """What has come of a trainer until some moment."""

    def __init__(self):
        self.begin = self.end = self.epoch = None

    def is_pause(self, until):
        return self.begin is not None and until - self.end >= max(SECOND, self.end - self.begin + 1)


def pauses_of(spans, is_evaluated, loop_last):
    """Events of a trainer that computes. Returns the pauses of its loop, the end of the loop, and the ends of
    epochs by the identity of their events."""
    kinds = {id(span): ai_kind(span.event["name"], span.event["cat"]) for span in spans}
    epochs = [span for span in spans if kinds[id(span)] == "epoch"]
    past, pauses, ends, saved, waiting = LoopEnd(), [], {}, -math.inf, None
    for span in sorted(spans, key=lambda span: (span.start, kinds[id(span)] != "epoch", span.end)):
        kind = kinds[id(span)]
        if kind == "epoch":
            if waiting and waiting.end <= span.start and past.is_pause(waiting.end):
                ends[id(waiting)] = past.end
            waiting = span if span.epoch is not None else waiting
        elif kind in TRAINS and not is_evaluated(span):
            inside = [epoch for epoch in epochs if epoch.start <= span.start <= epoch.end]
            around = [epoch for epoch in inside if epoch.end >= span.end]
            inside = around or [epoch for epoch in inside if epoch.end > span.start]
            epoch = max(inside, key=lambda epoch: (epoch.start, -epoch.end)).start if inside else None
            if past.is_pause(span.start) and epoch != past.epoch:
                pauses.append((past.end, span.start))
            if past.begin is None or epoch != past.epoch:
                past.begin = span.start
            past.end = span.end if past.end is None else max(past.end, span.end)
            past.epoch = epoch
        elif kind in (*TRAINS, *FOLLOWS) and past.begin is not None and not past.is_pause(span.start):
            if kind == "checkpoint" and span.start - past.end < SECOND:
                saved = max(saved, span.end)
            past.end = max(past.end, span.end)
    if waiting and past.is_pause(waiting.end):
        ends[id(waiting)] = past.end
    if past.is_pause(loop_last):
        return [*pauses, (past.end, loop_last)], past.end, ends
    return pauses, max(loop_last, saved), ends
