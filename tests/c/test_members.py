"""F3: members of a compressed trace hold 256 KiB to 1 MiB of text, only the last one less, whatever is recorded."""

import json
import os
import subprocess
import tempfile
import zlib
from pathlib import Path

PROGRAM = Path(os.environ["DFT_TEST_PROGRAMS"]) / "record_members"
LEAST, MOST = 256 << 10, 1 << 20
# What is recorded, and how often. "small" does it on two threads.
SHAPES = {"small": 1500000, "texts": 20000, "huge": 300, "paths": 100000, "threads": 10000}
SANITIZED = any(name in PROGRAM.read_bytes() for name in (b"__asan_init", b"__tsan_init"))


def members(path):
    """The text of each member; complete ones, and nothing between or behind them (F2)."""
    rest = path.read_bytes()
    while rest:
        inflate = zlib.decompressobj(wbits=31)
        text = inflate.decompress(rest)
        assert inflate.eof, "the last member is torn"
        assert text.endswith(b"\n"), "a member ends inside a line"
        rest = inflate.unused_data
        yield text


def check(shape, count, sinks="jsonl"):
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": f"{folder}/a.pfw", "DFTRACER_SINK": sinks}
        subprocess.run([PROGRAM, shape, str(count)], env=env, check=True)
        sizes, events = [], 0
        for text in members(Path(folder) / "a.pfw.gz"):
            sizes.append(len(text))
            events += text.count(b'"cat":"test"')
    dropped = json.loads(text.splitlines()[-1])["args"].get("num_dropped", 0)  # on a machine busy with other things
    assert events + dropped == (2 * count if shape == "small" else count), (shape, events, dropped)
    assert len(sizes) > 1 or SANITIZED, (shape, sizes)
    wrong = [size for size in sizes[:-1] if not LEAST <= size <= MOST]
    assert not wrong, f"{shape}: members of {wrong[:10]} bytes, {len(wrong)} of {len(sizes)}"
    assert 0 < sizes[-1] <= MOST, (shape, sizes[-1])
    print(f"{shape}: {len(sizes)} members of {min(sizes[:-1] or sizes)} to {max(sizes)} bytes, the last {sizes[-1]}")


for shape, count in SHAPES.items():
    check(shape, count // 10 if SANITIZED else count)  # sanitizers make it 10 times slower
check("small", 100000, "null,jsonl")  # the other sink takes batches of another size
