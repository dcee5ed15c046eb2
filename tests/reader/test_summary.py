"""dftracer summary --json is what the oracle works out: every key of it, to the last digit, for every --by and filter.

summary_check.py says what is compared.
"""

import json
import random

import made_up
import summary_oracle as expected
from cases import run_cases
from summary_check import BY, check, check_everything, compare, save, summary_of


def spoiled(document):
    """The document once for every number in it, of lists the first line's, each time with another one there."""
    for key, value in document.items():
        if isinstance(value, int):
            yield key, document | {key: value * 2 + 1}
        for deeper, other in spoiled(value) if isinstance(value, dict) else ():
            yield f"{key}.{deeper}", document | {key: other}
        for deeper, other in spoiled(value[0]) if isinstance(value, list) and value else ():
            yield f"{key}.{deeper}", document | {key: [other, *value[1:]]}


def every_wrong_number_is_noticed(folder):
    ranks = {f"{rank}.pfw": made_up.Writer(rank, rank=rank, pid=rank).text(150) for rank in (3, 9)}
    texts, paths = save(folder, ranks)
    document = expected.Summary(texts).document()
    found = summary_of(*paths)
    count = 0
    for where, other in spoiled(found):
        try:
            compare("", other, document, 1000)
        except AssertionError:
            count += 1
        else:
            raise AssertionError(f"nothing was noticed of another {where}")
    assert count >= 300, count


# ---- The traces -----------------------------------------------------------------------------------------------------


def made_up_traces(folder):
    for seed, unit in ((1, "US"), (2, "NS"), (4, "MS")):
        texts, paths = save(folder, {f"{seed}.pfw": made_up.Writer(seed, unit).text(1500)})
        middle = (10**4, 10**6) if unit == "MS" else (0.001, 0.5) if unit == "NS" else (1, 30)
        found = check_everything(texts, paths, 1 if unit == "NS" else 1000, middle)
        assert found["training"]["steps"] and found["lost"]["dropped"] == 5 and found["other_records"] == 1


def a_trace_without_a_start(folder):
    texts, paths = save(folder, {"1.pfw": made_up.Writer(3, ppid=0).text(2000)})
    check_everything(texts, paths, middle=(1, 10))


def trainers_and_their_workers(folder):
    """A launcher, two ranks, workers of theirs, one of a worker's own; and one that loads for nobody that is known."""
    writer, traces = made_up.Writer, {}
    traces["0.pfw"] = writer(10, kinds=made_up.OTHERS, pid=100, ppid=1).text(300)
    for rank in (0, 1):
        own = 101 + rank
        traces[f"{own}.pfw.gz"] = writer(own, pid=own, ppid=100, rank=rank).text(1000)
        for worker in (own * 10, own * 10 + 1):
            traces[f"{worker}.pfw.gz"] = writer(worker, kinds=made_up.LOADING, pid=worker, ppid=own).text(500)
    traces["helper.pfw"] = writer(11, kinds=made_up.LOADING, pid=5000, ppid=1010).text(500)
    traces["alone.pfw"] = writer(12, kinds=made_up.LOADING, pid=6000, ppid=5999).text(500)
    texts, paths = save(folder, traces)
    found = check_everything(texts, paths, middle=(0.5, 5))
    assert found["training"]["processes"] == 2 and found["processes"] == 9, found["training"]
    apart = expected.Summary([text.replace(b'"ppid"', b'"PPID"') for text in texts]).document()["training"]
    assert found["training"]["hidden_ns"] > apart["hidden_ns"], "workers are not joined to their trainer"


def small_jobs(folder):
    """Few events a process: epochs that only one trainer has, trainers that only compute, loops of nothing. The first
    seeds once found faults."""
    for seed in (5062, 5113, 5160, 5166, 5209, 5221, *range(4)):
        rng, traces = random.Random(seed), {}
        for i in range(rng.choice([1, 1, 2, 4])):
            kinds = rng.choice([made_up.KINDS, made_up.KINDS, made_up.LOADING, made_up.OTHERS])
            parent, rank = rng.choice([1, 100]), rng.choice([None, i])
            writer = made_up.Writer(seed * 10 + i, kinds=kinds, pid=100 + i, ppid=parent, rank=rank)
            traces[f"{seed}-{i}.pfw"] = writer.text(rng.choice([5, 30, 100, 400]))
        texts, paths = save(folder, traces)
        by = rng.choice(BY)
        check(expected.Summary(texts, by=by), paths, 1000, options=("--by", by))


def workers_of_a_fork_server(folder):
    """Their parent, the server, has no trace; the rank tells whose they are, unless several trainers have it."""
    writer = made_up.Writer
    kinds = [kind for kind in made_up.KINDS if kind != ("pipeline", "step")]  # optimizers tell the number of steps
    traces = {f"{rank}.pfw": writer(20 + rank, kinds=kinds, pid=200 + rank, rank=rank).text(300) for rank in (0, 1)}
    traces |= {"w.pfw": writer(22, kinds=made_up.LOADING, pid=300, ppid=299, rank=1).text(200)}
    texts, paths = save(folder, traces)
    joined = check_everything(texts, paths, middle=(0.5, 5))["training"]
    texts, paths = save(folder, {"other.pfw": writer(23, pid=202, rank=1).text(300)} | traces)
    apart = check_everything(texts, paths, middle=(0.5, 5))["training"]
    alone = check_everything(texts[:1], paths[:1], middle=(0.5, 5))["training"]
    assert joined["hidden_ns"] > apart["hidden_ns"] - alone["hidden_ns"] > 0


def several_runs(folder):
    """Two with ids, at the same time; three without, of which two have the same rank; a trace that overlaps one with an
    id; a file without events."""

    def trace(seed, later, run=None, **facts):
        text = made_up.Writer(seed, pid=seed, **facts).text(100)
        lines = [json.loads(line) for line in text.decode().splitlines()[1:]]
        for line in lines:
            if "ts" in line:
                line["ts"] += int(later * 10**6)
            if line["name"] == "start":
                line["args"] |= {"run": run, "cmd_hash": f"c{seed}"} if run else {"cmd_hash": f"c{seed}"}
                line["args"] |= {"world_size": 3}
            if line["name"] == "end":
                line["args"] |= {"finish_ns": seed, "drain_cpu_ns": 2 * seed, "assist_ns": 3 * seed}
                line["args"] |= {"unmatched_ends": 3, "unmatched_sites": f"a (x); b{seed} (y)"}
                line["args"] |= {"open_regions": seed % 2, "open_sites": "c (z)" if seed % 2 else ""}
        lines.insert(0, lines[0] | {"name": "SH", "args": {"name": f"./a;{seed}", "value": f"c{seed}"}})
        return ("[\n" + "\n".join(map(json.dumps, lines)) + "\n").encode()

    traces = {
        "1": trace(70, 0, rank=0),  # each lasts 1000 s
        "2": trace(71, 500, rank=1),
        "3": trace(72, 1500.5, rank=1),  # again
        "4": trace(73, 2501, rank=2),  # half a second later, another rank
        "5": trace(74, 10**4, "x", rank=0),
        "6": trace(75, 10**4 + 1, "y", rank=0),
        "7": trace(76, 10**4 + 2, "x", rank=2),
        "8": trace(77, 2 * 10**4, "z"),
        "9": trace(78, 2 * 10**4 + 900),
        "a": made_up.Writer(79).line("HH", "M", {"name": "node", "value": made_up.HOST}).encode(),
    }
    texts, paths = save(folder, {name + ".pfw": text for name, text in traces.items()})
    found = check_everything(texts, paths, middle=(1, 800))
    assert len(found["runs"]) == 5 and found["traces"] == 3, found["runs"]
    for run in (1, 2, 3, 4, 5, "all"):
        for question, options in (({}, ()), ({"since": 10**9, "until": 5 * 10**11}, ("--from", "1s", "--to", "500s"))):
            summary = expected.Summary(texts, run=run, **question)
            check(summary, paths, 1000, options=("--run", str(run), *options))


def epochs_by_arguments(folder):
    """Without events of kind epoch, the argument tells; an event without it belongs to the one around it."""
    kinds = [kind for kind in made_up.KINDS if not kind[1].startswith("epoch")]
    texts, paths = save(folder, {"1.pfw": made_up.Writer(40, kinds=kinds).text(1000)})
    found = check_everything(texts, paths)["training"]["by_epoch"]
    assert [line["epoch"] for line in found] == [None, 1, 2, 3], found


def no_training(folder):
    texts, paths = save(folder, {"1.pfw": made_up.Writer(5, kinds=made_up.OTHERS).text(1000)})
    assert check_everything(texts, paths)["training"] is None


if __name__ == "__main__":
    run_cases(
        every_wrong_number_is_noticed,
        made_up_traces,
        a_trace_without_a_start,
        trainers_and_their_workers,
        small_jobs,
        workers_of_a_fork_server,
        several_runs,
        epochs_by_arguments,
        no_training,
    )
