"""io_harness.py - what the tests of interception share, beside the harness of the fault tests.

SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "faults"))

from harness import (  # noqa: F401 (tests import them from here)
    COMMAND,
    Skip,
    environment,
    expect,
    expect_equal,
    main,
    no_core_file,
    program,
    read_folder,
    recover,
    run,
    untraced,
    waiting,
)

LIBRARY = os.environ["DFT_TEST_LIBRARY"]
PRELOAD = os.environ["DFT_TEST_PRELOAD"]
SOURCE = os.environ["DFT_TEST_SOURCE"]


def traced(folder: str, **settings: object) -> dict[str, str]:
    """The environment of a program under the preload library; its traces go to folder."""
    return environment(folder, **settings) | {"LD_PRELOAD": PRELOAD}


def paths(trace) -> dict[str, str]:
    """Hashes to the paths they stand for."""
    return {event["args"]["value"]: event["args"]["name"] for event in trace.events if event["name"] == "FH"}


def events_by_path(trace) -> dict[str, list[dict]]:
    """The I/O calls on each path, in the file's order."""
    names = paths(trace)
    found = collections.defaultdict(list)
    for event in trace.events:
        if event["cat"] in ("POSIX", "STDIO") and "fhash" in event["args"]:
            found[names[event["args"]["fhash"]]].append(event)
    return dict(found)
