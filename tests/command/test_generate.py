"""dftracer generate: traces of any size that follow every rule of the format; the same options give the same bytes."""

import filecmp
import tempfile
from pathlib import Path

from harness import dftracer, read_folder


def generate(folder, *words):
    out, err = dftracer("generate", *words, folder)
    assert not err, err
    return out


def every_rule_holds_and_the_count_is_exact():
    for events, processes, threads in (
        (1, 1, 1),
        (13, 2, 4),
        (4000, 1, 4),
        (4001, 1, 1),
        (20000, 3, 7),
        (30001, 2, 256),
    ):
        with tempfile.TemporaryDirectory() as folder:
            out = generate(folder, "-n", events, "-p", processes, "-t", threads)
            plural = "s" if events > 1 else ""
            assert out.startswith(f"{folder}: {events:,} event{plural} of {processes} process"), out
            traces = read_folder(folder)
            assert len(traces) == processes
            assert sum(trace.end["args"]["num_events"] for trace in traces) == events
            assert len({event["tid"] for trace in traces for event in trace.user_events()}) <= processes * threads


def the_contents_are_realistic():
    with tempfile.TemporaryDirectory() as folder:
        generate(folder, "-n", "40K", "-p", 4, "--nodes", 2)
        traces = read_folder(folder)
        events = [event for trace in traces for event in trace.user_events()]
        assert {event["cat"] for event in events} >= {
            "POSIX",
            "compute",
            "dataloader",
            "data",
            "comm",
            "pipeline",
            "train",
        }
        assert {event["args"].get("level") for event in events} >= {1, 2, 3}
        assert {event["ph"] for event in events} == {"X", "C"}
        assert {trace.named("HH")[0]["args"]["name"] for trace in traces} == {"node000", "node001"}
        assert len({event["tid"] for event in events}) == 16


def the_same_numbers_give_the_same_bytes():
    with tempfile.TemporaryDirectory() as top:
        for name, words in (("a", ["-j", 1]), ("b", ["-j", 5]), ("c", ["-j", 1, "-s", 2])):
            generate(f"{top}/{name}", "-n", "30K", "-p", 2, *words)
        names = [path.name for path in Path(top, "a").iterdir()]
        assert filecmp.cmpfiles(f"{top}/a", f"{top}/b", names, shallow=False)[0] == names
        assert filecmp.cmpfiles(f"{top}/a", f"{top}/c", names, shallow=False)[1] == names


def plain_text_and_failures():
    with tempfile.TemporaryDirectory() as folder:
        generate(folder, "-n", "10K", "--plain")
        (path,) = Path(folder).iterdir()
        assert path.suffix == ".pfw" and read_folder(folder)[0].end["args"]["num_events"] == 10000
        _, err = dftracer("generate", f"{folder}/a/b", status=1)
        assert "No such file or directory" in err


for check in (
    every_rule_holds_and_the_count_is_exact,
    the_contents_are_realistic,
    the_same_numbers_give_the_same_bytes,
    plain_text_and_failures,
):
    check()
