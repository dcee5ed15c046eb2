"""test_rules.py - every rule of the findings speaks at its limits, and is silent just below each of them.

Limits come from `dftracer summary --rules --json`, the traces from rule_cases.py. A rule has one trace that fires it,
one for each condition that does not hold by a little, and one in which less than 1 % of the job is at stake.
SPDX-License-Identifier: MIT
"""

import concurrent.futures
import json
import re
import subprocess
import tempfile

from made import Job
from rule_cases import CASES
from verdict_harness import COMMAND, main, summary_of

# unit -> how far from the limit a value is: (value that holds, value that does not) for "at least"
STEPS = {
    "count": lambda limit: (limit, limit - 1),
    "share": lambda limit: (limit + 0.005, limit - 0.005),
    "ratio": lambda limit: (limit * 1.02, limit * 0.98),
    "ns": lambda limit: (limit * 1.02, limit * 0.98),
    "bytes": lambda limit: (limit, limit - 65536),
}


def rules():
    done = subprocess.run([COMMAND, "summary", "--rules", "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def values_of(condition):
    """(one that holds, one that just does not)"""
    limit, unit = condition["limit"], condition["unit"]
    if unit == "count":
        limit = int(limit)
    holds, fails = STEPS[unit](limit)
    if condition["sign"] == "<":
        holds, fails = (limit - 1, limit) if unit == "bytes" else (fails, holds)
    return holds, fails


def findings_of(job):
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        return {finding["id"]: finding for finding in summary_of(folder)["findings"]}


def check_finding(finding, conditions):
    assert finding["severity"] in ("info", "warning", "critical"), finding
    assert 0.01 <= finding["share"] <= 1 and finding["stake_ns"] > 0, finding
    for text in (finding["title"], finding["evidence"], finding["advice"]):
        assert text and not re.search(r"[{}]|\b(nan|unknown|null)\b", text), finding
    for condition in conditions:
        told, meant = finding["measures"][condition["measure"]], values_of(condition)[0]
        assert abs(told - meant) <= max(0.02 * meant, 0.002), (condition, told, meant)


def dilute(job):
    """The same in a job that computes for so long that it does not matter: the ranks as long as each other, and several
    times, or it would be a tear-down."""
    length = max(rank.end_us() - rank.begin_us for rank in job.ranks) / 1000
    for rank in job.ranks:
        rank.main.idle_until(rank.end_us())
        for _ in range(3):
            rank.main.region("solve", "compute", 50 * length)
    return job


def spread(job):
    """Less than a fifth of the job is at stake, so that a count that is too small is not enough."""
    length = max(rank.end_us() - rank.begin_us for rank in job.ranks) / 1000
    for rank in job.ranks:
        rank.main.idle_until(rank.end_us())
        rank.main.region("solve", "compute", 5 * length)
    return job


def check_rule(rule):
    make, conditions = CASES[rule["id"]], rule["conditions"]
    holding = {condition["measure"]: values_of(condition)[0] for condition in conditions}
    failures = []
    found = findings_of(make(**holding))
    if rule["id"] in found:
        check_finding(found[rule["id"]], conditions)
    else:
        failures.append(f"{rule['id']} is silent at {holding}; found: {list(found)}")
    for condition in conditions:
        values = {**holding, condition["measure"]: values_of(condition)[1]}
        is_many = condition["unit"] == "count" and condition["limit"] >= 1000
        job = spread(make(**values)) if is_many else make(**values)
        if rule["id"] in findings_of(job):
            failures.append(f"{rule['id']} speaks at {values}")
    if rule["id"] in findings_of(dilute(make(**holding))):
        failures.append(f"{rule['id']} speaks about less than 1 % of the job")
    return failures


def every_rule_has_its_cases():
    assert {rule["id"] for rule in rules()} == set(CASES)
    for rule in rules():
        assert rule["conditions"], rule


def every_rule_speaks_at_its_limits_and_not_below():
    failures = []
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for rule, found in zip(rules(), pool.map(guarded, rules())):
            failures += [f"{rule['id']}: {line}" for line in found]
    assert not failures, "\n" + "\n".join(failures)


def guarded(rule):
    try:
        return check_rule(rule)
    except Exception as error:  # the other rules are still checked
        return [f"{type(error).__name__} {error}"]


def a_tenth_of_a_thousand_is_enough_for_a_fifth_of_the_job():
    for calls, expected in ((100, True), (99, False)):
        with tempfile.TemporaryDirectory() as folder:
            CASES["metadata"](metadata_calls=calls).write(folder)
            found = {finding["id"] for finding in summary_of(folder)["findings"]}
            words = [COMMAND, "summary", "--explain", "metadata", folder]
            told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert ("metadata" in found) == expected, (calls, found)
        assert ("enough, because 20 %" in " ".join(told.split())) == expected, told


def what_follows_the_last_transfer_is_not_unaligned():
    for call in ("read", "write"):
        job = Job()
        thread = job.ranks[0].main
        thread.call("open", 0.01, "/data/x", ret=3)
        for _ in range(2000):
            thread.call(call, 1, "/data/x", ret=100)
        assert f"unaligned-{call}s" not in findings_of(job), call


def findings_come_by_what_is_at_stake():
    job = CASES["small-reads"](small_reads=2000, small_read_share=0.9)
    thread = job.ranks[0].main
    for number in range(1500):
        thread.call("stat", 0.2, f"/data/{number}")
    found = list(findings_of(job).values())
    assert {"small-reads", "metadata"} <= {finding["id"] for finding in found}, found
    stakes = [finding["stake_ns"] for finding in found]
    assert stakes == sorted(stakes, reverse=True), stakes


def time_of_which_nothing_is_known_comes_last():
    """A start-up in no region and no call, or in one, with more at stake than the checkpoints of the loop."""
    for is_known, expected in (
        (False, ["checkpoint-stall", "start-up-outside"]),
        (True, ["start-up", "checkpoint-stall"]),
    ):
        job = Job()
        job.ranks[0].main.idle(0 if is_known else 3000)
        job.ranks[0].main.region("setup", "app", 3000 if is_known else 1)
        with job.ranks[0].main.within("epoch.block", "pipeline", epoch=0):
            for _ in range(24):
                job.spend("compute", 100)
                job.spend("checkpoint", 100)
        assert list(findings_of(job)) == expected, (is_known, list(findings_of(job)))


def every_rule_is_printed_and_explained():
    with tempfile.TemporaryDirectory() as folder:
        CASES["small-reads"](small_reads=2000, small_read_share=0.9).write(folder)
        printed = subprocess.run([COMMAND, "summary", "--rules"], capture_output=True, text=True, check=True).stdout
        assert not re.search(r"[][{}]|unknown", printed), printed
        for rule in rules():
            assert rule["id"] in printed and rule["title"] in printed, rule
            words = [COMMAND, "summary", "--explain", rule["id"], folder]
            told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
            assert rule["id"] in told or rule["title"] in told, told
        done = subprocess.run([COMMAND, "summary", "--explain", "nothing", folder], capture_output=True, check=False)
        assert done.returncode != 0 and done.stderr


if __name__ == "__main__":
    main(
        every_rule_has_its_cases,
        every_rule_speaks_at_its_limits_and_not_below,
        a_tenth_of_a_thousand_is_enough_for_a_fifth_of_the_job,
        what_follows_the_last_transfer_is_not_unaligned,
        findings_come_by_what_is_at_stake,
        time_of_which_nothing_is_known_comes_last,
        every_rule_is_printed_and_explained,
    )
