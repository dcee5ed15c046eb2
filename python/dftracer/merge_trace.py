"""merge_trace.py - the script of that name: traces of ranks and of torch.profiler as one, by `dftracer merge`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

from dftracer.config import path_of


def main() -> int:
    """merge_trace --file-list A B ... --output C"""
    parser = argparse.ArgumentParser(
        prog="merge_trace", description="Merge traces of ranks, and those of torch.profiler, into one timeline."
    )
    parser.add_argument("--file-list", "--file_list", nargs="+", required=True, metavar="FILE", help="the traces")
    parser.add_argument("--output", "-o", required=True, metavar="FILE", help="the merged one; .gz compresses it")
    given = parser.parse_args()
    files = [found(name) for name in given.file_list]
    return subprocess.run([command(), "merge", *files, "-o", given.output], check=False).returncode


def command() -> str:
    """The dftracer command of this package, or the one on PATH where it was installed without."""
    try:
        return path_of("--command")
    except FileNotFoundError:
        on_path = shutil.which("dftracer")
        if on_path is None:
            raise
        return on_path


def found(name: str) -> str:
    """A trace named as it was asked for, where it is compressed."""
    return name if os.path.exists(name) or not os.path.exists(name + ".gz") else name + ".gz"


if __name__ == "__main__":
    sys.exit(main())
