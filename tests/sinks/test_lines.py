"""Random events, most of them nasty, are read back from their lines by Python's strict JSON parser.

What the writer shall do is computed here from the event alone: every value comes back under its key, or under a name
made up for it; bytes that are not UTF-8 can be recovered; no key stands in a line twice; no line holds a bracket.
"""

import codecs
import json
import math
import os
import random
import struct
import subprocess
import sys

INT, UINT, DOUBLE, STRING, BOOL, PATH = range(1, 7)
HOST = "2a702c695247d487"
RESERVED = (b"hhash", b"p_idx", b"level")

KEYS = [b"", b"_", b"arg._", b"a", b"a.hex", b"arg.a", b"arg.a.hex", b"a.cut", b"arg.a.cut", b"hhash", b"arg.hhash",
        b"arg.hhash.hex", b"arg.arg.hhash", b"level", b"p_idx", b"name", b"name.hex", b"event.name", b"event.name.hex",
        b"cat", b"cat.hex", b"event.cat", b"a\xff", b"a\xfe", "a\ufffd.61ff".encode(), "a\ufffd.61ff.hex".encode(),
        "a\ufffd".encode(), b"[", b'"', b"\\", b"\n", b"\x00", "ключ".encode(), b"k" * 3000]  # fmt: skip
TEXTS = [b"", b"a", b"forward", b"tab\there", b'"quoted"', b"back\\slash", b"x[1]", b"{}", b"\x00\x01\x1f\x7f", b"\xff",
         b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xe2\x82\"", "€".encode(),
         "\u2028\u0085\U0001f600".encode(), b"</script>", b"long " * 1000, b"\xff" * 300]  # fmt: skip
INTS = [0, 1, -1, 2**53, -(2**53) - 1, 2**63 - 1, -(2**63)]
UINTS = [0, 1, 2**63, 2**64 - 1]
DOUBLES = [0.0, -0.0, 0.1, 1e15, 1e16, 1e22, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1 / 3, math.nan,
           math.inf, -math.inf]  # fmt: skip

codecs.register_error("each_byte", lambda error: ("\ufffd" * (error.end - error.start), error.end))


def random_bytes(rng):
    alphabet = b'ab"\\[]\n\x00\x7f\x80\x9f\xa0\xbf\xc2\xe0\xed\xef\xf0\xf4\xff'
    return bytes(rng.choice(alphabet) for _ in range(rng.randrange(20)))


def random_text(rng):
    return rng.choice(TEXTS) if rng.random() < 0.7 else random_bytes(rng)


def random_value(rng):
    key = rng.choice(KEYS) if rng.random() < 0.9 else random_bytes(rng)
    kind = rng.choice((INT, UINT, DOUBLE, STRING, STRING, STRING, BOOL, PATH))
    if kind == DOUBLE:
        value = rng.choice(DOUBLES) if rng.random() < 0.5 else struct.unpack("d", rng.randbytes(8))[0]
    elif kind in (STRING, PATH):
        value = random_text(rng)
    else:
        value = {INT: rng.choice(INTS), UINT: rng.choice(UINTS), BOOL: rng.choice((0, 1))}[kind]
    return key, kind, rng.choice((0, 0, 0, 70000)) if kind == STRING else 0, value


def random_event(rng):
    return {
        "id": rng.randrange(1, 2**64),
        "parent": rng.choice((-1, 1, 2**63 - 1)),
        "start": rng.choice((0, 1727286231145121, 2**63 - 1)),
        "duration": rng.choice((0, 12, 2**63 - 1)),
        "level": rng.choice((0, 1, 2**32 - 1)),
        "phase": rng.choice("XMC"),
        "pid": rng.choice((0, 1, 2**32 - 1)),
        "tid": rng.choice((0, 1, 2**32 - 1)),
        "name": random_text(rng),
        "cat": random_text(rng),
        "values": [random_value(rng) for _ in range(rng.randrange(12))],
    }


def pack_text(text):
    return struct.pack("I", len(text)) + text


def pack(event):
    packed = struct.pack("Qqqq", event["id"], event["parent"], event["start"], event["duration"])
    packed += struct.pack("IIII", event["level"], ord(event["phase"]), event["pid"], event["tid"])
    packed += pack_text(event["name"]) + pack_text(event["cat"]) + struct.pack("I", len(event["values"]))
    for key, kind, cut_from, value in event["values"]:
        packed += pack_text(key) + struct.pack("=IQ", kind, cut_from)
        if kind in (STRING, PATH):
            packed += pack_text(value)
        else:
            packed += struct.pack({INT: "q", UINT: "Q", DOUBLE: "d", BOOL: "q"}[kind], value)
    return packed


def without_duplicates(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), f"a key stands twice: {[key for key, _ in pairs]}"
    return dict(pairs)


def no_constant(text):
    raise AssertionError(f"{text} is not JSON")


def is_utf8(text):
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def shown(text):
    return text.decode("utf-8", "each_byte")


def shown_value(kind, value):
    """What the parser must give for a value, as text that tells 1 from 1.0 and 0.0 from -0.0."""
    if kind in (STRING, PATH):
        return repr(shown(value))
    if kind == DOUBLE and not math.isfinite(value):
        return repr("nan" if math.isnan(value) else "inf" if value > 0 else "-inf")
    return repr(value)


def is_plain(key):
    return key not in RESERVED and key != b"" and is_utf8(key)


def check_args(event, args):
    assert args.pop("hhash", None) == (None if event["phase"] == "C" else HOST)
    if event["phase"] == "X" and event["level"]:
        assert (args.pop("p_idx"), args.pop("level")) == (event["parent"], event["level"])
    last = {key: rest for key, *rest in event["values"]}
    hex_wanted = [text for text in (event["name"], event["cat"]) if not is_utf8(text)]
    cuts = 0
    made_up = []
    for key, (kind, cut_from, value) in last.items():
        if is_plain(key):
            assert repr(args.pop(key.decode())) == shown_value(kind, value), key
        else:
            made_up.append(("" if is_utf8(key) else "." + key.hex(), shown_value(kind, value)))
        if kind in (STRING, PATH) and not is_utf8(value):
            hex_wanted.append(value)
        cuts += cut_from != 0
    rest = list(args.items())
    for ending, value in sorted(made_up, reverse=True):  # those that must end in something first
        rest.remove(next(item for item in rest if repr(item[1]) == value and item[0].endswith(ending)))
    for text in hex_wanted:
        rest.remove(next(item for item in rest if ".hex" in item[0] and item[1] == text.hex()))
    assert [value for _, value in rest] == [70000] * cuts, rest
    assert all(".cut" in key for key, _ in rest), rest


def check_line(event, line):
    assert b"[" not in line and b"]" not in line
    read = json.loads(line.decode(), parse_constant=no_constant, object_pairs_hook=without_duplicates)
    wanted = ["id", "name", "cat", "pid", "tid", "ts", "dur", "ph", "args"]
    if event["phase"] != "X":
        wanted.remove("dur")
    if event["phase"] == "M":
        wanted.remove("ts")
    assert list(read) == wanted
    assert (read["id"], read["pid"], read["tid"]) == (event["id"], event["pid"], event["tid"])
    assert (read["name"], read["cat"]) == tuple(shown(event[key] or b"(unnamed)") for key in ("name", "cat"))
    assert read.get("ts", event["start"]) == event["start"]
    assert read.get("dur", event["duration"]) == event["duration"]
    assert read["ph"] == event["phase"]
    check_args(event, read["args"])


def main():
    rng = random.Random(20)
    events = [random_event(rng) for _ in range(5000)]
    program = os.path.join(os.environ["DFT_TEST_PROGRAMS"], "write_lines")
    result = subprocess.run([program, HOST], input=b"".join(map(pack, events)), stdout=subprocess.PIPE, check=True)
    lines = result.stdout.split(b"\n")
    assert lines.pop() == b"", "the last line has no end"
    assert len(lines) == len(events)
    for event, line in zip(events, lines):
        try:
            check_line(event, line)
        except Exception:
            print("event", event, "\nline", line, file=sys.stderr)
            raise


if __name__ == "__main__":
    main()
