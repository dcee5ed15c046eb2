"""config.py - where the parts of an installed dftracer are, for builds and job scripts.

python -m dftracer.config --preload     the library for LD_PRELOAD
python -m dftracer.config --nvtx        the library for NVTX_INJECTION64_PATH
python -m dftracer.config --cmake       for -Ddftracer_DIR=
python -m dftracer.config --includes    for -I
python -m dftracer.config --libs        for -L; link with -ldftracer_core
"""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# option -> (path below the package, what it is)
PARTS = {
    "--preload": ("lib/libdftracer_preload.so", "the library for LD_PRELOAD"),
    "--nvtx": ("lib/libdftracer_nvtx.so", "the library for NVTX_INJECTION64_PATH"),
    "--cmake": ("lib/cmake/dftracer", "the folder of the CMake package"),
    "--includes": ("include", "the folder of the headers"),
    "--libs": ("lib", "the folder of the libraries"),
    "--command": ("bin/dftracer", "the dftracer command"),
}


def path_of(option: str) -> str:
    """The path of a part. Raises FileNotFoundError if the package was not installed from a wheel."""
    path = os.path.join(HERE, PARTS[option][0])
    if not os.path.exists(path):
        raise FileNotFoundError(f"this installation of dftracer does not contain {path}")
    return path


def main(arguments: list[str] | None = None) -> int:
    """Prints the paths of the given parts."""
    options = sys.argv[1:] if arguments is None else arguments
    if not options or any(option not in PARTS for option in options):
        lines = [f"  {option:12} {summary}" for option, (_, summary) in PARTS.items()]
        wanted = any(option in ("-h", "--help") for option in options)
        print("usage: python -m dftracer.config OPTION...", *lines, sep="\n", file=sys.stdout if wanted else sys.stderr)
        return 0 if wanted else 2
    try:
        for option in options:
            print(path_of(option))
    except FileNotFoundError as error:
        print(f"dftracer.config: {error}", file=sys.stderr)
        return 1
    return 0


def run_command() -> None:
    """Executes the dftracer command in place of this process."""
    command = path_of("--command")
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
