"""test_silence.py - traces that say little or nothing: no verdict, or none dominant in plain words; never nonsense.

SPDX-License-Identifier: MIT
"""

import gzip
import json
import pathlib
import subprocess
import tempfile

from made import Job, solver, training
from verdict_harness import COMMAND, check_form, finding_ids, has_nonsense, main, summary_of, verdict_of


def require_silence(*paths):
    verdict = verdict_of(*paths)
    if verdict is not None:
        assert verdict["class"] == "none" and "BOUND" not in verdict["text"], verdict
        check_form(verdict)
    assert set(finding_ids(*paths)) <= {"outside"}, finding_ids(*paths)  # which says that nothing is known
    done = subprocess.run([COMMAND, "summary", *map(str, paths)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "BOUND" not in done.stdout and not has_nonsense(done.stdout), done


def written(job, change=None):
    """The only trace of a job, with its lines changed."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=TOP))
    job.write(folder)
    (path,) = folder.iterdir()
    if change:
        lines = path.read_text().splitlines()
        path.write_text("\n".join(change(lines)) + "\n")
    return path


def a_trace_with_nothing_but_bookkeeping_has_no_verdict():
    require_silence(written(Job()))


def a_trace_with_only_metadata_has_no_verdict():
    require_silence(written(Job(), lambda lines: [line for line in lines if line == "[" or '"ph":"M"' in line]))


def an_empty_trace_is_refused():
    path = written(Job(), lambda _: ["["])
    done = subprocess.run([COMMAND, "summary", "--json", path], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "nothing to count" in done.stderr and not done.stdout, done


def one_event_is_no_training_and_no_job():
    """Whatever it is, and also without a duration."""
    for name, cat in (("forward", "compute"), ("fetch.iter", "dataloader"), ("barrier", "comm"), ("work", "app")):
        for ms in (0, 5):
            job = Job()
            job.ranks[0].main.region(name, cat, ms)
            verdict = verdict_of(written(job))
            assert verdict is None or not verdict["is_sure"] or verdict["class"] in ("none", "compute"), verdict


def events_without_any_duration_are_no_bottleneck():
    require_silence(written(training(input=0.0001, compute=0.0001, steps=30)))


def regions_of_unknown_meaning_are_none_dominant():
    """Half of the time is outside of all regions."""
    job = Job()
    for _ in range(30):
        job.ranks[0].main.region("work", "app", 5)
        job.ranks[0].main.idle(5)
    require_silence(written(job))


def a_shell_command_with_a_few_calls_is_left_alone():
    """It waits for others; its calls take nothing."""
    job = Job()
    main_thread = job.ranks[0].main
    for number in range(20):
        main_thread.call("open", 0.01, f"/usr/lib/{number}.so")
        main_thread.call("read", 0.01, f"/usr/lib/{number}.so", ret=832)
    main_thread.idle(1000)
    require_silence(written(job))


def a_trace_that_is_cut_says_so():
    """What is left is judged, and the damage is reported."""
    text = written(training(input=40, compute=60, steps=40)).read_bytes()
    for number, (name, data) in enumerate((("x.pfw", text), ("x.pfw.gz", gzip.compress(text, mtime=0)))):
        for part in (0.5, 0.9):
            cut = TOP / f"cut{number}{part}{name}"
            cut.write_bytes(data[: int(part * len(data))])
            document = summary_of(cut, status=3)
            assert document["problem_count"] > 0, document["problems"]
            verdict = document["verdict"]
            if document["training"]["steps"] >= 20:
                assert verdict["class"] == "input" and abs(verdict["share"] - 0.4) < 0.05, verdict
            else:
                assert verdict is None or not verdict["is_sure"], verdict


def a_trace_without_an_end_is_judged_by_what_is_there():
    """Such as that of a process that still runs: the epoch has not ended either."""

    def change(lines):
        return [line for line in lines if '"name":"end"' not in line and "epoch.block" not in line]

    verdict = verdict_of(written(training(input=40, compute=60, steps=40), change))
    check_form(verdict)
    assert verdict["class"] == "input" and abs(verdict["share"] - 0.4) < 0.03, verdict


def garbage_is_no_verdict():
    path = pathlib.Path(tempfile.mkdtemp(dir=TOP)) / "x.pfw"
    path.write_bytes(b"[\n" + bytes(range(256)) * 40)
    done = subprocess.run([COMMAND, "summary", "--json", path], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        document = json.loads(done.stdout)
        assert document["verdict"] is None and document["problem_count"] > 0, document
    else:
        assert done.stderr.strip(), done


def dropped_events_are_no_certainty():
    """The trace says that most events are missing: the verdict may not be sure, or it reports the loss."""

    def change(lines):
        return [line.replace('"num_events":', '"num_dropped":100000,"num_events":') for line in lines]

    document = summary_of(written(solver(compute=40, read=60), change))
    assert document["lost"]["dropped"] == 100000, document["lost"]
    verdict = document["verdict"]
    told = "\n".join([verdict["text"], *verdict["evidence"]])
    assert not verdict["is_sure"] or "drop" in told or "lost" in told, verdict


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        TOP = pathlib.Path(name)
        main(
            a_trace_with_nothing_but_bookkeeping_has_no_verdict,
            a_trace_with_only_metadata_has_no_verdict,
            an_empty_trace_is_refused,
            one_event_is_no_training_and_no_job,
            events_without_any_duration_are_no_bottleneck,
            regions_of_unknown_meaning_are_none_dominant,
            a_shell_command_with_a_few_calls_is_left_alone,
            a_trace_that_is_cut_says_so,
            a_trace_without_an_end_is_judged_by_what_is_there,
            garbage_is_no_verdict,
            dropped_events_are_no_certainty,
        )
