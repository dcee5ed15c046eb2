"""test_points.py - SIGKILL at every system call of recording, draining, committing, renaming, recovering and adopting.

Between two calls the spool changes by stores to memory. The cases "between calls" kill there: a random number of
machine instructions after a random call.
SPDX-License-Identifier: MIT
"""

import os

from harness import (
    COMMAND,
    Page,
    ask,
    environment,
    expect_equal,
    main,
    program,
    recover,
    run,
    seeded,
    table,
    trials,
    untraced,
)
from inject import check_ptrace, each_call, injector, random_steps
from kill import await_unlocked
from oracle import tally

RECORDING = {
    "first events": ("mark events 20 return 0", {}),
    "drain commit and rename": ("mark events 6000 return 0", {}),
    "drain commit and rename of plain text": ("mark events 6000 return 0", {"TRACE_COMPRESSION": 0}),
    "a full spool": ("mark events 14000 return 0", {"SPOOL_LIMIT": "1M"}),
    "stop and start": ("mark stop 3 return 0", {}),
    "children": ("mark events 100 children 2 50 exit return 0", {}),
    "exec": ("mark events 100 exec events 100 return 0", {}),
    "threads": ("mark threads 4 1000 return 0", {}),
    "a spool in another folder": ("mark events 6000 return 0", {"SPOOL_DIR": "/dev/shm"}),
}


def record(page, out, words, settings, before=()):
    return run([*before, program("actor"), page.path, *words.split()], environment(out, **settings))


def places(folder):
    out = os.path.join(folder, "out")
    os.makedirs(out, exist_ok=True)
    return Page(folder), out, os.path.join(folder, "report")


def judge_after(page, out, what, is_killed=True):
    tally.trials += 1
    tally.kills += is_killed
    await_unlocked(out)
    recover(out)
    ask(out, page, what)
    names = sorted(os.listdir(out))
    recover(out)
    expect_equal(sorted(os.listdir(out)), names, f"{what}: a second recovery has nothing to do")


def kill_recording(folder, words, settings):
    def attempt(inner, n):
        page, out, report = places(inner)
        record(page, out, words, settings, injector(report, "all", n, n, "kill"))
        judge_after(page, out, f"{words}: killed at call {n}", n > 0)
        return report

    each_call(folder, attempt, 5)


def killed_process(page, out, words="events 14000 kill", **settings):
    """Leaves a spool, and some output."""
    expect_equal(record(page, out, words, {"SPOOL_LIMIT": "1M", **settings}).returncode, -9, "actor")


def kill_recovery(folder, words, settings, others):
    """The recovery is killed at its n-th call; the next one does what is left."""

    def attempt(inner, n):
        page, out, report = places(inner)
        for _ in range(others):
            killed_process(page, out, words, **settings)
        run([*injector(report, "all", n, n, "kill", "start"), COMMAND, "recover", out], untraced())
        judge_after(page, out, f"recovery killed at call {n}", n > 0)
        return report

    each_call(folder, attempt, 5)


RECOVERING = {
    "recovery": ("events 14000 kill", {}, 1),
    "recovery of plain text": ("events 14000 kill", {"TRACE_COMPRESSION": 0}, 1),
    "recovery of three processes": ("events 100 kill", {}, 3),
    "recovery of an open image": ("events 100 exec events 100 kill", {}, 1),
}


def case_adoption_by_the_next_process(folder):
    """The next program that traces into the folder publishes what a dead one left, and is killed while it does."""

    def attempt(inner, n):
        page, out, report = places(inner)
        killed_process(page, out)
        record(page, out, "mark events 20 return 0", {}, injector(report, "all", n, n, "kill"))
        judge_after(page, out, f"adoption killed at call {n}", n > 0)
        return report

    each_call(folder, attempt, 5)


def case_recovery_killed_again_and_again(folder):
    """A recovery that never gets beyond its n-th call, for n = 1, 2, 3 ...: each begins where the last one died."""
    check_ptrace()
    rng = seeded()
    for turn in range(trials(1, 20)):
        page, out, report = places(os.path.join(folder, str(turn)))
        killed_process(page, out)
        step = rng.randint(1, 15)
        for n in range(step, 400, step):
            done = run([*injector(report, "all", n, n, "kill", "start"), COMMAND, "recover", out], untraced())
            tally.kills += done.returncode == -9
        judge_after(page, out, f"recoveries killed at every {step}th call")


def between_calls(folder, words, settings):
    check_ptrace()
    rng = seeded()
    page, out, report = places(os.path.join(folder, "count"))
    record(page, out, words, settings, injector(report, "all", 0, 0, "kill"))
    with open(report) as file:
        counted = int(file.read().split()[0])
    for turn in range(trials(4, 150)):
        page, out, report = places(os.path.join(folder, str(turn)))
        n, steps = rng.randint(1, counted), random_steps(rng)
        record(page, out, words, settings, injector(report, "all", n, n, f"kill:{steps}"))
        judge_after(page, out, f"{words}: killed {steps} instructions after call {n}")


def recovery_between_calls(folder, words, settings, others):
    check_ptrace()
    rng = seeded()
    for turn in range(trials(4, 150)):
        page, out, report = places(os.path.join(folder, str(turn)))
        for _ in range(others):
            killed_process(page, out, words, **settings)
        n, steps = rng.randint(60, 200), random_steps(rng)
        kill = injector(report, "all", n, n, f"kill:{steps}", "start")
        run([*kill, COMMAND, "recover", out], untraced())
        judge_after(page, out, f"recovery killed {steps} instructions after call {n}")


table(globals(), {f"at every call of {name}": row for name, row in RECORDING.items()}, kill_recording)
table(globals(), {f"at every call of {name}": row for name, row in RECOVERING.items()}, kill_recovery)
table(globals(), {f"between calls of {name}": row for name, row in RECORDING.items()}, between_calls)
table(globals(), {f"between calls of {name}": row for name, row in RECOVERING.items()}, recovery_between_calls)
main(globals())
