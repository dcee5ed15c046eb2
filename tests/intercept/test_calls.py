"""test_calls.py - every symbol of the table, called once by name: it returns what it should, and its event says so.
SPDX-License-Identifier: MIT
"""

import collections
import json
import os
import sys

from io_harness import (
    COMMAND,
    SOURCE,
    events_by_path,
    expect,
    expect_equal,
    main,
    paths,
    read_folder,
    run,
    traced,
    untraced,
)
from test_table import action_of, rows, symbol_of

WITHOUT_PATH = {
    "pipe",
    "pipe2",
    "umask",
    "close_range",
    "closefrom",
    "fork",
    "wait",
    "waitpid",
    "wait3",
    "wait4",
    "popen",
    "pclose",
    "posix_spawn",
    "posix_spawnp",
    "fexecve",
}
ELSEWHERE = {"memfd_create", "tmpfile"}
FAILING = {"splice", "execve", "execvpe", "execv", "execvp", "execl", "execlp", "execle", "fexecve"}

LINES = """if True:
    import ctypes, sys
    libc = ctypes.CDLL(None)
    libc.fopen.restype = libc.fgets.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"r"))
    line, room = ctypes.c_char_p(), ctypes.c_size_t()
    for _ in range(3):
        libc.getline(ctypes.byref(line), ctypes.byref(room), stream)
    libc.rewind(stream)
    for _ in range(3):
        libc.fgets(ctypes.create_string_buffer(100), 100, stream)
"""


def plain_names():
    """Symbol to the name its event has."""
    names = {}
    for kind, text in rows():
        symbol = symbol_of(kind, text)
        first = text.split(",")[0].strip()
        names[symbol] = symbol if kind in ("CALL", "SPECIAL") else names[first]
    return names


def slices(trace):
    """The events between the mark of a symbol and the next one."""
    names, found, current = paths(trace), {}, None
    for event in sorted(trace.user_events(), key=lambda event: event["id"]):
        path = names.get(event["args"].get("fhash"), "")
        if event["name"] == "access" and "/mark-" in path:
            current = path.split("/mark-")[1]
            found[current] = []
        elif current:
            found[current].append((event, path))
    return found


def call_every(folder):
    """Runs every.py. Returns its data, its traces, and what each symbol returned."""
    data, traces = os.path.join(folder, "data"), os.path.join(folder, "traces")
    os.mkdir(data)
    os.mkdir(traces)
    script = f"{SOURCE}/tests/intercept/programs/every.py"
    done = run(
        [sys.executable, "-B", "-E", "-s", script, data, f"{folder}/results"],
        traced(traces, DATA_DIR="all"),
        cwd=folder,
    )
    expect_equal((done.returncode, done.stderr), (0, ""), "every.py")
    with open(f"{folder}/results", encoding="utf-8") as file:
        return data, traces, json.load(file)


def case_every_symbol(folder):
    data, traces, results = call_every(folder)
    names = plain_names()
    expect_equal(set(results), set(names), "symbols called")
    trace = max(read_folder(traces), key=lambda trace: len(trace.events))
    found = slices(trace)
    wrong = []
    for symbol, got in results.items():
        if got is None:
            continue
        events = [(event, path) for event, path in found[symbol] if event["name"] == names[symbol]]
        if not events:
            wrong.append(f"{symbol}: no event {names[symbol]}, but {[event['name'] for event, _ in found[symbol]]}")
            continue
        event, path = events[0]
        ret = event["args"]["ret"]
        if got == "child":
            fits = ret > 0
        elif symbol in FAILING:
            fits = ret == -1 and event["args"].get("errno")
        else:
            fits = ret == got and "errno" not in event["args"]
        if not fits:
            wrong.append(f"{symbol} returned {got}, but the event says {event['args']}")
        plain = names[symbol]
        if plain not in WITHOUT_PATH and plain not in ELSEWHERE and not path.startswith(data):
            wrong.append(f"{symbol}: path {path!r}")
    expect_equal(wrong, [], "symbols")


def case_summary_counts_what_the_table_says(folder):
    """The bytes of every call that reads, writes, copies or maps, and of no other."""
    _, traces, _ = call_every(folder)
    actions = {symbol_of(*row): action_of(*row) for row in rows() if action_of(*row)}
    calls, moved = collections.Counter(), collections.Counter()
    sides = {"COPY": ("READ", "WRITE"), "GET": ("READ",), "PUT": ("WRITE",), "SCAN": ("READ",), "QUEUE": ("WRITE",)}
    met = set()
    for trace in read_folder(traces):
        for event in trace.user_events():
            action = actions.get(event["name"])
            met.add(event["name"])
            bytes_moved = max(event["args"]["ret"], 0)
            if action in ("GET", "PUT"):
                bytes_moved = event["args"]["ret"] >= 0
            elif action in ("SCAN", "QUEUE"):
                bytes_moved = 0
            elif action == "MAP":
                bytes_moved = event["args"]["length"]
            for side in sides.get(action, (action,)):
                calls[side] += 1
                moved[side] += bytes_moved
            calls["unknown"] += action in ("SCAN", "QUEUE")
    moving = {name for name, action in actions.items() if action in ("READ", "WRITE", "MAP", *sides)}
    expect_equal(moving - met, set(), "calls that every.py does not make")
    done = run([COMMAND, "summary", "--json", traces], untraced())
    expect_equal((done.returncode, done.stderr), (0, ""), "summary")
    told = json.loads(done.stdout)["io"]["all"]
    expect_equal((told["reads"], told["read_bytes"]), (calls["READ"], moved["READ"]), "reads and their bytes")
    expect_equal((told["writes"], told["write_bytes"]), (calls["WRITE"], moved["WRITE"]), "writes and their bytes")
    expect_equal((told["mapped_bytes"], told["unknown"]), (moved["MAP"], calls["unknown"]), "mapped, unknown")


def case_a_line_is_as_many_bytes_as_it_has(folder):
    """The end of the file is 0 bytes, not a failure."""
    with open(f"{folder}/lines", "w", encoding="utf-8") as file:
        file.write("one\nthree\n")
    run([sys.executable, "-c", LINES, f"{folder}/lines"], traced(folder, DATA_DIR=f"{folder}/lines"))
    (trace,) = read_folder(folder)
    told = [(event["name"], event["args"]["ret"]) for event in trace.user_events()]
    got = [row for row in told if row[0] in ("getline", "fgets")]
    expect_equal(got, [("getline", 4), ("getline", 6), ("getline", 0), ("fgets", 4), ("fgets", 6), ("fgets", 0)], "ret")


def case_an_event_has_what_the_table_says(folder):
    """The arguments of events that no call lacks."""
    data = os.path.join(folder, "data")
    os.mkdir(data)
    run(["dd", "if=/dev/zero", f"of={data}/zeros", "bs=512", "count=3"], traced(folder, DATA_DIR=data))
    (trace,) = read_folder(folder)
    ((_, events),) = events_by_path(trace).items()
    writes = [event["args"] for event in events if event["name"] == "write"]
    expect_equal([(args["count"], args["ret"]) for args in writes], [(512, 512)] * 3, "write")
    (opened,) = [event["args"] for event in events if event["name"] == "open"]
    expect(opened["flags"] & os.O_CREAT and opened["mode"] == 0o666, f"open {opened}")
    expect(all(event["cat"] == "POSIX" for event in events), "categories")


main(globals())
