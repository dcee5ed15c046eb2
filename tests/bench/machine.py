"""machine.py - what the numbers of a benchmark depend on: processor, kernel, compiler, backend, file system.
SPDX-License-Identifier: MIT
"""

import os
import platform
import subprocess
import sys
from pathlib import Path


def cmake_cache(build: Path) -> dict[str, str]:
    """The entries of a build folder's CMakeCache.txt."""
    try:
        lines = (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        sys.exit(f"run.py: {build} is no build folder: {error.strerror}")
    entries = {}
    for line in lines:
        name, found, value = line.partition("=")
        if found and not line.startswith(("#", "//")):
            entries[name.partition(":")[0]] = value
    return entries


def backend(build: Path) -> str:
    """The compression backend: as cmake/compression.cmake chooses it."""
    cache = cmake_cache(build)
    chosen = cache.get("DFTRACER_COMPRESSION", "auto")
    if chosen != "auto":
        return chosen
    for name, prefix in (("isal", "ISAL"), ("libdeflate", "LIBDEFLATE")):
        parts = (cache.get(f"{prefix}_INCLUDE_DIR", "NOTFOUND"), cache.get(f"{prefix}_LIBRARY", "NOTFOUND"))
        if not any(part.endswith("NOTFOUND") for part in parts):
            return name
    return "zlib"


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def file_system(folder: Path) -> str:
    """The type of the file system a folder is on: of the mount point with the longest matching path."""
    folder = folder.resolve()
    best, found = "", "unknown"
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, point, kind, *_ = line.split()
        if len(point) >= len(best) and (folder == Path(point) or Path(point) in folder.parents):
            best, found = point, kind
    return found


def clock_source() -> str:
    path = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    return path.read_text(encoding="utf-8").strip() if path.exists() else "unknown"


def compiler(cache: dict[str, str]) -> str:
    command = [cache["CMAKE_C_COMPILER"], "--version"]
    version = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    kind = cache.get("CMAKE_BUILD_TYPE", "")
    flags = cache.get(f"CMAKE_C_FLAGS_{kind.upper()}", "")
    return f"{version.splitlines()[0] if version else command[0]}, {kind} ({flags})"


def facts(build: Path, traces: Path) -> dict[str, str]:
    cache = cmake_cache(build)
    return {
        "processor": f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "kernel": f"{platform.system()} {platform.release()}, clock {clock_source()}",
        "compiler": compiler(cache),
        "backend": backend(build),
        "traces on": file_system(traces),
    }
