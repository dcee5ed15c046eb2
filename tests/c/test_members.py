"""F3: members of a compressed trace hold 256 KiB to 1 MiB of text, only the last one less, whatever is recorded."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["DFT_TEST_SOURCE"]) / "tests"))
from trace import read_folder  # noqa: E402

LEAST, MOST = 256 << 10, 1 << 20
# shape: events, and how many of them (sanitizers are slower: fewer)
SHAPES = {"small": 1500000, "texts": 20000, "huge": 300, "paths": 100000, "threads": 10000}


def is_sanitized():
    program = Path(os.environ["DFT_TEST_PROGRAMS"]) / "record_members"
    return b"__sanitizer" in program.read_bytes() or b"__tsan_init" in program.read_bytes()


def check(shape, count):
    with tempfile.TemporaryDirectory() as folder:
        program = Path(os.environ["DFT_TEST_PROGRAMS"]) / "record_members"
        env = {**os.environ, "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": f"{folder}/a.pfw"}
        subprocess.run([program, shape, str(count)], env=env, check=True)
        (trace,) = read_folder(folder)
        expected = 2 * count if shape == "small" else count
        assert trace.end["args"]["num_events"] == expected, (shape, trace.end)
        assert len(trace.members) > 1 or is_sanitized(), (shape, trace.members)
        wrong = [size for size in trace.members[:-1] if not LEAST <= size <= MOST]
        assert not wrong, f"{shape}: members of {wrong[:10]} bytes, {len(wrong)} of {len(trace.members)}"
        assert 0 < trace.members[-1] <= MOST, (shape, trace.members[-1])
        print(f"{shape}: {len(trace.members)} members, {min(trace.members[:-1] or [0])} to {max(trace.members)} bytes")


for shape, count in SHAPES.items():
    check(shape, count // 10 if is_sanitized() else count)
