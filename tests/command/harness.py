"""harness.py - what the tests of the command share: running it, and leaving traces for it."""

import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ["DFT_TEST_SOURCE"])
BUILD = Path(os.environ["DFT_TEST_BUILD"])
COMMAND = os.environ["DFT_TEST_COMMAND"]
PROGRAMS = Path(os.environ["DFT_TEST_PROGRAMS"])
DIE = PROGRAMS / "die"
sys.path.insert(0, str(SOURCE / "tests"))
from trace import read_folder as read_folder  # noqa: E402


def dftracer(*arguments, status=0, cwd=None, env=None, stdin=None, **settings):
    """Runs the command, and returns its stdout and stderr. settings: DFTRACER_* variables."""
    env = {**os.environ, **(env or {}), **{f"DFTRACER_{name}": value for name, value in settings.items()}}
    done = subprocess.run(
        [COMMAND, *map(str, arguments)], capture_output=True, text=True, env=env, cwd=cwd, input=stdin, check=False
    )
    assert done.returncode == status, (arguments, done)
    return done.stdout, done.stderr


def traced(folder, **settings):
    return {**os.environ, "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": f"{folder}/trace", **settings}


def leave_dead(folder):
    done = subprocess.run([DIE], env=traced(folder), check=False)
    assert done.returncode == -9, done


def version():
    header = (SOURCE / "c/include/dftracer/dft.h").read_text()
    return re.search(r'#define DFT_VERSION "(.*)"', header).group(1)


def commands():
    """The commands that are built in, as the help lists them."""
    out, _ = dftracer("--help", env={"COLUMNS": "100"})
    return re.findall(r"^  (\w+) ", out, re.M)


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)
