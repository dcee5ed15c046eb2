"""What lies beyond a limit is passed over, named and located; nothing else is lost by it, and nothing is fatal."""

import json
import os
import subprocess
import zlib

import oracle
from cases import run_cases

MESSAGES = {
    7: "the line is longer than the limit line_bytes",
    8: "objects are nested deeper than the limit nesting",
    9: "the gzip member is larger than the limit member_bytes",
    10: "there are more texts than the limit text_bytes allows",
}
UNIT = 2 << 20  # of plain text is read at once


def event(number, filling="", value=None):
    extra = f',"deep":{value}' if value else ""
    return (
        f'{{"id":{number + 1},"name":"work","cat":"app","pid":7,"tid":7,"ts":{1727286231145000 + number},"dur":1,'
        f'"ph":"X","args":{{"hhash":"2a","text":"{filling}"{extra}}}}}\n'
    ).encode()


def member(data):
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def save(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def check(path, limits, ids, problems):
    """The reader gives the events of these ids and the problems (kind, byte, line), on one thread and on three."""
    for threads in (1, 3):
        rows, found = oracle.run(threads, *limits, path)
        place = f"{os.path.basename(path)} on {threads} threads"
        got = sorted(int(row.split("\t")[2]) - 1 for row in rows)
        assert got == list(ids), f"{place}: {len(got)} rows, not {len(ids)}"
        located = [tuple(map(int, (kind, byte, line))) for kind, _, byte, line, _ in found]
        assert located == problems, f"{place}: problems {located}, not {problems}"
        assert all(message == MESSAGES[int(kind)] for kind, *_, message in found), found


def command(*arguments):
    return subprocess.run([os.environ["DFT_TEST_COMMAND"], *arguments], capture_output=True, text=True, check=False)


def check_command(path, events, problem):
    """What people are told by the summary, with and without times that make it read twice; by cat and by info."""
    for options in ((), ("--from", "0s")):
        done = command("summary", *options, path)
        notes = done.stdout.partition("\nNotes\n")[2].splitlines()
        assert done.returncode == 3 and notes == [f"  {path}:{problem}"], (done.returncode, notes, done.stderr)
        found = json.loads(command("summary", "--json", *options, path).stdout)
        assert (found["events"], found["problem_count"]) == (events, 1), found["problem_count"]
    done = command("cat", path)
    assert done.returncode == 3 and len(done.stdout.splitlines()) == events, done.stderr
    assert done.stderr == f"dftracer cat: {path}:{problem}\n", done.stderr
    done = command("info", path)
    assert done.returncode == 3 and f"{path}:{problem}" in done.stderr, done.stderr


def long_lines(folder):
    """In the first unit, in a later one, over the ends of units, over several, at the end of the file; in a member."""
    lines = [event(i) for i in range(40000)]
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    places = {"first": 3, "later": 30000, "last": len(lines) - 1}
    for across in (1, 2):
        places[f"end{across}"] = next(i for i in range(len(lines)) if offsets[i] + 2000 > across * UNIT)
    for name, at in places.items():
        for size in (4096, 2 * UNIT + 5):
            data = b"".join([*lines[:at], event(at, "x" * size), *lines[at + 1 :]])
            rest = [i for i in range(len(lines)) if i != at]
            path = save(folder, f"{name}{size}.pfw", data)
            check(path, ["line_bytes=2048"], rest, [(7, offsets[at], at + 1)])
    packed = [member(b"".join(lines[i : i + 1000])) for i in range(0, len(lines), 1000)]
    for name, at in places.items():
        first = at - at % 1000
        for size in (4096, 1 << 20):
            own = member(b"".join([*lines[first:at], event(at, "x" * size), *lines[at + 1 : first + 1000]]))
            data = b"".join([*packed[: first // 1000], own, *packed[first // 1000 + 1 :]])
            rest = [i for i in range(len(lines)) if i != at]
            place = sum(map(len, packed[: first // 1000]))
            path = save(folder, f"{name}{size}.pfw.gz", data)
            check(path, ["line_bytes=2048"], rest, [(7, place, at + 1)])


def the_default_length_of_a_line(folder):
    data = [event(0), event(1), event(2, "x" * (8 << 20)), event(3, "x" * (7 << 20)), event(4)]
    for name, text in (("long.pfw", b"".join(data)), ("long.pfw.gz", member(b"".join(data)))):
        check_command(save(folder, name, text), 4, f"3: {MESSAGES[7]}")


def deep_lines(folder):
    def deep(count):
        return "[" * count + "]" * count

    lines = [event(i) for i in range(100)]
    for kinds in (deep(10), '{"a":' * 10 + "1" + "}" * 10):
        lines[50] = event(50, value=kinds)
        text = b"".join(lines)
        rest = [i for i in range(100) if i != 50]
        check(save(folder, "deep.pfw", text), ["nesting=9"], rest, [(8, len(b"".join(lines[:50])), 51)])
        check(save(folder, "deep.pfw.gz", member(text)), ["nesting=9"], rest, [(8, 0, 51)])
        check(save(folder, "deep.pfw", text), ["nesting=10"], range(100), [])
    lines[50], lines[51] = event(50, value=deep(65)), event(51, value=deep(64))
    check_command(save(folder, "deeper.pfw", b"".join(lines)), 99, f"51: {MESSAGES[8]}")
    lines[50] = event(50, value=deep(3 << 20))
    check_command(save(folder, "deepest.pfw.gz", member(b"".join(lines))), 99, f"51: {MESSAGES[8]}")


def large_members(folder):
    """Of a member that is too large its beginning may be read; those around it are."""
    lines = [event(i) for i in range(60000)]
    small, large = range(1000), range(1000, 59000)
    before = member(b"".join(lines[:1000]))
    data = before + member(b"".join(lines[1000:59000])) + member(b"".join(lines[59000:]))
    path = save(folder, "large.pfw.gz", data)
    for threads in (1, 3):
        rows, problems = oracle.run(threads, "member_bytes=1000000", path)
        ids = sorted(int(row.split("\t")[2]) - 1 for row in rows)
        wanted = [*small, *range(59000, 60000)]
        assert [i for i in ids if i not in large] == wanted and len(ids) == len(set(ids)), len(ids)
        assert 5000 < len(ids) - len(wanted) < 58000, len(ids)
        assert [problem[:3] for problem in problems] == [["9", "0", str(len(before))]], problems
        assert problems[0][-1] == MESSAGES[9], problems
    check(path, ["member_bytes=10000000"], range(60000), [])


def what_only_looks_like_members(folder):
    """Headers without a member, and headers that each begin a chain to the end of the file: not every one is tried."""
    lines = [event(i) for i in range(60000)]
    before = member(b"".join(lines[:1000]))
    after = b"".join(member(b"".join(lines[i : i + 1000])) for i in range(1000, len(lines), 1000))
    header = b"\x1f\x8b\x08\0\0\0\0\0\0\x03"
    block = b"\0" + len(header).to_bytes(2, "little") + (0xFFFF - len(header)).to_bytes(2, "little")
    for name, filling in (("headers", header * 200000), ("chain", (header + block) * 60000 + header + b"\xff" * 8)):
        path = save(folder, f"{name}.pfw.gz", before + filling + after)
        for threads in (1, 3):
            rows, problems = oracle.run(threads, path)
            ids = sorted(int(row.split("\t")[2]) - 1 for row in rows)
            assert len(ids) == len(set(ids)) and ids[:1000] == list(range(1000)), (name, threads, len(ids))
            assert ids[-50000:] == list(range(10000, 60000)), (name, threads, len(ids))
            assert problems, (name, threads)
        found = json.loads(command("summary", "--json", path).stdout)
        assert 0 < found["problem_count"] < 10000, (name, found["problem_count"])


def many_texts(folder):
    """Told once; those that found no room are empty, the others are right, and no event is lost."""
    lines = [event(i).replace(b'"work"', f'"work {i}"'.encode()) for i in range(20000)]
    path = save(folder, "texts.pfw", b"".join(lines))
    rows, problems = oracle.run(1, "text_bytes=100000", path)
    names = [bytes.fromhex(row.split("\t")[9]).decode() for row in rows]
    known = sum(bool(name) for name in names)
    assert all(name in ("", f"work {i}") for i, name in enumerate(names)) and 500 < known < 15000, known
    assert problems == [["10", "-1", "0", "0", MESSAGES[10]]], problems
    check(path, [], range(20000), [])


if __name__ == "__main__":
    run_cases(
        long_lines,
        the_default_length_of_a_line,
        deep_lines,
        large_members,
        what_only_looks_like_members,
        many_texts,
    )
