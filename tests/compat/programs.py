"""programs.py - builds client programs against the library under test, and runs them.

SPDX-License-Identifier: MIT
"""

import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(os.environ["DFT_TEST_SOURCE"])
LIBRARY = Path(os.environ["DFT_TEST_LIBRARY"])
INCLUDES = [SOURCE / "c/include", LIBRARY.parents[1] / "include"]  # the second one is generated: names.h
CLIENTS = SOURCE / "tests/compat/clients"
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
STANDARDS = {".c": ["gnu11"], ".cpp": ["gnu++11", "gnu++14", "c++17", "c++20"]}
COMPILERS = {".c": ["gcc", "clang"], ".cpp": ["g++", "clang++"]}


def run(*command, **options):
    """Output of a command that must succeed, and say nothing on stderr."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0 and not done.stderr, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def compilers(suffix):
    found = [name for name in COMPILERS[suffix] if shutil.which(name)]
    assert found, f"no compiler for {suffix}"
    return found


def build(compiler, source, program, *options):
    run(compiler, *WARNINGS, "-O2", *[f"-I{folder}" for folder in INCLUDES], source, "-o", program, "-pthread",
        "-L", LIBRARY.parent, "-ldftracer_core", f"-Wl,-rpath,{LIBRARY.parent}", *options)  # fmt: skip


def build_text(folder, name, text, *options, compiler=None):
    """A program from its text; its suffix is that of `name`."""
    source = Path(folder) / name
    source.write_text(text)
    program = source.with_suffix(".program")
    build(compiler or compilers(source.suffix)[0], source, program, *options)
    return program


def trace(program, traces, *arguments, enable="1", **settings):
    """Runs a program with a trace folder of its own; what it printed."""
    os.makedirs(traces, exist_ok=True)
    environment = dict(os.environ, DFTRACER_ENABLE=enable, DFTRACER_LOG_FILE=f"{traces}/trace")
    environment |= {f"DFTRACER_{key}": value for key, value in settings.items()}
    return run(program, *arguments, env=environment)
