"""run.py - `./dev faults`: runs every fault case with all its trials, and ends with the table of what they saw.

    run.py --build DIR [--minutes N] [--case PART]... [--seed S] [--jobs N] [--readme]

Each case runs in a process of its own, as many at once as there are processors; a line tells when it has ended. Cases
that use random numbers are repeated with other seeds until the minutes are over. The table goes to build/faults.md too.
Exit status 1: an event was lost, doubled or torn, a program showed a difference, or another expectation failed. 130:
it was interrupted before.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
COLUMNS = ("trials", "acknowledged", "reported", "lost", "doubled", "torn", "host", "failed")
BAD = ("lost", "doubled", "torn", "host", "failed")
SECONDS_MOST = 1800  # for one case
groups: set[int] = set()  # of processes that run now
is_interrupted = threading.Event()


@dataclasses.dataclass
class Case:
    group: str  # the test file
    name: str
    command: list[str]
    env: dict[str, str]
    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    seconds: float = 0
    skipped: str = ""
    runs: int = 0

    @property
    def title(self) -> str:
        return f"{self.group}: {self.name.replace('_', ' ')}"

    @property
    def is_bad(self) -> bool:
        return any(self.counts.get(column) for column in BAD)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev faults", description="Attacks traced programs in every known manner.")
    add = parser.add_argument
    add("--build", type=Path, required=True, metavar="DIR", help=argparse.SUPPRESS)
    add("--minutes", type=float, default=0, metavar="N", help="repeat the random cases until so many are over")
    add("--case", action="append", metavar="PART", help="only cases whose title has this part; may be repeated")
    add("--seed", type=int, metavar="S", help="of the first round; without it another one each time")
    add("--jobs", type=int, default=os.cpu_count(), metavar="N", help="cases at once (default: the processors)")
    add("--readme", action="store_true", help="put the totals into the README, and the table into docs/promises.md")
    return parser.parse_args()


def tests_of(build: Path) -> list[dict]:
    """The fault tests, with the command and environment that ctest would use."""
    command = ["ctest", "--test-dir", str(build), "-L", "^faults$", "--show-only=json-v1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["tests"]


def cases_of(build: Path, parts: list[str]) -> list[Case]:
    cases = []
    for test in tests_of(build):
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        env = {key: value for key, value in os.environ.items() if not key.startswith("DFTRACER_")}
        env.update(entry.split("=", 1) for entry in properties["ENVIRONMENT"])
        env["DFT_TEST_FULL"] = "1"
        listed = subprocess.run([*test["command"], "--list"], env=env, capture_output=True, text=True, check=True)
        group = test["name"].partition(".")[2]
        cases += [Case(group, name, test["command"], env) for name in listed.stdout.split()]
    return [case for case in cases if not parts or any(part in case.title for part in parts)]


def run_alone(command: list[str], env: dict[str, str]) -> str:
    """What it printed. It and its children are a group of processes, of which nothing is left over."""
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", start_new_session=True) as process:
        groups.add(process.pid)
        try:
            return process.communicate(timeout=SECONDS_MOST)[0]
        except subprocess.TimeoutExpired:
            return f"did not end within {SECONDS_MOST} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            groups.discard(process.pid)


def run_case(case: Case, seed: int, logs: Path) -> str:
    """Runs it once more, and adds what it saw; what it printed if something is wrong."""
    before = time.monotonic()
    with tempfile.NamedTemporaryFile() as result:
        env = {**case.env, "DFT_TEST_RESULT": result.name, "DFT_TEST_SEED": str(seed)}
        output = run_alone([*case.command, case.name], env)
        if is_interrupted.is_set():
            return ""
        counts = json.loads(result.read() or "{}")
    if not counts:
        counts = {"trials": 1, "failed": 1}
    if "SKIP " in output and not any(counts.get(column) for column in BAD):
        case.skipped = output.partition("SKIP ")[2].partition(" (")[0].strip()
        counts["trials"] = 0
    for column, value in counts.items():
        case.counts[column] = case.counts.get(column, 0) + value
    case.seconds += time.monotonic() - before
    case.runs += 1
    bad = any(counts.get(column) for column in BAD)
    if bad:
        with (logs / f"{case.group}.{case.name}.log").open("a", encoding="utf-8") as file:
            file.write(f"seed {seed}\n{output}\n")
    return output if bad else ""


class Progress:
    """One line for each case that has ended, with the time that remains."""

    def __init__(self, total: int, end: float) -> None:
        self.begun, self.total, self.end, self.done = time.monotonic(), total, end, 0

    def tell(self, case: Case, output: str) -> None:
        self.done += 1
        now = time.monotonic()
        left = (now - self.begun) / self.done * max(0, self.total - self.done)
        left = max(left, self.end - now)
        state = f"skipped: {case.skipped}" if case.skipped else "FAILED" if output else "ok"
        print(f"{self.done:4} of {self.total}, {left / 60:4.0f} min left  {case.title}: {state}", flush=True)
        if output:
            print("\n".join("      " + line for line in output.strip().splitlines()[-12:]), flush=True)


def run_all(cases: list[Case], arguments: argparse.Namespace, seed: int, logs: Path) -> None:
    end = time.monotonic() + 60 * arguments.minutes
    progress = Progress(len(cases), end)
    waiting: dict[concurrent.futures.Future, Case] = {}
    pool = concurrent.futures.ThreadPoolExecutor(arguments.jobs)

    def start(case: Case) -> None:
        waiting[pool.submit(run_case, case, seed + case.runs, logs)] = case

    try:
        for case in cases:
            start(case)
        while waiting:
            finished, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in finished:
                case = waiting.pop(future)
                progress.tell(case, future.result())
                again = case.counts.get("is_random") and not case.skipped
                if again and time.monotonic() + case.seconds / case.runs < end:
                    progress.total += 1
                    start(case)
    except KeyboardInterrupt:
        print("interrupted: the table has what was done")
        is_interrupted.set()
        for group in list(groups):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGINT)  # they remove their folders
    pool.shutdown(cancel_futures=True)


def make_table(cases: list[Case]) -> list[list[str]]:
    rows = [["case", *COLUMNS]]
    for case in cases:
        if not case.skipped:
            rows.append([case.title, *(f"{case.counts.get(column, 0):,}" for column in COLUMNS)])
    rows.append(["all", *(f"{sum(case.counts.get(column, 0) for case in cases):,}" for column in COLUMNS)])
    return rows


def markdown(rows: list[list[str]]) -> str:
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|---|" + "---:|" * (len(rows[0]) - 1), *body]) + "\n"


def print_table(rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]))


def by_group(cases: list[Case]) -> list[Case]:
    """One row for each test file."""
    groups: dict[str, Case] = {}
    for case in cases:
        if case.skipped:
            continue
        group = groups.setdefault(case.group, Case(case.group, case.group, [], {}))
        for column, value in case.counts.items():
            group.counts[column] = group.counts.get(column, 0) + value
    return list(groups.values())


def put_into(page: str, text: str) -> None:
    path = SOURCE / page
    before, begin, rest = path.read_text(encoding="utf-8").partition("<!-- by ./dev faults --readme -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    if not begin or not end:
        raise SystemExit(f"{page} has no place for the table")
    path.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")


def sentence(cases: list[Case], minutes: float, seed: int) -> str:
    def total(column: str) -> int:
        return sum(case.counts.get(column, 0) for case in cases)

    skipped = [case for case in cases if case.skipped]
    kernel = platform.release().split("-")[0]
    return (
        f"{len(cases) - len(skipped)} cases, {total('trials'):,} trials, {total('kills'):,} kills in {minutes:.0f} "
        f"minutes; {len(skipped)} cases skipped; seed {seed}; Linux {kernel}, {os.cpu_count()} cores"
    )


def main() -> int:
    arguments = parse_arguments()
    cases = cases_of(arguments.build.resolve(), arguments.case or [])
    if not cases:
        raise SystemExit("no case has such a title")
    seed = random.randrange(10**6) if arguments.seed is None else arguments.seed
    logs = SOURCE / "build" / "log" / "faults"
    logs.mkdir(parents=True, exist_ok=True)
    print(f"{len(cases)} cases, seed {seed}; what fails is logged in {logs}", flush=True)
    before = time.monotonic()
    run_all(cases, arguments, seed, logs)
    done = [case for case in cases if case.runs]
    facts = sentence(done, (time.monotonic() - before) / 60, seed)
    skipped = "".join(f"skipped: {case.title}: {case.skipped}\n" for case in done if case.skipped)
    (SOURCE / "build" / "faults.md").write_text(f"{facts}\n\n{markdown(make_table(done))}\n{skipped}", encoding="utf-8")
    print()
    print_table(make_table(done))
    print(f"\n{skipped}{facts}")
    if arguments.readme:
        groups = by_group(done)
        rows = make_table([dataclasses.replace(group, name="") for group in groups])
        rows = [[row[0].rstrip(": "), *row[1:]] for row in rows]
        put_into("docs/promises.md", f"{facts}:\n\n{markdown(rows)}")
        put_into("README.md", f"{facts}:\n\n{markdown([['', *COLUMNS], rows[-1]])}")
    return 1 if any(case.is_bad for case in done) else 130 if is_interrupted.is_set() else 0


if __name__ == "__main__":
    sys.exit(main())
