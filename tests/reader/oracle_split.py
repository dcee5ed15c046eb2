"""What each moment of a process was spent on, worked out again from docs/summary.md: a walk over all moments at which
anything changes. No shared code."""

import bisect
import collections

from oracle_events import SAME

CLASSES = ("compute", "input", "communication", "checkpoint", "transfer", "write")
CLASSES += ("sync", "read", "metadata", "compile", "outside")
PHASES = ("start", "loop", "evaluation", "end")
IO = ("POSIX", "STDIO")
NONE = -(2**63)  # sorts before all numbers


def uncut(name):
    return name[: -len(".cut")] if name.endswith((".iter.cut", ".block.cut")) else name


def direction_of(name):
    """Of a user's own region of I/O."""
    words = {"read": ("read", "load", "input"), "write": ("write", "save", "dump", "output")}
    return next((way for way, own in words.items() if any(word in name for word in own)), None)


def stage_of(name, cat):
    """Whether a region tells of an evaluation or of start-up."""
    name, cat = uncut(name), SAME.get(cat, cat)
    if cat == "pipeline" and name.split(".")[0] in ("evaluate", "test", "validate"):
        return "evaluation"
    if cat == "dlio_benchmark":
        return "evaluation" if name.endswith("._eval") else "start-up" if name.endswith(".initialize") else None
    if cat == "MPI":
        return "start-up" if name.startswith("MPI_Init") or name == "MPI_Session_init" else None
    if cat in (
        "pipeline",
        "compute",
        "data",
        "reader",
        "comm",
        "device",
        "checkpoint",
        "mpi",
        "MPIIO",
        "POSIX",
        "STDIO",
    ):
        return None
    if cat == "io" and direction_of(name):
        return None
    if name in ("init", "startup", "start-up", "start_up") or name.startswith(("initialize", "setup")):
        return "start-up"
    return None


def work_of(name, cat, io, is_bookkeeping):
    """What a thread does in an event; None: it says nothing. `io`: the kind of an I/O call; sync: it waits until
    data is written."""
    if cat in ("POSIX", "STDIO"):
        return {None: None, "read": "read", "write": "write", "copy": "write", "sync": "sync"}.get(io, "metadata")
    if is_bookkeeping or cat == "pipeline" or (cat == "MPI" and name == "MPI_Finalize"):
        return None
    name, cat = uncut(name), SAME.get(cat, cat)
    if cat == "dlio_benchmark":
        return "other" if name.endswith(".initialize") else None
    if cat == "dataloader" and name in ("fetch.init", "fetch.end"):
        return "fetch"
    if name.endswith((".block", ".init")) or stage_of(name, cat) == "start-up":
        return "other"
    if cat == "compute" or (cat == "ai_framework" and name.endswith(".compute")):
        return "compute"
    if (cat == "dataloader" and name.startswith("fetch")) or (cat == "data_loader" and name == "loop.iter"):
        return "fetch"
    if cat in ("data", "reader"):
        return "data"
    if cat in ("comm", "MPI", "mpi"):
        return "communication"
    if cat == "dynamo":
        return "compile"
    if cat in ("device", "checkpoint"):
        return cat
    if cat == "MPIIO":
        return "region " + ("read" if "read" in name else "write" if "write" in name else "metadata")
    if cat == "io":
        return "region " + direction_of(name) if direction_of(name) else "other"
    return "other"


def state_of_thread(works):
    """Of all that a thread is in at one moment."""
    if "checkpoint" in works or "communication" in works:
        return "checkpoint" if "checkpoint" in works else "communication"
    if "device" in works:
        return "transfer"
    if "fetch" in works and "compute" not in works:
        return "input"
    for layer in ("region ", ""):
        for kind in ("write", "sync", "read", "metadata"):
            if layer + kind in works:
                return kind
    if "compile" in works:
        return "compile"
    return "compute" if "compute" in works or "other" in works else "data" if works - {"fetch"} else None


def counted(works, has_compute):
    """What counts of all that a thread ever does; has_compute: its process trains, and its compute is known."""
    if not has_compute:
        return set(works)
    io = {layer + kind for layer in ("region ", "") for kind in ("write", "sync", "read", "metadata")}
    is_background = not {"compute", "fetch"} & set(works)
    return set(works) - {"other", "data"} - (io | {"checkpoint"} if is_background else set())


def state_of_process(states):
    for kind in (*CLASSES[:-1], "data"):
        if kind in states:
            return "compute" if kind == "data" else kind
    return "outside"


class Walk:
    """All moments of one process. spans: its events, each with start, end, thread, work and stage; loop: start and end;
    steps: (start, end, epoch, step) in order; epochs: (start, end, number), disjoint; has_compute: see counted."""

    def __init__(self, spans, loop, steps, epochs, has_compute, pauses=()):
        self.pauses = pauses
        self.cells = {phase: dict.fromkeys(CLASSES, 0) for phase in PHASES}
        self.steps = [dict.fromkeys(CLASSES, 0) for _ in steps]
        self.epochs = collections.defaultdict(lambda: dict.fromkeys((*CLASSES, "evaluation"), 0))
        first, last = min(span.start for span in spans), min(max(span.end for span in spans), spans[0].until)
        changes = collections.defaultdict(list)
        ever = collections.defaultdict(set)
        for span in spans:
            ever[span.thread].add(span.work)
        self.counted = {thread: counted(works, has_compute) for thread, works in ever.items()}
        for span in spans:
            what = ("evaluation", None) if span.stage == "evaluation" else (span.thread, span.work)
            if (span.end > span.start and what[1:] != (None,)) or what[0] == "evaluation":
                changes[span.start].append((1, what))
                changes[span.end].append((-1, what))
        for kind, windows in (("step", steps), ("epoch", epochs)):
            for number, window in enumerate(windows):
                changes[window[0]].append((1, (kind, number)))
                changes[window[1]].append((-1, (kind, number)))
        for moment in (first, last, *loop, *(moment for pause in pauses for moment in pause)):
            changes[moment] += []
        moments = sorted(moment for moment in changes if first <= moment <= last)
        active = collections.Counter()
        for now, until in zip(moments, [*moments[1:], last]):
            for change, what in changes[now]:
                active[what] += change
                if not active[what]:
                    del active[what]
            self._spend(now, until - now, active, loop, epochs)

    def _spend(self, now, time, active, loop, epochs):
        works = collections.defaultdict(set)
        step = epoch = None
        is_evaluation = False
        for key, value in active:
            if key == "step":
                step = value
            elif key == "epoch":
                epoch = epochs[value][2]
            elif key == "evaluation":
                is_evaluation = True
            else:
                works[key].add(value)
        kind = state_of_process({state_of_thread(own & self.counted[thread]) for thread, own in works.items()})
        phase = "end" if now >= loop[1] else "loop" if now >= loop[0] else "start"
        is_pause = not is_evaluation and any(start <= now < end for start, end in self.pauses)
        phase = "evaluation" if is_evaluation else "end" if is_pause else phase
        self.cells[phase][kind] += time
        if not is_pause and (phase in ("loop", "evaluation") or epoch is not None):
            self.epochs[epoch]["evaluation" if is_evaluation else kind] += time
        if step is not None and not is_evaluation and not is_pause:
            self.steps[step][kind] += time


def recurring_loop(spans, first, last):
    """Where the loop of a process that does not train is."""
    regions = collections.defaultdict(list)
    for span in spans:
        if span.work and span.event["cat"] not in ("POSIX", "STDIO") and not span.stage:
            regions[span.event["name"], span.event["cat"]].append(span)
    hulls = [
        (-sum(span.time for span in own), min(span.start for span in own), -max(span.end for span in own), own)
        for own in regions.values()
        if len(own) >= 3
    ]
    working = [hull for hull in hulls if hull[3][0].work in ("compute", "other", "data", "fetch")]
    hulls = working or hulls
    startups = [span.end for span in spans if span.stage == "start-up"]
    if not hulls:
        return max(startups, default=first), last
    _, start, _, main = min(hulls, key=lambda hull: (*hull[:3], len(hull[3])))
    end = max(-hull[2] for hull in hulls)
    for _ in hulls:
        start = min(hull[1] for hull in hulls if -hull[2] > start or hull[1] == start)
    begin = max(startups, default=first)
    before, loop, turn = start - begin, end - start, (end - start) // (len(main) - 1)
    is_work = not startups and before > loop and loop < 9 * turn
    return begin if before > 0 and (before <= turn + turn // 4 or is_work) else start, end


def epoch_times(windows):
    """Disjoint times: at each moment the last window of the list that contains it. Windows: (start, -end, number)."""
    begins, ends = collections.defaultdict(list), collections.defaultdict(list)
    for place, (start, minus_end, _) in enumerate(windows):
        begins[start].append(place)
        ends[-minus_end].append(place)
    moments = sorted({*begins, *ends})
    times, inside = [], set()
    for now, until in zip(moments, moments[1:]):
        inside |= set(begins[now])
        inside -= set(ends[now])
        number = windows[max(inside)][2] if inside else None
        if isinstance(number, int):
            times.append((now, until, number))
    return times


def updates_as_steps(spans, is_update, has_fetches):
    """Updates that follow each other without a fetch, with the same numbers, are one step."""

    def order(span):
        numbers = [NONE if number is None else number for number in (span.own_epoch, span.own_step)]
        return (span.start, span.end, not is_update(span), *numbers)

    steps, before = [], None
    for span in sorted(spans, key=order):
        if not is_update(span):
            before = None
            continue
        numbers = span.epoch, span.own_step
        if has_fetches and before == numbers:
            steps[-1][0] = max(steps[-1][0], span.end)
        else:
            steps.append([span.end, span.start, *(NONE if number is None else number for number in numbers)])
        before = numbers
    return [tuple(step) for step in steps]


def step_windows(events, begin, epochs, last_epoch):
    """events: (end, start, epoch, step), numbers or NONE; begin: of the loop; last_epoch: that has an event."""
    windows = []
    for end, _, epoch, step in sorted(events):
        start = begin
        begun = epochs[: bisect.bisect_left(epochs, (end,))]
        if begun and begun[-1][2] == epoch and epoch <= last_epoch:
            since = begun[-1][0]
            for before in reversed(begun[:-1]):
                if before[1] != since or before[2] != epoch:
                    break
                since = before[0]
            start = max(start, since)
        windows.append((start, end, epoch, step))
        begin = end
    return windows
