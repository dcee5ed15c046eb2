"""verdict_harness.py - runs the ranks of a program, asks for the verdict, and compares it with the truth.

SPDX-License-Identifier: MIT
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["DFT_TEST_SOURCE"])
COMMAND = os.environ["DFT_TEST_COMMAND"]
PROGRAMS = pathlib.Path(os.environ["DFT_TEST_PROGRAMS"])
PYTHON = os.environ["DFT_TEST_PYTHON"]
PYTHONPATH = os.environ["DFT_TEST_PYTHONPATH"]
HERE = pathlib.Path(__file__).resolve().parent

POINTS = 0.03  # a share of a verdict may be this far from the truth
NOT_A_COST = ("compute", "none")


# ---- Running ---------------------------------------------------------------------------------------------------------


def environment(folder, rank, ranks, meeting):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("DFTRACER_")}
    return {
        **kept,
        "PYTHONPATH": PYTHONPATH,
        "DFTRACER_ENABLE": "1",
        "DFTRACER_LOG_FILE": f"{folder}/trace",
        "DFTRACER_RUN_ID": "truth",
        "RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "MEETING": meeting,
        "OMP_NUM_THREADS": "1",
    }


def run_ranks(command, folder, ranks):
    """Runs one process per rank. They meet by pipes: MEETING has the one to read, then those of the others to write.

    They mostly sleep, and go on as soon as they wake: nice, which only warns where that is not permitted.
    """
    pipes = [os.pipe() for _ in range(ranks)]
    processes = []
    for rank in range(ranks):
        ends = [pipes[rank][0]] + [pipes[other][1] for other in range(ranks) if other != rank]
        env = environment(folder, rank, ranks, " ".join(map(str, ends)))
        words = ["nice", "-n", "-10", *map(str, command)]
        processes.append(subprocess.Popen(words, env=env, pass_fds=ends, cwd=folder))
    for end in sum(pipes, ()):
        os.close(end)
    try:
        statuses = [process.wait(timeout=100) for process in processes]
    finally:
        for process in processes:  # those that wait for one that failed
            process.kill()
    assert statuses == [0] * ranks, (command, statuses)


def in_parallel(cases, function):
    """Calls function(*case, folder) for each of {name: case}, which sleep. All failures are reported, by name."""
    failures = []
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(6) as pool:
        futures = {}
        for name, case in cases.items():
            folder = pathlib.Path(top) / name.replace("/", "-")
            folder.mkdir()
            futures[name] = pool.submit(function, *case, folder)
        for name, future in futures.items():
            if future.exception():
                failures.append(f"{name}: {type(future.exception()).__name__} {future.exception()}")
    assert not failures, "\n" + "\n".join(failures)


def summary_of(*arguments, status=0):
    """The JSON of dftracer summary."""
    command = [COMMAND, "summary", "--json", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, (command, done.returncode, done.stdout[-500:], done.stderr)
    return json.loads(done.stdout)


def verdict_of(*arguments):
    return summary_of(*arguments)["verdict"]


def finding_ids(*arguments):
    return [finding["id"] for finding in summary_of(*arguments)["findings"]]


# ---- Comparing -------------------------------------------------------------------------------------------------------


def require(holds, what, verdict, truth=None):
    if not holds:
        shares = {name: round(truth.share(name), 3) for name in verdict["shares"] if name != "other"} if truth else ""
        raise AssertionError(f"{what}\n  verdict: {json.dumps(verdict)}\n  truth: {shares}")


def is_close(share, truth):
    """A share that is not known is None; that is no mistake if there is nothing to know."""
    return truth == 0 if share is None else abs(share - truth) <= POINTS


def has_nonsense(text):
    """What comes of numbers that there are not."""
    return re.search(r"\b(nan|inf|null)\b", text, re.IGNORECASE)


def check_form(verdict):
    """What holds for every verdict, whatever it says."""
    of_ns, ns, share = verdict["of_ns"], verdict["ns"], verdict["share"]
    require(0 <= ns <= of_ns and abs(share - ns / max(of_ns, 1)) < 1e-4, "share is not ns / of_ns", verdict)
    if verdict["class"] != "none":
        require(verdict["best_ns"] + verdict["saved_ns_at_most"] == of_ns, "best + saved is not the whole", verdict)
    severity = "info"
    if verdict["class"] not in NOT_A_COST:
        severity = "critical" if share >= 0.2 else "warning" if share >= 0.1 else "info"
    require(verdict["severity"] == severity, f"severity is not {severity}", verdict)
    require((verdict["kind"] is not None) == (verdict["class"] == "io"), "kind is of io", verdict)
    require(all(0 <= (part or 0) <= 1 for part in verdict["shares"].values()), "a share of more than all", verdict)
    lines = [verdict["text"], *verdict["evidence"]]
    require(all(line.strip() for line in lines) and not has_nonsense("\n".join(lines)), "the text is no text", verdict)
    if verdict["class"] not in NOT_A_COST:
        percents = [f"{whole} %" for whole in (int(100 * share), int(100 * share + 0.999))]
        require(any(percent in verdict["text"] for percent in percents), f"the text has no {percents}", verdict)
        require(verdict["next"], "no advice", verdict)
    require(("probably" in verdict["text"].lower()) == (not verdict["is_sure"]), "probably", verdict)


def check(verdict, truth, expected, base, is_sure=True, shares=()):
    """expected: the class, as `input` or `io/read`; shares: further classes whose shares must be true."""
    require(verdict is not None, "no verdict", {"shares": {}})
    name, _, kind = expected.partition("/")
    require((verdict["class"], verdict["kind"]) == (name, kind or None), f"the class is not {expected}", verdict, truth)
    check_form(verdict)
    require(verdict["base"] == base, f"the base is not {base}", verdict)
    require(verdict["is_sure"] == is_sure, f"is_sure is not {is_sure}", verdict)
    require(abs(verdict["of_ns"] / truth.whole_ns - 1) <= POINTS, f"of_ns is not {truth.whole_ns}", verdict, truth)
    for part in {*shares, kind or name} - {"none"}:
        require(is_close(verdict["shares"][part], truth.share(part)), f"the share of {part}", verdict, truth)
    if name == "none":
        return
    require(is_close(verdict["share"], truth.share(name)), "its share", verdict, truth)
    if name == "compute":
        return
    saved = verdict["saved_ns_at_most"] / verdict["of_ns"]
    require(is_close(saved, truth.saving(name)), f"{truth.saving(name):.3f} could be saved", verdict, truth)
    check_worst(verdict, truth, name)


def check_worst(verdict, truth, cost):
    """Of imbalance, the worst rank is the one for which the others wait: a case names it itself."""
    if cost == "imbalance" or len(truth.ranks) == 1:
        return
    rank, share = truth.worst(cost)
    worst = verdict["worst"]
    require(worst is not None, "no worst rank", verdict, truth)
    require(is_close(worst["share"], share), "the share of the worst rank", verdict, truth)
    if all(share - truth.share_of(other, cost) > 2 * POINTS for other in truth.ranks if other != rank):
        require(worst["rank"] == rank, f"the worst rank is not {rank}", verdict, truth)
        told = "\n".join([verdict["text"], *verdict["evidence"]])
        require(f"rank {rank}" in told, f"the text does not name rank {rank}", verdict)


# ---- Tests -----------------------------------------------------------------------------------------------------------


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


def main(*tests):
    """Runs the tests of a file; each reports, and the next one still runs."""
    failed = 0
    for test in tests:
        try:
            test()
            print(f"passed: {test.__name__}", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAILED: {test.__name__}: {type(error).__name__} {error}", flush=True)
    sys.exit(1 if failed else 0)
