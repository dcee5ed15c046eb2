#!/usr/bin/env python3
"""run.py - runs the benchmark programs of a build and prints what they reach, against the bars.

A missed bar is a result, not a failure: the exit status is 0 unless a program fails. README.md says how to read it.
SPDX-License-Identifier: MIT
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import machine
import peers
from measures import MEASURES, Bench, BenchError
from report import Row, print_table

SOURCE = Path(__file__).resolve().parents[2]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures dftracer and prints the results against the bars.")
    add = parser.add_argument
    add("--build", type=Path, required=True, metavar="DIR", help="build folder, made with DFTRACER_BENCH=ON")
    add("--zlib-build", type=Path, metavar="DIR", help="one with zlib; made here (default: bench-zlib beside it)")
    add("--quick", action="store_true", help="fewer rounds and events: a minute or two instead of many")
    add("--only", action="append", metavar="NAME", choices=MEASURES, help=f"may be repeated: {', '.join(MEASURES)}")
    add("--peers", action="store_true", help="instead: the same work on DFTracer 2.2.0 and LTTng-UST, in one table")
    add("--readme", action="store_true", help="with --peers: puts the table into the README")
    add("--dir", type=Path, metavar="DIR", help="where traces are written meanwhile (default: the build folder)")
    add("--json", type=Path, metavar="FILE", help="write all samples to this file, too")
    return parser.parse_args()


def build_with_zlib(build: Path, folder: Path) -> None:
    """Configures and builds the library and the benchmark programs with the zlib backend, as `build` was configured."""
    cache = machine.cmake_cache(build)
    settings = {
        "CMAKE_BUILD_TYPE": cache["CMAKE_BUILD_TYPE"],
        "CMAKE_C_COMPILER": cache["CMAKE_C_COMPILER"],
        "DFTRACER_COMPRESSION": "zlib",
        "DFTRACER_TESTS": "OFF",
        "DFTRACER_BENCH": "ON",
    }
    configure = ["cmake", "-S", str(SOURCE), "-B", str(folder), "-G", cache["CMAKE_GENERATOR"]]
    configure += [f"-D{name}={value}" for name, value in settings.items()]
    for command in (configure, ["cmake", "--build", str(folder), "--parallel"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"the build with zlib in {folder} failed:\n{done.stdout}")


def put_into_readme(text: str) -> None:
    path = SOURCE / "README.md"
    before, begin, rest = path.read_text(encoding="utf-8").partition("<!-- by ./dev bench --peers --readme -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    if not begin or not end:
        raise BenchError("the README has no place for the table")
    path.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")


def main() -> int:
    arguments = parse_arguments()
    build = arguments.build.resolve()
    facts = machine.facts(build, arguments.dir or build)
    print("\n".join(f"{name:12} {value}" for name, value in facts.items()), flush=True)
    if arguments.peers:
        table = peers.run(build, arguments.quick)
        if arguments.readme:
            put_into_readme(f"{machine.processor()}, {os.cpu_count()} cores:\n\n{table}\n")
        return 0
    backend = machine.backend(build)
    zlib_build = None
    wanted = arguments.only or list(MEASURES)
    if backend != "zlib" and {"sustained", "size"} & set(wanted):
        zlib_build = (arguments.zlib_build or build.parent / "bench-zlib").resolve()
        print(f"building with zlib in {zlib_build}", flush=True)
        build_with_zlib(build, zlib_build)

    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=arguments.dir or build) as folder:
        bench = Bench(build, backend, zlib_build, arguments.quick, Path(folder))
        for name in wanted:
            print(f"measuring {name} ...", file=sys.stderr, flush=True)
            rows += MEASURES[name](bench)
    print()
    print_table(rows)
    missed = [row.measure for row in rows if row.is_reached is False]
    print(f"\n{sum(row.is_reached is True for row in rows)} bars reached, {len(missed)} missed"
          + "".join(f"\n  missed: {name}" for name in missed))
    if arguments.json:
        result = {"machine": facts, "quick": arguments.quick, "rows": [row.as_dict() for row in rows]}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BenchError, peers.PeerError) as error:
        sys.exit(f"run.py: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
