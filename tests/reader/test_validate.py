"""dftracer validate finds each broken rule, in its line, and nothing in sound traces; what info and cat say."""

import json
import os
import subprocess
import sys
import tempfile
import zlib

HEAD = [
    '{"id":1,"name":"HH","cat":"dftracer","pid":7,"tid":7,"ph":"M",'
    '"args":{"hhash":"2a702c695247d487","name":"node","value":"2a702c695247d487"}}',
    '{"id":2,"name":"FH","cat":"dftracer","pid":7,"tid":7,"ph":"M",'
    '"args":{"hhash":"2a702c695247d487","name":"/d/f","value":"457466652c169c22"}}',
]
END = (
    '{"id":999,"name":"end","cat":"dftracer","pid":7,"tid":7,"ts":1727286231149000,"dur":0,"ph":"X",'
    '"args":{"hhash":"2a702c695247d487"}}'
)


def event(number, start=0, length=10, **changes):
    one = {
        "id": number,
        "name": "work",
        "cat": "app",
        "pid": 7,
        "tid": 7,
        "ts": 1727286231145000 + start,
        "dur": length,
        "ph": "X",
        "args": {"hhash": "2a702c695247d487", "p_idx": -1, "level": 1, "text": "ä"},
    }
    args = changes.pop("args", {})
    one |= changes
    one["args"] = one["args"] | args if isinstance(args, dict) else args
    return json.dumps(
        {key: value for key, value in one.items() if value is not None}, ensure_ascii=False, separators=(",", ":")
    )


def text(*lines, head=HEAD, end=END, first="["):
    return ("\n".join([first, *head, *lines, end]) + "\n").encode()


def member(data):
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def run(*arguments):
    return subprocess.run([os.environ["DFT_TEST_COMMAND"], *arguments], capture_output=True, text=True, check=False)


GOOD = text(event(10), event(11, 20), event(12, 21, 3, args={"p_idx": 11, "level": 2, "fhash": "457466652c169c22"}))
CUT = GOOD.index(b"\n", 200) + 1

# What stands in the file, the code and the line that must be named (0: the file).
BROKEN = {
    "first": (text(event(10), first="").replace(b"\n", b"", 1), "F6", 1),
    "end": (text(event(10), end=event(11, 20)), "F7", 5),
    "comma": (text(event(10) + ","), "F8", 4),
    "blank": (text(event(10), ""), "F8", 5),
    "bracket": (text(event(10), "]"), "F8", 5),
    "utf8": (text(event(10)).replace("ä".encode(), b"\xff"), "F9", 4),
    "spaces": (text(event(10).replace('"pid":', '"pid": ')), "F9", 4),
    "long": (text(event(10, args={"text": "x" * 500})), "W1", 4),
    "torn": (text(event(10))[:-1], "L1", 5),
    "json": (text(event(10).replace('"dur":10', '"dur":010')), "L1", 4),
    "nan": (text(event(10, args={"x": 0}).replace('"x":0', '"x":NaN')), "L1", 4),
    "control": (text(event(10).replace("ä", "\t")), "L1", 4),
    "twice": (text(event(10).replace('"pid":7', '"pid":7,"pid":7')), "L1", 4),
    "surrogate": (text(event(10).replace("ä", "\\ud83d")), "L1", 4),
    "phase": (text(event(10, ph=1)), "L2", 4),
    "letter": (text(event(10, ph="B")), "L2", 4),
    "name": (text(event(10, name="")), "L3", 4),
    "cat": (text(event(10, cat="")), "L3", 4),
    "tid": (text(event(10, tid=2**32)), "L4", 4),
    "pid": (text(event(10, pid="x")), "L4", 4),
    "args": (text(event(10, args=None).replace('"args":null', '"args":1')), "L5", 4),
    "id": (text(event(0)), "L6", 4),
    "same": (text(event(10), event(10, 50)), "L6", 5),
    "nested": (text(event(10, args={"x": {"y": 1}})), "L7", 4),
    "list": (text(event(10, args={"x": [1]})), "L7", 4),
    "fraction": (text(event(10).replace('"dur":10', '"dur":10.5')), "T1", 4),
    "negative": (text(event(10, 0, -3)), "T1", 4),
    "relative": (text(event(10, ts=5)), "T2", 4),
    "overlap": (text(event(10), event(11, 5)), "T4", 5),
    "level": (text(event(10, args={"level": 2})), "A3", 4),
    "parent": (text(event(10, args={"p_idx": 3})), "A3", 4),
    "number": (text(event(10, args={"hhash": 5})), "H1", 4),
    "unnamed": (text(event(10), head=[HEAD[0], HEAD[1].replace("/d/f", "")]), "H2", 3),
    "host": (text(event(10), head=[HEAD[0].replace('"value":"2a', '"value":"2b'), HEAD[1]]), "H3", 2),
    "file": (text(event(10, args={"fhash": "00"})), "H4", 4),
    "undefined": (text(event(10), head=[]), "H5", 2),
    "process": (text(event(10, pid=8, tid=8)), "F1", 4),
    "hostless": (text(event(10).replace('"hhash":"2a702c695247d487",', "")), "W2", 4),
}
PACKED = {
    "torn": (member(GOOD)[:-9], "F2", 0),
    "empty": (member(GOOD) + member(b""), "F2", 0),
    "ragged": (member(GOOD[: CUT + 10]) + member(GOOD[CUT + 10 :]), "F2", 4),
    "padded": (member(GOOD) + b"\0\0\0\0", "F2", 0),
    "small": (member(GOOD[:CUT]) + member(GOOD[CUT:]), "W3", 0),
}


def findings(path, *options):
    done = run("validate", *options, path)
    found = set()
    for line in done.stdout.splitlines():
        where, _, rest = line[len(path) :].partition(": ")
        if rest.split(" ")[0] not in ("ok,",):
            found.add((rest.split(" ")[0], int(where[1:] or 0) if where else 0))
    return done.returncode, found


def save(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def sound_traces_pass(folder):
    for name, data in (("good.pfw", GOOD), ("good.pfw.gz", member(GOOD))):
        status, found = findings(save(os.path.join(folder, name), data))
        assert (status, found) == (0, set()), (name, status, found)


def every_broken_rule_is_found(folder):
    cases = [(f"{name}.pfw", *case) for name, case in BROKEN.items()] + [
        (f"{name}.pfw.gz", *case) for name, case in PACKED.items()
    ]
    for name, data, code, line in cases:
        status, found = findings(save(os.path.join(folder, name), data))
        assert (code, line) in found, f"{name}: {found} is without {code} in line {line}"
        assert status == (0 if code[0] == "W" else 1), (name, status, found)
        listed = run("validate", "--rules").stdout
        assert f"{code}  " in listed, code
    status, found = findings(save(os.path.join(folder, "overlap.pfw"), BROKEN["overlap"][0]), "--overlap")
    assert (status, found) == (0, set())


def other_names_are_found(folder):
    save(os.path.join(folder, "good.pfw"), GOOD)
    save(os.path.join(folder, "good.pfw.zindex"), b"x")
    done = run("validate", folder)
    assert done.returncode == 1 and "good.pfw.zindex: F1" in done.stdout, done.stdout
    assert run("validate", os.path.join(folder, "none")).returncode == 1
    assert run("validate").returncode == 2


def info_tells_what_is_there(folder):
    path = save(os.path.join(folder, "good.pfw.gz"), member(GOOD))
    found = json.loads(run("info", "--json", path).stdout)
    assert (found["host"], found["pid"], found["events"], found["metadata"], found["members"], found["lines"]) == (
        "node",
        7,
        3,
        2,
        1,
        GOOD.count(b"\n"),
    ), found
    assert (found["start_ns"], found["end_ns"]) == (1727286231145000000, 1727286231149000000)
    assert found["text_bytes"] == len(GOOD) and found["ended"] is True and found["problems"] == 0
    assert "3, 2 metadata lines" in run("info", path).stdout
    torn = save(os.path.join(folder, "torn.pfw.gz"), member(GOOD)[:-30])
    done = run("info", torn)
    assert done.returncode == 1 and "cut off" in done.stderr, done


def cat_prints_the_lines_that_are_wanted(folder):
    path = save(os.path.join(folder, "good.pfw.gz"), member(GOOD))
    lines = GOOD.decode().splitlines()[1:]
    assert run("cat", path).stdout.splitlines() == lines
    assert run("cat", "--name", "wor?", path).stdout.splitlines() == lines[2:5]
    assert run("cat", "--cat", "dft*", "--name", "end", path).stdout.splitlines() == lines[5:]
    assert run("cat", "--from", "20us", "--to", "21us", path).stdout.splitlines() == lines[3:4]
    assert run("cat", "--tid", "8", path).stdout == ""
    resolved = [json.loads(line)["args"] for line in run("cat", "--resolve", path).stdout.splitlines()]
    assert resolved[4]["fhash"] == "/d/f" and resolved[4]["hhash"] == "node", resolved[4]
    done = run("cat", save(os.path.join(folder, "bad.pfw"), GOOD + b"nonsense\n"))
    assert done.returncode == 1 and done.stdout.splitlines() == lines and ":8: " in done.stderr, done


def main():
    for case in (
        sound_traces_pass,
        every_broken_rule_is_found,
        other_names_are_found,
        info_tells_what_is_there,
        cat_prints_the_lines_that_are_wanted,
    ):
        with tempfile.TemporaryDirectory() as folder:
            case(folder)
            print("passed:", case.__name__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
