"""test_page.py - docs/interception.md: its table is the table of the code, and its examples do what it says.
SPDX-License-Identifier: MIT
"""

import os
import re
import subprocess

from io_harness import (
    LIBRARY,
    PRELOAD,
    SOURCE,
    events_by_path,
    expect,
    expect_equal,
    main,
    program,
    read_folder,
    run,
    untraced,
)

with open(f"{SOURCE}/docs/interception.md", encoding="utf-8") as file:
    PAGE = file.read()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def prepared(folder):
    os.mkdir(os.path.join(folder, "data"))
    with open(os.path.join(folder, "input.txt"), "w", encoding="utf-8") as file:
        file.write("some text\n")
    return untraced() | {"LIB": os.path.dirname(PRELOAD)}


def case_the_table(_folder):
    table = run([program("print_calls")], untraced()).stdout
    expect(table.count("\n") > 140 and PAGE.endswith(table), "the table is that of tests/intercept/print_calls")


def case_the_shell_examples(folder):
    env = prepared(folder)
    first, second = blocks("sh")
    done = run(["bash", "-e", "-c", first], env, cwd=folder)
    expect_equal((done.returncode, done.stderr), (0, ""), first)
    expect('"name":"open"' in done.stdout, done.stdout)
    done = run(["bash", "-e", "-c", second], env, cwd=folder)
    expect_equal((done.returncode, done.stderr), (0, ""), second)
    found = [trace for trace in read_folder(os.path.join(folder, "out")) if "/some-" in trace.path]
    touched = {
        os.path.relpath(path, os.path.realpath(folder))
        for trace in found
        for path, events in events_by_path(trace).items()
        if not all("path2_hash" in event["args"] or event["name"].startswith("exec") for event in events)
    }
    expect_equal(touched, {"data/copy.txt"}, "files, but for those of calls on two")


def case_the_program(folder):
    (source,) = blocks("c")
    with open(os.path.join(folder, "inplace.c"), "w", encoding="utf-8") as file:
        file.write(source)
    library = os.path.dirname(LIBRARY)
    subprocess.run(
        [
            "cc",
            "-Wall",
            "-Werror",
            "inplace.c",
            f"-I{SOURCE}/c/include",
            f"-L{library}",
            "-ldftracer_core",
            f"-Wl,-rpath,{library}",
            "-o",
            "inplace",
        ],
        cwd=folder,
        check=True,
    )
    for env in (untraced(), untraced() | {"DFTRACER_ENABLE": "1"}):
        expect(not os.path.exists(os.path.join(folder, "out")), "a trace while tracing is off")
        done = run([os.path.join(folder, "inplace")], env, cwd=folder)
        expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "inplace")
        with open(os.path.join(folder, "data/result.txt"), encoding="utf-8") as file:
            expect_equal(file.read(), "42\n", "what the program wrote")
    (trace,) = read_folder(os.path.join(folder, "out"))
    ((path, events),) = events_by_path(trace).items()
    expect_equal(os.path.basename(path), "result.txt", "the file")
    expect_equal(
        [event["name"] for event in events],
        ["fopen", "fwrite", "fclose"],
        "calls; the compiler makes an fwrite of the fputs",
    )


main(globals())
