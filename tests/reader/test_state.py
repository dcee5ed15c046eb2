"""Saved states of a summary: however traces are split into states, and in whatever order these are merged, the summary
is byte for byte that of one run over all traces. A damaged state is refused with a message.
"""

import json
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import zlib
from pathlib import Path

import made_up

COMMAND = os.environ["DFT_TEST_COMMAND"]
DATA = Path(os.environ["DFT_TEST_SOURCE"]) / "tests" / "data"
FORMS = (["--json"], ["--csv"], ["--top", "1000"])


def run(*arguments):
    environment = os.environ | {"COLUMNS": "200", "LC_ALL": "C.UTF-8"}
    return subprocess.run([COMMAND, "summary", *map(str, arguments)], capture_output=True, check=False, env=environment)


def good(*arguments):
    done = run(*arguments)
    assert done.returncode in (0, 3) and not done.stderr, done  # 3: some of the traces are damaged
    return done.stdout


def save(state, *arguments):
    assert good("--partial", "-o", state, *arguments).startswith(f"{state}: ".encode())
    return state


def without_verdict(output, form):
    """A state with a part of the events has none. In the text, the job follows it."""
    if form == ["--json"]:
        return {key: value for key, value in json.loads(output).items() if key not in ("verdict", "findings")}
    return output if form == ["--csv"] else re.search(rb"^[\d,]+ traces?, .*", output, re.MULTILINE | re.DOTALL)[0]


def merged_states_are_one_run(folder, paths, rng, splits, questions, forms=FORMS):
    """All forms of output, and the state of merged states."""
    for question in questions:
        wanted = [good(*question, *form, *paths) for form in forms]
        whole = save(folder / "whole.dfs", *question, *paths)
        for number in range(splits):
            rest, parts = rng.sample(paths, len(paths)), []
            while rest:
                size = rng.choice([1, 2, 5, len(paths)])
                parts.append(save(folder / f"{number}-{len(parts)}.dfs", *question, *rest[:size]))
                rest = rest[size:]
            while len(parts) > 3 and rng.random() < 0.5:  # states of states
                some = [parts.pop(rng.randrange(len(parts))) for _ in range(3)]
                parts.append(save(some[0].with_suffix(".again.dfs"), *some))
            for form, output in zip(forms, wanted):
                rng.shuffle(parts)
                found = good(*form, *parts, *question)
                if "--name" in question:
                    found, output = without_verdict(found, form), without_verdict(output, form)
                assert found == output, (question, form, number)
            assert save(folder / "merged.dfs", *parts).read_bytes() == whole.read_bytes(), (question, number)
            for path in folder.glob("*-*.dfs"):
                path.unlink()


def two_hundred_traces(folder):
    """Trainers, workers, names that only another trace knows, damaged lines, files that are no traces, equal lines."""
    rng, paths = random.Random(5), []
    for i in range(200):
        kinds = made_up.KINDS if i % 5 == 0 else made_up.LOADING if i % 5 < 4 else made_up.OTHERS
        pid = 100 + i
        writer = made_up.Writer(i % 150, "NS" if i == 7 else "US", kinds, pid, ppid=pid - i % 5, rank=i // 5)
        text = writer.text(rng.choice([3, 30]))
        if i % 3:
            text = text.replace(b'"FH"', b'"XX"').replace(b'"HH"', b'"XX"')
        if i % 50 == 11:
            text = b"this is no trace\nat all\n"
        if i % 50 == 12:
            text = text.replace(b'{"id"', b'{"id', 3)
        paths.append(folder / f"trace-{i}.pfw")
        paths[-1].write_bytes(text)
    questions = [["--by", by] for by in ("file", "process", "thread", "step", "rank")]
    merged_states_are_one_run(folder, paths, rng, 3, [[], ["--name", "*read*", "--cat", "POSIX"]])
    merged_states_are_one_run(folder, paths[:40], rng, 2, questions)
    traces = [path for path in paths if path.stem not in ("trace-11", "trace-12")]
    half = save(folder / "half.dfs", *traces[:100])
    assert good("--json", half, *traces[100:]) == good("--json", *traces), "a state together with traces"


def several_runs(folder):
    """Runs with and without an id, split over states; names that only a trace of another run knows."""
    rng, paths = random.Random(8), []
    for i in range(60):
        kinds = made_up.KINDS if i % 3 == 0 else made_up.LOADING
        lines = made_up.Writer(i, "US", kinds, 100 + i, ppid=100 + i - i % 3, rank=i % 4).text(20).decode()
        lines = lines.replace(str(made_up.BEGIN["US"])[:6], str(int(str(made_up.BEGIN["US"])[:6]) + i % 7))
        if i % 7 in (1, 2, 5):
            lines = lines.replace('"ppid"', f'"run":"job {9 - i % 7}","ppid"')
        if i % 7 != 3:
            lines = lines.replace('"FH"', '"XX"')
        paths.append(folder / f"trace-{i}.pfw")
        paths[-1].write_text(lines)
    forms = [["--json", "--run", run] for run in ("1", "3", "6", "all")] + [["--json"], ["--top", "1000"]]
    runs = json.loads(good("--json", *paths))["runs"]
    assert len(runs) == 7, runs
    merged_states_are_one_run(folder, paths, rng, 3, [[], ["--by", "process"]], forms)


def real_trace(folder):
    with tarfile.open(DATA / "dlio-unet3d-8ranks.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    paths = sorted(folder.iterdir())
    merged_states_are_one_run(folder, paths, random.Random(6), 4, [[], ["--by", "step"]])


def other_questions_are_refused(folder):
    """What was counted cannot be counted otherwise later."""
    paths = [folder / "1.pfw", folder / "2.pfw"]
    for i, path in enumerate(paths):
        path.write_bytes(made_up.Writer(i, pid=i + 1).text(20))
    plain, other = save(folder / "1.dfs", paths[0]), folder / "2.dfs"
    for options in (["--by", "file"], ["--name", "x"], ["--cat", "x"], ["--from", "1s"], ["--to", "1s"]):
        save(other, *options, paths[1])
        for words in ([plain, other], [*options, plain], [plain, *options, paths[1]]):
            done = run(*words)
            assert (done.returncode, done.stdout) == (1, b"") and options[0].encode() in done.stderr, (words, done)
        found, wanted = good("--json", other), good("--json", *options, paths[1])
        if options[0] in ("--name", "--cat"):
            found, wanted = without_verdict(found, ["--json"]), without_verdict(wanted, ["--json"])
        assert found == wanted, options
    done = run(plain, save(other, *paths))
    assert done.returncode == 1 and f"{paths[0]} was counted already".encode() in done.stderr, done.stderr
    for words in (["--partial", paths[0]], ["-o", other, paths[0]]):
        assert run(*words).returncode == 2, words


def damaged_states_are_refused(folder):
    """Cut anywhere, any byte changed, numbers that promise more than there is: a message, no crash, no output."""
    path = folder / "1.pfw"
    path.write_bytes(made_up.Writer(1, rank=1).text(30) + b"broken\n")
    state = save(folder / "1.dfs", path)
    whole, rng = state.read_bytes(), random.Random(7)
    changed = [whole[:length] for length in (0, 1, 23, 24, 25, len(whole) - 4, len(whole) - 1)]
    changed += [whole[: rng.randrange(len(whole))] for _ in range(60)] + [whole + b"\0"]
    for _ in range(200):
        at = rng.randrange(len(whole))
        changed.append(whole[:at] + bytes([rng.choice([0, 255, whole[at] ^ 1, whole[at] ^ 128])]) + whole[at + 1 :])
    for data in changed:
        if data == whole:
            continue
        state.write_bytes(data)
        done = run("--json", state)
        assert (done.returncode, done.stdout) == (1, b""), (len(data), done)
        assert done.stderr.startswith(f"dftracer summary: {state}: ".encode()) and done.stderr.count(b"\n") == 1, done
    for _ in range(150):  # whoever made it also made the checksum
        data = bytearray(whole[:-4])
        for _ in range(rng.choice([1, 2, 5])):
            at, length = rng.randrange(24, len(data)), rng.randrange(3)
            data[at : at + length] = bytes(rng.choice([0, 127, 128, 255]) for _ in range(rng.randrange(1, 10)))
        state.write_bytes(data + zlib.crc32(data).to_bytes(4, "little"))
        done = run(*rng.choice(FORMS), state)
        assert done.returncode in (0, 1, 3) and bool(done.stdout) != bool(done.stderr), done
    state.write_bytes(whole)
    assert json.loads(good("--json", state))["problem_count"] == 1


def impossible_numbers_do_no_harm(folder):
    """Each byte of a state changed, with the right checksum: parts are larger than the whole, ends before starts."""
    event = {"name": "solve", "cat": "compute", "pid": 1, "tid": 1, "ts": 10**15, "dur": 3000, "ph": "X", "args": {}}
    path = folder / "1.pfw"
    path.write_text(f"[\n{json.dumps({'id': 1, **event})}\n")
    state = save(folder / "1.dfs", path)
    whole = state.read_bytes()[:-4]
    for at in range(24, len(whole)):
        data = whole[:at] + bytes([whole[at] ^ 64]) + whole[at + 1 :]
        state.write_bytes(data + zlib.crc32(data).to_bytes(4, "little"))
        done = run(state)
        assert done.returncode in (0, 1, 3), (at, done)


def times_that_are_no_times_do_no_harm(folder):
    """Events of a program that communicates, as far from each other as a trace can tell."""
    path = folder / "1.pfw"
    event = {"name": "barrier", "cat": "comm", "pid": 1, "tid": 1, "dur": 5, "ph": "X", "args": {}}
    for times in ((-(2**63), 10**15), (10**15, 2**63 - 1), (-(2**62) // 1000, 10**15, 2**62 // 1000)):
        lines = [json.dumps({"id": number + 1, **event, "ts": ts}) for number, ts in enumerate(times)]
        path.write_text("[\n" + "\n".join(lines) + "\n")
        assert good("--json", save(folder / "1.dfs", path)) == good("--json", path), times


def main():
    cases = (
        two_hundred_traces,
        several_runs,
        real_trace,
        other_questions_are_refused,
        damaged_states_are_refused,
        impossible_numbers_do_no_harm,
        times_that_are_no_times_do_no_harm,
    )
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            case(Path(folder))
            print("passed:", case.__name__, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
