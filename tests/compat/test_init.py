"""DFTRACER_INIT: I/O calls are recorded once, by the initialise call, by the preload library, or by both."""

import os
import tempfile
from pathlib import Path

import normal
import programs

PRELOAD = programs.LIBRARY.parent / "libdftracer_preload.so"


def trace(program, folder, mode, with_preload):
    """What the program recorded, as lines."""
    data = f"{folder}-data"
    os.makedirs(data)
    os.makedirs(folder)
    environment = dict(os.environ, DFTRACER_ENABLE="1", DFTRACER_INIT=mode, DFTRACER_LOG_FILE=f"{folder}/trace",
                       DFTRACER_DATA_DIR=data)  # fmt: skip
    if with_preload:
        environment["LD_PRELOAD"] = str(PRELOAD)
    programs.run(program, data, env=environment)
    return normal.folder(folder)


def main():
    source = programs.CLIENTS / "io.c"
    everything = source.with_suffix(".expected").read_text()
    annotated = [line for line in everything.split("\n") if "POSIX" not in line and "STDIO" not in line]
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch) / "io"
        programs.build("gcc", source, program)
        for mode in ("FUNCTION", "PRELOAD", "HYBRID"):
            found = trace(program, f"{scratch}/{mode}-preload", mode, True)
            assert found == everything, f"{mode} with the preload library:\n{found}"
            found = trace(program, f"{scratch}/{mode}", mode, False)
            if mode == "PRELOAD":
                assert found.split("\n") == annotated, f"{mode} alone:\n{found}"
            else:
                assert found == everything, f"{mode} alone:\n{found}"


main()
