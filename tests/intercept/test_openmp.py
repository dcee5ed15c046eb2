"""test_openmp.py - threads of OpenMP teams are named by their numbers, with GCC's library and with LLVM's.
SPDX-License-Identifier: MIT
"""

import ctypes.util
import glob
import os

from io_harness import SOURCE, Skip, events_by_path, expect, expect_equal, main, read_folder, run, traced, untraced


def thread_names(folder, *libraries):
    """Runs the team with that library: the name of the thread that opened each file."""
    path = os.path.join(folder, "team")
    compiled = f"{path}.o"
    for words in (["cc", "-fopenmp", "-c", f"{SOURCE}/tests/intercept/programs/team.c", "-o", compiled],
                  ["cc", compiled, *libraries, "-pthread", "-o", path]):
        done = run(words, untraced())
        expect_equal(done.returncode, 0, done.stderr)
    data = os.path.join(folder, "data")
    os.mkdir(data)
    done = run([path], traced(folder, DATA_DIR=data), cwd=data)
    expect_equal((done.returncode, done.stderr), (0, ""), path)
    (trace,) = read_folder(folder, small=True)
    names = {event["tid"]: event["args"]["name"] for event in trace.named("thread_name")}
    opened = {os.path.basename(name): events[0]["tid"] for name, events in events_by_path(trace).items()}
    expect_equal(sorted(opened), ["0", "1", "2", "3", "other"], "files")
    expect_equal(opened["0"], trace.pid, "the first thread")
    expect_equal(names[opened["other"]], str(opened["other"]), "a thread of no team")
    return [names[opened[str(number)]] for number in (1, 2, 3)]


def case_gcc(folder):
    expect_equal(thread_names(folder, "-fopenmp"), ["OpenMP 1", "own name", "OpenMP 3"], "names")


def case_llvm(folder):
    found = glob.glob("/usr/lib/llvm-*/lib/libomp.so*") or [name for name in [ctypes.util.find_library("omp")] if name]
    if not found:
        raise Skip("no libomp here")
    library = found[0]
    folder_of = os.path.dirname(library)
    expect_equal(thread_names(folder, library if folder_of else f"-l:{library}", f"-Wl,-rpath,{folder_of}"),
                 ["OpenMP 1", "own name", "OpenMP 3"], "names")
    with open(os.path.join(folder, "team"), "rb") as file:
        expect(b"libgomp" not in file.read(), "only LLVM's library is linked")


main(globals())
