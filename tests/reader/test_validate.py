"""dftracer validate finds each broken rule, in its line, and nothing in sound traces; what info and cat say."""

import json
import os
import subprocess
import zlib

from cases import run_cases

HOST, FILE, COMMAND = "2a702c695247d487", "457466652c169c22", "3a702c695247d480"


def line(number, name, phase, args, **others):
    one = {"id": number, "name": name, "cat": "dftracer", "pid": 7, "tid": 7, **others, "ph": phase}
    return json.dumps(one | {"args": {"hhash": HOST} | args}, separators=(",", ":"))


HEAD = [
    line(1, "HH", "M", {"name": "node", "value": HOST}),
    line(2, "thread_name", "M", {"name": "7", "value": "thread_name"}),
    line(3, "CM", "M", {"name": "time_metric", "value": "US"}),
    line(4, "start", "X", {}, ts=1727286231144999, dur=0),
    line(5, "FH", "M", {"name": "/d/f", "value": FILE}),
]
METADATA = [
    line(6, "FH", "M", {"name": "/d", "value": "557466652c169c22"}),
    line(7, "SH", "M", {"name": "./a.out", "value": COMMAND}),
    line(8, "SH", "M", {"name": "./a.out", "value": COMMAND}),
]
STARTED = line(4, "start", "X", {"cmd_hash": COMMAND, "cwd": "557466652c169c22"}, ts=1727286231144999, dur=0)
END = line(999, "end", "X", {}, ts=1727286231149000, dur=0)
FIRST = 2 + len(HEAD)  # the line of the first event


def ended(**args):
    return line(999, "end", "X", args, ts=1727286231149000, dur=0)


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
        "args": {"hhash": HOST, "p_idx": -1, "level": 1, "text": "ä"},
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


GOOD = text(
    event(10),
    event(12, 21, 3, args={"p_idx": 11, "level": 2, "fhash": FILE}),
    event(13, 24, 6, args={"p_idx": 11, "level": 2, "path2_hash": FILE, "ret": "5"}),
    event(11, 20),
    event(14, 30, 9, name="read", cat="POSIX", args={"ret": -1}),
    line(15, "loss", "C", {"loss": 0.5}, ts=1727286231146000).replace("dftracer", "train"),
    line(16, "thread_name", "M", {"name": "lane"}, tid=2**22 + 1).replace('"tid":7,', ""),
    event(17, 25, 90, tid=2**22 + 1, args={"p_idx": 11, "level": 2}),
)
CUT = GOOD.index(b"\n", 200) + 1
LARGE = [event(1000 + i, 20 * i) for i in range(8000)]


def definition(**changes):
    """The lines of HEAD, with the definition of a file changed."""
    return [*HEAD[:4], line(5, "FH", "M", {"name": "/d/f", "value": FILE} | changes)]


def child(number, start=1, length=3, **args):
    return event(number, start, length, args={"p_idx": 11, "level": 2} | args)


# What stands in the file, the code and the line that must be named (0: the file).
BROKEN = {
    "process": (text(event(10, pid=8, tid=8)), "F1", FIRST),
    "first": (text(event(10), first="").replace(b"\n", b"", 1), "F6", 1),
    "object": (text(event(10), first="{}"), "F6", 1),
    "opening": (text(event(10), head=[HEAD[1], HEAD[0], *HEAD[2:]]), "F6", 2),
    "unit": (text(event(10), head=[*HEAD[:2], HEAD[2].replace('"US"', '"DAY"'), *HEAD[3:]]), "F6", 4),
    "metric": (text(event(10), head=[*HEAD[:2], *HEAD[3:]]), "F6", 4),
    "startless": (text(event(10), head=[*HEAD[:3], HEAD[4]]), "F6", 6),
    "half": (text(event(10), head=[*HEAD[:3], *METADATA[:2], *HEAD[3:]]), "F6", 7),
    "end": (text(event(10), end=event(11, 20)), "F7", FIRST + 1),
    "two ends": (text(event(10), END.replace("999", "99")), "F7", FIRST + 2),
    "two starts": (text(event(10), HEAD[3].replace('"id":4', '"id":44')), "F7", FIRST + 1),
    "long end": (text(event(10), end=END.replace('"dur":0', '"dur":1')), "F7", FIRST + 1),
    "count": (text(event(10), end=ended(num_events=2)), "F7", FIRST + 1),
    "comma": (text(event(10) + ","), "F8", FIRST),
    "blank": (text(event(10), ""), "F8", FIRST + 1),
    "bracket": (text(event(10), "]"), "F8", FIRST + 1),
    "brackets": (text("[", event(10)), "F8", FIRST),
    "utf8": (text(event(10)).replace("ä".encode(), b"\xff"), "F9", FIRST),
    "spaces": (text(event(10).replace('"pid":', '"pid": ')), "F9", FIRST),
    "nothing": (text(), "F10", 0),
    "long": (text(event(10, args={"text": "x" * 500})), "W1", FIRST),
    "torn": (text(event(10))[:-1], "L1", FIRST + 1),
    "json": (text(event(10).replace('"dur":10', '"dur":010')), "L1", FIRST),
    "nan": (text(event(10, args={"x": 0}).replace('"x":0', '"x":NaN')), "L1", FIRST),
    "control": (text(event(10).replace("ä", "\t")), "L1", FIRST),
    "twice": (text(event(10).replace('"pid":7', '"pid":7,"pid":7')), "L1", FIRST),
    "surrogate": (text(event(10).replace("ä", "\\ud83d")), "L1", FIRST),
    "array": (text("[1]"), "L1", FIRST),
    "phase": (text(event(10, ph=1)), "L2", FIRST),
    "letter": (text(event(10, ph="B")), "L2", FIRST),
    "no phase": (text(event(10, ph=None)), "L2", FIRST),
    "name": (text(event(10, name="")), "L3", FIRST),
    "no name": (text(event(10, name=None)), "L3", FIRST),
    "cat": (text(event(10, cat="")), "L3", FIRST),
    "posix": (text(event(10, cat="Posix")), "L3", FIRST),
    "stdio": (text(event(10, cat="stdio")), "L3", FIRST),
    "tid": (text(event(10, tid=2**32)), "L4", FIRST),
    "pid": (text(event(10, pid="x")), "L4", FIRST),
    "no tid": (text(event(10, tid=None)), "L4", FIRST),
    "args": (text(event(10, args=None).replace('"args":null', '"args":1')), "L5", FIRST),
    "id": (text(event(0)), "L6", FIRST),
    "no id": (text(event(None)), "L6", FIRST),
    "same": (text(event(10), event(10, 50)), "L6", FIRST + 1),
    "nested": (text(event(10, args={"x": {"y": 1}})), "L7", FIRST),
    "list": (text(event(10, args={"x": [1]})), "L7", FIRST),
    "order": (text(event(10).replace('"pid":7,"tid":7', '"tid":7,"pid":7')), "L8", FIRST),
    "key": (text(event(10).replace('"pid":7', '"type":0,"pid":7')), "L8", FIRST),
    "empty": (text("{}"), "L2", FIRST),
    "track": (text(event(10), line(11, "thread_name", "M", {"name": ""})), "M1", FIRST + 1),
    "rank": (text(event(10), line(11, "process_name", "M", {"value": "x"})), "M1", FIRST + 1),
    "fraction": (text(event(10).replace('"dur":10', '"dur":10.5')), "T1", FIRST),
    "negative": (text(event(10, 0, -3)), "T1", FIRST),
    "no time": (text(event(10, ts=None)), "T1", FIRST),
    "no length": (text(event(10, dur=None)), "T1", FIRST),
    "relative": (text(event(10, ts=5)), "T2", FIRST),
    "far": (text(event(10, ts=45 * 10**14 + 1)), "T2", FIRST),
    "overlap": (text(event(10), event(11, 5)), "T4", FIRST + 1),
    "lane": (text(event(10, tid=2**22 + 1)), "T4", FIRST),
    "step": (text(event(10, args={"step": "one"})), "A1", FIRST),
    "ret": (text(event(10, args={"ret": 0.5})), "A1", FIRST),
    "level": (text(event(10, args={"level": 2})), "A3", FIRST),
    "parent": (text(event(10, args={"p_idx": 3})), "A3", FIRST),
    "levelless": (text(event(10).replace(',"level":1', "")), "A3", FIRST),
    "neither": (text(event(10).replace('"p_idx":-1,"level":1,', "")), "A3", FIRST),
    "depth": (text(child(10, level=3), event(11)), "A3", FIRST),
    "depths": (text(child(10), child(12, 5, level=3), event(11)), "A3", FIRST + 1),
    "depth behind": (text(event(11), child(10, level=4)), "A3", FIRST + 1),
    "number": (text(event(10, args={"hhash": 5})), "H1", FIRST),
    "short": (text(event(10), head=definition(value="457")), "H1", 6),
    "upper": (text(event(10), head=definition(value="457466652C169C22")), "H1", 6),
    "value": (text(event(10), head=definition(value=5)), "H1", 6),
    "unnamed": (text(event(10), head=definition(name="")), "H2", 6),
    "two texts": (text(event(10), definition(name="/d/g")[4].replace('"id":5', '"id":55')), "H2", FIRST + 1),
    "host": (text(event(10), head=[HEAD[0].replace('"value":"2a', '"value":"2b'), *HEAD[1:]]), "H3", 2),
    "file": (text(event(10, args={"fhash": "0000000000000001"})), "H4", FIRST),
    "late": (text(event(10, args={"fhash": FILE}), HEAD[4], head=HEAD[:4]), "H4", FIRST - 1),
    "second file": (text(event(10, args={"path2_hash": "0000000000000001"})), "H4", FIRST),
    "command": (text(event(10), head=[*HEAD[:3], *METADATA, STARTED.replace(COMMAND, "0" * 16)]), "H4", 8),
    "undefined": (text(event(10), head=HEAD[1:]), "H5", 2),
    "hostless": (text(event(10).replace(f'"hhash":"{HOST}",', "")), "W2", FIRST),
    "orphan": (text(child(10)), "W4", FIRST),
    "outside": (text(child(10), event(11, 50)), "W5", FIRST),
}
PACKED = {
    "torn": (member(GOOD)[:-9], "F2", GOOD.count(b"\n") + 1),
    "damaged": (member(text(*LARGE))[:-3000] + b"x" * 2000, "F2", None),
    "empty": (member(GOOD) + member(b""), "F2", GOOD.count(b"\n")),
    "ragged": (member(GOOD[: CUT + 10]) + member(GOOD[CUT + 10 :]), "F2", GOOD[: CUT + 10].count(b"\n") + 1),
    "padded": (member(GOOD) + b"\0\0\0\0", "F2", GOOD.count(b"\n")),
    "small": (member(GOOD[:CUT]) + member(GOOD[CUT:]), "F3", 1),
    "large": (member(text(*LARGE)), "F3", 1),
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
    lines = text(*LARGE).splitlines(keepends=True)
    members = [b"".join(lines[i : i + 2000]) for i in range(0, len(lines), 2000)]
    for name, data in (
        ("good.pfw", GOOD),
        ("good.pfw.gz", member(GOOD)),
        ("counted.pfw", text(event(10), end=ended(num_events=1))),
        ("metadata.pfw", text(event(10), head=[*HEAD[:3], *METADATA, STARTED])),
        ("custom.pfw", text(line(10, "CM", "M", {"name": "lr", "value": "0.1"}))),
        ("members.pfw.gz", b"".join(map(member, members))),
    ):
        status, found = findings(save(os.path.join(folder, name), data))
        assert (status, found) == (0, set()), (name, status, found)


def every_broken_rule_is_found(folder):
    cases = [(f"{name}.pfw", *case) for name, case in BROKEN.items()] + [
        (f"{name}.pfw.gz", *case) for name, case in PACKED.items()
    ]
    for name, data, code, line in cases:
        status, found = findings(save(os.path.join(folder, name), data))
        assert (code, line) in found or (line is None and code in dict(found)), f"{name}: {found}, not {code} in {line}"
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
    done = run("validate", save(os.path.join(folder, "tables.h5"), b"\x89HDF\r\n\x1a\n"))
    assert (done.returncode, done.stdout) == (1, "") and "HDF5 tables" in done.stderr, done
    assert run("validate", os.path.join(folder, "none")).returncode == 1
    assert run("validate").returncode == 2


def info_tells_what_is_there(folder):
    path = save(os.path.join(folder, "good.pfw.gz"), member(GOOD))
    found = json.loads(run("info", "--json", path).stdout)
    keys = ("host", "pid", "threads", "events", "counters", "metadata", "members", "lines")
    assert tuple(found[key] for key in keys) == ("node", 7, 2, 6, 1, 5, 1, GOOD.count(b"\n")), found
    assert (found["start_ns"], found["end_ns"]) == (1727286231144999000, 1727286231149000000)
    assert found["text_bytes"] == len(GOOD) and found["ended"] is True and found["problems"] == 0
    assert "6, 1 counter value, 5 metadata lines" in run("info", path).stdout, run("info", path).stdout
    torn = save(os.path.join(folder, "torn.pfw.gz"), member(GOOD)[:-30])
    done = run("info", torn)
    assert done.returncode == 3 and "the file ends inside" in done.stderr, done


def cat_prints_the_lines_that_are_wanted(folder):
    path = save(os.path.join(folder, "good.pfw.gz"), member(GOOD))
    lines = GOOD.decode().splitlines()[1:]
    assert run("cat", path).stdout.splitlines() == lines
    work = [one for one in lines if '"name":"work"' in one]
    assert run("cat", "--name", "wor?", path).stdout.splitlines() == work and len(work) == 5
    assert run("cat", "--cat", "dft*", "--name", "end", path).stdout.splitlines() == lines[-1:]
    chosen = [one for one in work if '"ts":1727286231145020,' in one]
    assert run("cat", "--from", "21us", "--to", "22us", path).stdout.splitlines() == chosen and len(chosen) == 1
    assert run("cat", "--tid", "8", path).stdout == ""
    resolved = [json.loads(line)["args"] for line in run("cat", "--resolve", path).stdout.splitlines()]
    assert [args["fhash"] for args in resolved if "fhash" in args] == ["/d/f"], resolved
    assert all(args["hhash"] == "node" for args in resolved), resolved
    done = run("cat", save(os.path.join(folder, "bad.pfw"), GOOD + b"nonsense\n"))
    assert done.returncode == 3 and done.stdout.splitlines() == lines and f":{len(lines) + 2}: " in done.stderr, done


if __name__ == "__main__":
    run_cases(
        sound_traces_pass,
        every_broken_rule_is_found,
        other_names_are_found,
        info_tells_what_is_there,
        cat_prints_the_lines_that_are_wanted,
    )
