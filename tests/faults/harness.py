"""harness.py - what the fault tests share: a folder for each case, traced runs, recovery, and a main that runs cases.

A test file defines functions named case_<sentence>(folder); main(globals()) runs them one after the other, each with an
empty folder of its own, and prints what failed. Skip is raised with the reason by a case that the machine cannot run.
The tests run a quick selection: trials() is small there, and cases with the attribute `is_long` are left out.
`./dev faults` sets DFT_TEST_FULL, and runs one case in each process. oracle.py counts what they see.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import functools
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from trace import Broken, Trace, read_folder  # the path comes first; tests import it from here

from oracle import Difference, judge, numbers_by_slot, same_host, tally
from page import Page

PROGRAMS = os.environ["DFT_TEST_PROGRAMS"]
COMMAND = os.environ["DFT_TEST_COMMAND"]
SECONDS_MOST = 60  # nothing here takes so long; a deadlock does
IS_FULL = bool(os.environ.get("DFT_TEST_FULL"))
NOTHING_RECORDED = "nothing is recorded"  # the library cannot open a trace, and says so
POINTER = b"dftracer spool at "
RESULT = os.environ.get("DFT_TEST_RESULT")  # where the counts of the one case go


class Skip(Exception):
    """The machine cannot run the case."""


def program(name: str) -> str:
    return os.path.join(PROGRAMS, name)


def environment(folder: str, **settings: object) -> dict[str, str]:
    """A traced process's environment; the trace goes to folder/trace-*. Settings without their DFTRACER_."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("DFTRACER_")}
    own.update(DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=os.path.join(folder, "trace"))
    own.update({f"DFTRACER_{key}": str(value) for key, value in settings.items()})
    return own


def untraced() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("DFTRACER_")}


def no_core_file() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(arguments: list[str], env: dict[str, str], **options: object) -> subprocess.CompletedProcess:
    """Runs to the end; output as text. A negative return code is a signal."""
    options.setdefault("preexec_fn", no_core_file)
    return subprocess.run(arguments, env=env, capture_output=True, text=True, timeout=SECONDS_MOST, check=False,
                          **options)


def recover(folder: str, expect: int = 0, lost: bool = False) -> str:
    done = run([COMMAND, "recover", *(["--lost"] if lost else []), folder], untraced())
    expect_equal(done.returncode, expect, f"dftracer recover: {done.stdout}{done.stderr}")
    return done.stdout


def compile_to(path: str, source: str, *options: str) -> str:
    """Compiles C; skips when the compiler cannot."""
    with open(f"{path}.c", "w") as file:
        file.write(source)
    done = run(["cc", *options, f"{path}.c", "-o", path], None)
    if done.returncode:
        raise Skip(f"cc {' '.join(options)}: {done.stderr.strip().splitlines()[-1]}")
    return path


def waiting(folder: str) -> list[str]:
    """What lies in .dftracer: nothing, when every trace is published."""
    inner = os.path.join(folder, ".dftracer")
    return sorted(os.listdir(inner)) if os.path.isdir(inner) else []


def expect_equal(actual: object, expected: object, what: str) -> None:
    if actual != expected:
        raise AssertionError(f"{what}\n  actual    {str(actual)[:500]}\n  expected  {str(expected)[:500]}")


def expect(holds: object, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def expect_once_each(numbers: list[int], count: int, what: str) -> None:
    """1 to count, each exactly once, in any order."""
    judge({"": numbers}, {"": count}, 0, what)


def seeded() -> random.Random:
    """Random, but the same every time, and told; DFT_TEST_SEED asks for another one."""
    tally.is_random = True
    seed = int(os.environ.get("DFT_TEST_SEED", "20240917"))
    print(f"seed {seed} (set DFT_TEST_SEED for another)")
    return random.Random(seed)


def new_folder() -> str:
    return tempfile.mkdtemp(prefix="dft-faults-")


def trials(quick: int, full: int) -> int:
    return full if IS_FULL else quick


def is_long(case):
    """A case that only ./dev faults runs."""
    case.is_long = True
    return case


def table(names: dict[str, object], rows: dict[str, tuple], run_row: object, long: tuple = ()) -> None:
    """Makes a case of each row: its name, and what run_row gets after the folder."""
    for name, row in rows.items():
        case = functools.partial(lambda folder, row: run_row(folder, *row), row=row)
        case.is_long = name in long
        names["case_" + name.replace(" ", "_")] = case


# ---- Runs of actor ---------------------------------------------------------------------------------------------------


def act(folder: str, words: str, before: tuple = (), injected: tuple = (), messages: int = 0, in_flight: int = 1,
        binary: str = "", settings: dict | None = None, extra: dict | None = None, **options: object) -> list[Trace]:
    """One trial: runs actor traced and untraced, recovers, and asks the oracle. Returns the traces.

    before: words in front of the command, such as those of unshare; injected: words for the traced run only. messages:
    so many lines of ours on stderr are in order. in_flight: 1 if threads may die in the middle of a call. binary:
    another build of actor. extra: environment. options: of subprocess.run.
    """
    tally.trials += 1
    page, out = Page(folder), os.path.join(folder, "out")
    os.makedirs(out, exist_ok=True)
    env = {**environment(out, **(settings or {})), **(extra or {})}
    command = (*before, binary or program("actor"))
    traced = run([*injected, *command, page.path, *words.split()], env, **options)
    same_host(traced, run_untraced(words, command, extra or {}, options), messages, words)
    recover(out)
    return ask(out, page, words, in_flight, traced.stderr.count(NOTHING_RECORDED))


def ask(out: str, page: Page, what: str, in_flight: int = 1, excused: int = 0) -> list[Trace]:
    """The oracle, for what actor has acknowledged. Nothing may be left over. excused: so many processes said that they
    record nothing. If the first one did, its children record nothing either."""
    traces = read_folder(out, dangling=True, small=True)
    dropped = sum(trace.end["args"].get("num_dropped", 0) for trace in traces)
    left = [name for name in waiting(out) if is_announced(os.path.join(out, ".dftracer", name))]
    silent = {slot.pid for slot in page.slots().values()} - {trace.pid for trace in traces}
    acknowledged = page.done()
    if excused and (len(silent) <= excused or page.slots()[0].pid in silent):
        gone = [slot for slot, row in page.slots().items() if row.pid in silent]
        dropped += sum(acknowledged[slot] for slot in gone)
    judge(numbers_by_slot(traces), acknowledged, in_flight, what, dropped)
    expect_equal(left, [], f"{what}: left over")
    return traces


untraced_runs: dict[str, subprocess.CompletedProcess] = {}


def run_untraced(words: str, command: tuple, extra: dict, options: dict) -> subprocess.CompletedProcess:
    """What the program does without us. It is run once for each manner of running it."""
    key = repr((words, command, sorted(extra.items()), options))
    if key not in untraced_runs:
        folder = new_folder()
        os.chmod(folder, 0o755)  # for programs of other users
        untraced_runs[key] = run([*command, Page(folder).path, *words.split()], {**untraced(), **extra}, **options)
        shutil.rmtree(folder, ignore_errors=True)
    return untraced_runs[key]


def is_announced(path: str) -> bool:
    """A spool that was being made at the moment of death holds no event; a recovery leaves it alone for a minute. If it
    is in another folder, its pointer is there already."""
    with open(path, "rb") as file:
        head = file.readline(4096)
    if head.startswith(POINTER):
        spool = head[len(POINTER):].strip()
        return os.path.exists(spool) and is_announced(os.fsdecode(spool))
    return not path.endswith(".spool") or head[:8].strip(b"\0") != b""


# ---- Main ------------------------------------------------------------------------------------------------------------


def run_case(case: object) -> str:
    folder = new_folder()
    kept = ""
    try:
        case(folder)
        return "ok"
    except Skip as reason:
        return f"SKIP {reason}"
    except Exception as error:
        if isinstance(error, Broken):
            tally.torn += 1
        elif not isinstance(error, Difference):
            tally.failed += 1
        kept = f"\n  see {folder}"
        return f"FAILED\n{traceback.format_exc()}{kept}"
    finally:
        tally.trials = tally.trials or 1
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


def main(names: dict[str, object]) -> None:
    """Runs every case; 77 when all were skipped, 1 when one failed. Arguments choose cases by a part of their name, or
    --list: names only. Nothing happens when the file is only imported."""
    if names["__name__"] != "__main__":
        return
    wanted, results = sys.argv[1:], []
    cases = {name[5:]: case for name, case in list(names.items()) if name.startswith("case_")}
    if wanted == ["--list"]:
        print("\n".join(cases))
        return
    for name, case in cases.items():
        if (wanted and not any(part in name for part in wanted)) or (RESULT and name not in wanted):
            continue
        if getattr(case, "is_long", False) and not IS_FULL and not wanted:
            continue
        before = time.monotonic()
        result = run_case(case)
        results.append(result)
        print(f"{name.replace('_', ' ')}: {result} ({time.monotonic() - before:.1f} s)", flush=True)
    if RESULT:
        tally.write(RESULT)
    if any(result.startswith("FAILED") for result in results):
        sys.exit(1)
    sys.exit(77 if results and all(result.startswith("SKIP") for result in results) else 0)
