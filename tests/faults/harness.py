"""harness.py - what the fault tests share: a folder for each case, traced runs, recovery, and a main that runs cases.

A test file defines functions named case_<sentence>(folder); main(globals()) runs them one after the other, each with an
empty folder of its own, and prints what failed. Skip is raised with the reason by a case that the machine cannot run.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

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

from trace import Trace, read_folder  # noqa: F401 (the path comes first; tests import it from here)

PROGRAMS = os.environ["DFT_TEST_PROGRAMS"]
COMMAND = os.environ["DFT_TEST_COMMAND"]
SECONDS_MOST = 60  # nothing here takes so long; a deadlock does


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


def recover(folder: str, expect: int = 0) -> str:
    done = run([COMMAND, "recover", folder], untraced())
    expect_equal(done.returncode, expect, f"dftracer recover: {done.stdout}{done.stderr}")
    return done.stdout


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
    expect_equal(len(numbers), len(set(numbers)), f"{what}: some came twice")
    missing = set(range(1, count + 1)) - set(numbers)
    expect(not missing, f"{what}: {len(missing)} of {count} lost, such as {sorted(missing)[:5]}")
    expect_equal(len(numbers), count, f"{what}: more than were made")


def seeded() -> random.Random:
    """Random, but the same every time, and told; DFT_TEST_SEED asks for another one."""
    seed = int(os.environ.get("DFT_TEST_SEED", "20240917"))
    print(f"seed {seed} (set DFT_TEST_SEED for another)")
    return random.Random(seed)


def new_folder() -> str:
    return tempfile.mkdtemp(prefix="dft-faults-")


def run_case(case: object) -> str:
    folder = new_folder()
    kept = ""
    try:
        case(folder)
        return "ok"
    except Skip as reason:
        return f"SKIP {reason}"
    except Exception:
        kept = f"\n  see {folder}"
        return f"FAILED\n{traceback.format_exc()}{kept}"
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


def main(names: dict[str, object]) -> None:
    """Runs every case; 77 when all were skipped, 1 when one failed. Arguments choose cases by a part of their name."""
    results = []
    for name, case in list(names.items()):
        if not name.startswith("case_") or (sys.argv[1:] and not any(part in name for part in sys.argv[1:])):
            continue
        before = time.monotonic()
        result = run_case(case)
        results.append(result)
        print(f"{name[5:].replace('_', ' ')}: {result} ({time.monotonic() - before:.1f} s)", flush=True)
    if any(result.startswith("FAILED") for result in results):
        sys.exit(1)
    sys.exit(77 if results and all(result.startswith("SKIP") for result in results) else 0)
