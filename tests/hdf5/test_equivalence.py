"""test_equivalence.py - random events, written as JSON lines and as HDF5 tables at once: both hold exactly the same.

Of every type, with unicode, control characters, zero bytes anywhere, bytes that are no UTF-8, empty and odd keys,
64-bit extremes.
SPDX-License-Identifier: MIT
"""

import ctypes
import math
import os
import random
import signal
import struct
import subprocess
import sys

import h5trace
from h5lines import compare, json_lines

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "faults"))

from harness import environment, expect_equal, main, seeded

KEYS = [b"n", b"level", b"p_idx", b"hhash", b"", b"_", b"arg.level", b"name", b"value", b"cat", b"a.hex", b"a.cut",
        b"a", b"\xff", b"\xff\xfe", "größe".encode(), b"open", b"tab\tkey", b"[x]", b'quo"te',
        b"a\0", b"a\0\0", b"a\3", b"a\0\3", b"a\3\3", b"\0", b"\0\0", b"\3", b"\0a", b"a\0b", b"level\0"]
INTS = [0, 1, -1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)]
UINTS = [0, 1, 2**63, 2**64 - 1]
DOUBLES = [0.0, -0.0, 1.5, -2.25, 0.1, 1e300, -1e-300, 5e-324, 1.7976931348623157e308, math.nan, math.inf, -math.inf]
TEXTS = [b"", b"a", "日本語 ✓".encode(), b"nul\0inside", b"end\0", b"\0start", b"\0", b"\0\0\0", b"\3",
         b'"\\/\b\f\n\r\t', b"\x01\x1f\x7f", b"[1,2]", b"\xc3(", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80",
         "e\u0301".encode(), b"x" * 5000]
NAMES = [b"step", b"read", b"", "Größe".encode(), b"bad\xff", b"new\nline", b"n" * 300, b"step\0", b"step\0\0",
         b"step\3", b"\0", b"\0step", b"st\0ep", b"n" * 300 + b"\0"]


def record(library, rng, count, times=(0, 1, 7, 2**63 - 1)):
    """In the traced process: calls of the C API."""
    def text(data):
        return data, ctypes.c_size_t(len(data))

    def random_text():
        if rng.random() < 0.5:
            return rng.choice(TEXTS)
        if rng.random() < 0.02:
            return bytes(rng.choices(b"ab\xc3\xa4", k=70000))  # is cut, perhaps inside a character
        return bytes(rng.choices(range(256), k=rng.randrange(40)))

    def update(region):
        key = rng.choice(KEYS) if rng.random() < 0.7 else random_text()[:100]
        kind = rng.randrange(5)
        if kind == 0:
            library.dft_update_int_n(region, *text(key), ctypes.c_int64(rng.choice([*INTS, rng.getrandbits(63)])))
        elif kind == 1:
            library.dft_update_uint_n(region, *text(key), ctypes.c_uint64(rng.choice([*UINTS, rng.getrandbits(64)])))
        elif kind == 2:
            value = rng.choice(DOUBLES) if rng.random() < 0.5 else struct.unpack("d", rng.randbytes(8))[0]
            library.dft_update_double_n(region, *text(key), ctypes.c_double(value))
        elif kind == 3:
            library.dft_update_bool_n(region, *text(key), rng.randrange(2))
        else:
            library.dft_update_string_n(region, *text(key), *text(random_text()))

    library.dft_region_begin_n.restype = ctypes.c_uint64
    for i in range(count):
        name = rng.choice(NAMES) if rng.random() < 0.9 else b"name-%d" % i
        cat = rng.choice([b"app", b"POSIX", b"", b"\xfe", b"app\0", b"\0"])
        what = rng.randrange(8)
        if what < 5:
            region = ctypes.c_uint64(library.dft_region_begin_n(*text(name), *text(cat)))
            for _ in range(rng.choice([0, 1, 2, 3, 10])):
                update(region)
            library.dft_region_end_innermost()
        elif what == 5:
            library.dft_counter_n(*text(name), *text(cat), ctypes.c_double(rng.choice(DOUBLES)))
        elif what == 6:
            library.dft_metadata_n(*text(rng.choice(KEYS)), *text(random_text()))
        else:
            library.dft_log_event_n(*text(name), *text(cat), ctypes.c_uint64(rng.choice(times)),
                                    ctypes.c_uint64(rng.choice(times)), ctypes.c_uint32(rng.choice([0, 99])),
                                    None, ctypes.c_uint32(0))


def trial(folder, seed, count, sinks):
    done = subprocess.run([sys.executable, __file__, "record", str(seed), str(count)], check=False, text=True,
                          env=environment(folder, SINK=sinks), capture_output=True, timeout=100)
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), f"seed {seed}")
    (lines,) = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".pfw.gz")]
    (tables,) = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".h5")]
    shown, stored = json_lines(lines), h5trace.read(tables)
    expect_equal(len(stored), len(shown), f"seed {seed}: events")
    for line, row in zip(shown, stored, strict=True):
        compare(line, row)
    os.unlink(lines)
    os.unlink(tables)
    return len(shown)


def case_random_events_are_the_same_in_both_files(folder):
    rng = seeded()
    sizes = [1, 10, 300, 300, 1000, 17000]  # the last one fills a chunk of every table
    total = sum(trial(folder, rng.randrange(1 << 30), size, "jsonl,hdf5") for size in sizes)
    print(f"{total} events compared")


if sys.argv[1:2] in (["record"], ["record-and-die"]):
    library = ctypes.CDLL(os.environ["DFT_TEST_LIBRARY"])
    record(library, random.Random(int(sys.argv[2])), int(sys.argv[3]),
           *[[int(time) for time in times.split(",")] for times in sys.argv[4:]])
    if sys.argv[1] == "record-and-die":
        os.kill(os.getpid(), signal.SIGKILL)
    expect_equal(library.dft_stop(), 0, "dft_stop")
else:
    main(globals())
