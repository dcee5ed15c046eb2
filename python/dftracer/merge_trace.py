"""merge_trace.py - the script merge_trace: merges traces of ranks and of torch.profiler with `dftracer merge`."""

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
        prog="merge_trace", description="Merge traces of ranks and of torch.profiler into one timeline."
    )
    parser.add_argument("--file-list", "--file_list", nargs="+", required=True, metavar="FILE", help="the traces")
    parser.add_argument("--output", "-o", required=True, metavar="FILE", help="the merged trace; .gz compresses it")
    given = parser.parse_args()
    files = [found(name) for name in given.file_list]
    return subprocess.run([command(), "merge", *files, "-o", given.output], check=False).returncode


def command() -> str:
    """The dftracer command of this package, or the one on PATH if the package has none."""
    try:
        return path_of("--command")
    except FileNotFoundError:
        on_path = shutil.which("dftracer")
        if on_path is None:
            raise
        return on_path


def found(name: str) -> str:
    """The name, or the name with .gz if only the compressed file exists."""
    return name if os.path.exists(name) or not os.path.exists(name + ".gz") else name + ".gz"


if __name__ == "__main__":
    sys.exit(main())
