"""Regions over ranks, in jobs whose truth is known because they were made up for it."""


from cases import run_cases
from test_meaning import Trace, summary

MS = 10**6


def region_of(found, name):
    (line,) = (line for line in found["regions_by_rank"] if line["name"] == name)
    return line


def a_slow_rank_is_named(folder):
    """Rank 3 computes for 400 ms, the others for 100, and then they wait for it."""
    for rank in range(4):
        time = 400 if rank == 3 else 100
        trace = Trace(10 + rank, rank)
        trace.event("solve", "app", 0, time)
        trace.event("barrier", "app", time, 401)
        trace.event("same", "app", 401, 501)
        trace.save(folder)
    text, found = summary(folder)
    line = region_of(found, "solve")
    numbers = {"ranks": 4, "entered": 4, "count": 4, "total_ns": 700 * MS, "mean_ns": 175 * MS, "lost_ns": 225 * MS}
    numbers |= {"min_ns": 100 * MS, "min_rank": 0, "max_ns": 400 * MS, "max_rank": 3, "imbalance": 0.5625}
    numbers |= {"deviation_ns": 129903811, "min_process": None, "max_process": None, "name": "solve", "cat": "app"}
    assert line == numbers, line
    assert [line["name"] for line in found["regions_by_rank"]] == ["solve", "barrier", "same"], found
    assert region_of(found, "barrier")["min_rank"] == 3, found
    assert "\nsolve app 4 175 ms 100 ms (0) 400 ms (3) 130 ms 56.2 % 225 ms" in text, text
    assert "\nsame app 4" not in text.partition("Regions over ranks")[2], "nothing is lost there"
    top = summary(folder, "--top", "1")[0].partition("Regions over ranks")[2]
    assert "1 of 2; --top N shows more" in top and "\nbarrier app 4" not in top, top


def ranks_that_stay_away_count(folder):
    """Only rank 1 writes the result. The launcher has no rank, and is not one of them."""
    launcher = Trace(9)
    launcher.event("launch", "app", 0, 300)
    launcher.event("write", "app", 0, 100)
    launcher.save(folder)
    for rank in range(3):
        trace = Trace(10 + rank, rank)
        if rank == 1:
            trace.event("result", "app", 0, 30)
        trace.save(folder)
    text, found = summary(folder)
    line = region_of(found, "result")
    assert (line["ranks"], line["entered"], line["mean_ns"], line["lost_ns"]) == (3, 1, 10 * MS, 20 * MS), line
    assert (line["min_rank"], line["min_ns"], line["max_rank"]) == (0, 0, 1), line
    assert len(found["regions_by_rank"]) == 1, "one process alone cannot be compared"
    assert "Regions over ranks" in text, text


def processes_without_ranks_count_where_they_are(folder):
    for pid, time in ((1, 10), (2, 30), (3, 0)):
        trace = Trace(pid)
        trace.event("poll" if time else "other", "app", 0, time or 50)
        trace.save(folder)
    text, found = summary(folder)
    (line,) = found["regions_by_rank"]
    assert (line["ranks"], line["mean_ns"], line["lost_ns"]) == (2, 20 * MS, 10 * MS), line
    assert (line["max_rank"], line["max_process"], line["min_process"]) == (None, "node:2", "node:1"), line
    assert "Regions over ranks" not in text, "there are none"


def a_rank_is_the_sum_of_its_processes(folder):
    """A trainer and its worker; and one process that has no rank."""
    for pid, rank, time in ((1, 0, 10), (2, 0, 20), (3, 1, 30), (4, None, 40)):
        trace = Trace(pid, rank)
        trace.event("load", "app", 0, time)
        trace.event("read", "POSIX", 50, 55, fhash="f", ret=1)
        trace.save(folder)
    text, found = summary(folder, "--by", "rank")
    line = region_of(found, "load")
    assert (line["ranks"], line["max_process"], line["min_rank"], line["min_ns"]) == (3, "node:4", 0, 30 * MS), line
    groups = {line["rank"]: (line["count"], line["total_ns"]) for line in found["groups"]}
    assert found["by"] == "rank" and groups == {0: (4, 40 * MS), 1: (2, 35 * MS), None: (2, 45 * MS)}, groups
    assert "\nEvents by rank\n" in text and "\n- 2 45.0 ms" in text and "\n0 4 40.0 ms" in text, text


if __name__ == "__main__":
    run_cases(
        a_slow_rank_is_named,
        ranks_that_stay_away_count,
        processes_without_ranks_count_where_they_are,
        a_rank_is_the_sum_of_its_processes,
    )
