"""Regions over ranks, worked out again from docs/summary.md."""

import collections
import fractions
import math


def member_of(process, key):
    """What is compared: a rank, or a process without one."""
    return ("rank", process.rank) if process.rank is not None else ("process", key)


def order(member):
    """Ranks come first."""
    kind, which = member
    return (0, which) if kind == "rank" else (1, which[1])


def regions_by_rank(spans, living, processes, label):
    """spans: of regions; living: keys of processes with any event; label: of a process."""
    totals, counts = collections.defaultdict(lambda: collections.defaultdict(int)), collections.Counter()
    for span in spans:
        region = (span.event["name"], span.event["cat"])
        totals[region][member_of(processes[span.process], span.process)] += span.time
        counts[region] += 1
    ranks = {member_of(processes[key], key) for key in living if processes[key].rank is not None}
    for region, times in totals.items():
        entered = len(times)
        if any(kind == "rank" for kind, _ in times):
            times = dict.fromkeys(ranks, 0) | times
        if len(times) > 1:
            yield line_of(region, counts[region], times, label) | {"entered": entered}


def line_of(region, count, times, label):
    values = list(times.values())
    mean = fractions.Fraction(sum(values), len(values))
    least = min(times, key=lambda member: (times[member], order(member)))
    most = min(times, key=lambda member: (-times[member], order(member)))
    lost = times[most] - math.floor(mean)
    line = {
        "name": region[0],
        "cat": region[1],
        "ranks": len(values),
        "count": count,
        "total_ns": sum(values),
        "mean_ns": math.floor(mean),
        "deviation_ns": math.sqrt(sum((value - mean) ** 2 for value in values) / len(values)),
        "imbalance": float(f"{float(lost) / float(times[most]) if times[most] else 0:.4f}"),
        "lost_ns": lost,
    }
    for key, (kind, which) in (("min", least), ("max", most)):
        line[f"{key}_ns"] = times[kind, which]
        line[f"{key}_rank"] = which if kind == "rank" else None
        line[f"{key}_process"] = None if kind == "rank" else label(which)
    return line
