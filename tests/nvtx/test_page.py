"""test_page.py - docs/nvtx.md: its programs are run by its own lines, and its limits are those of the code.
SPDX-License-Identifier: MIT
"""

import os
import re

from nvtx_harness import (
    COMMAND,
    CORE,
    INSTALLED,
    SOURCE,
    Skip,
    compile_c,
    expect,
    expect_equal,
    main,
    only_trace,
    run,
    tally,
    traced,
    untraced,
)

with open(f"{SOURCE}/docs/nvtx.md", encoding="utf-8") as file:
    PAGE = file.read()


def block(kind):
    (found,) = re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return found


def case_the_python_program_by_both_commands(folder):
    if not os.path.exists(INSTALLED):
        raise Skip(f"{INSTALLED} is not there; ./dev test nvtx installs it")
    wanted = {("solver", "step"): 3, ("solver", "exchange"): 3, ("NVTX", "done"): 1}
    path = f"{INSTALLED}/bin:{os.path.dirname(COMMAND)}:{os.environ['PATH']}"
    commands = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    expect_equal(len(commands), 2, "examples for the shell")
    for number, command in enumerate(commands):
        place = os.path.join(folder, str(number))
        os.mkdir(place)
        with open(f"{place}/train.py", "w", encoding="utf-8") as program:
            program.write(block("python train.py"))
        done = run(["bash", "-e", "-c", f"cd {place}\n{command}"],
                   untraced() | {"PATH": path, "LIB": os.path.dirname(CORE)})
        expect_equal(done.returncode, 0, done.stderr)
        os.rename(f"{place}/traces", f"{place}/out")
        expect_equal(tally(only_trace(place)), wanted, command)


def case_the_c_program(folder):
    source = os.path.join(folder, "solver.c")
    with open(source, "w", encoding="utf-8") as program:
        program.write(block("c solver.c"))
    traced(folder, [compile_c(folder, source)])
    expect_equal(tally(only_trace(folder)), {("NVTX", "step"): 3, ("NVTX", "done"): 1}, "events")


def case_the_limits(_folder):
    with open(f"{SOURCE}/c/nvtx/startedrange.c", encoding="utf-8") as file:
        slots, blocks = map(int, re.search(r"BLOCK_SLOTS = (\d+), BLOCKS = (\d+)", file.read()).groups())
    with open(f"{SOURCE}/c/nvtx/nvtxevent.h", encoding="utf-8") as file:
        text = int(re.search(r"TEXT_MOST = (\d+)", file.read()).group(1))
    expect(f"{slots * blocks:,} may be open" in PAGE, slots * blocks)
    expect(f"cut after {text:,} bytes" in PAGE, text)


main(globals())
