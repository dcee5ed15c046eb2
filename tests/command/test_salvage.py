"""test_salvage.py - c/command/run/lostspool.c: traces of processes whose spool is gone with their node."""

import gzip
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from harness import PROGRAMS, dftracer, read_folder, traced

EVENTS = 14000  # two members, and some more


def await_writer(folder):
    """Until the background thread has written what is worth a member."""
    before = 0
    while True:
        now = sum(file.stat().st_size for file in folder.glob("*.0-jsonl"))
        if now and now == before:
            return
        before = now
        time.sleep(0.05)


def leave(folder, **settings):
    """A process that wrote some of its events, and was killed; its spool, elsewhere, is taken away. Its claim."""
    spools = Path(folder) / "spools"
    spools.mkdir()
    env = traced(f"{folder}/out", DFTRACER_SPOOL_DIR=str(spools), **settings)
    words = [PROGRAMS / "doing", "step", str(EVENTS), "wait"]
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        await_writer(Path(folder, "out", ".dftracer"))
        process.send_signal(signal.SIGKILL)
    for spool in spools.iterdir():
        spool.unlink()
    (claim,) = Path(folder, "out", ".dftracer").glob("*.spool")
    return claim


def live_file(claim):
    return claim.with_suffix(".0-jsonl")


def come_from(claim, host, boot="another"):
    """The claim of another node, or of another boot of this one."""
    where = claim.read_text().split("\n")[0]
    claim.write_text(f"{where}\n{host}\n{boot}\n")


def check(folder, **more):
    (trace,) = read_folder(f"{folder}/out")
    numbers = trace.values("step", "n")
    assert len(set(numbers)) == len(numbers) and 1000 < len(numbers) < EVENTS, len(numbers)
    expected = {"num_events": len(numbers), "recovered": 1, "spool_lost": 1, **more}
    got = trace.end["args"]
    assert {key: got.get(key) for key in expected} == expected, got
    assert not Path(folder, "out", ".dftracer").exists()
    dftracer("validate", f"{folder}/out")
    return trace


def what_was_written_becomes_a_trace():
    for compression in ("1", "0"):
        with tempfile.TemporaryDirectory() as folder:
            leave(folder, DFTRACER_TRACE_COMPRESSION=compression)
            out, err = dftracer("recover", f"{folder}/out")
            assert "1 trace published" in out and "1 without a spool" in out and not err, (out, err)
            trace = check(folder)
            assert trace.path.endswith("-app.pfw.gz" if compression == "1" else "-app.pfw"), trace.path
            out, err = dftracer("recover", f"{folder}/out")
            assert "0 traces published" in out and not err


def a_torn_tail_is_cut():
    for compression, tail in (("1", b"\x1f\x8b\x08\x00torn"), ("0", b'{"id":5,"name":"to')):
        with tempfile.TemporaryDirectory() as folder:
            live = live_file(leave(folder, DFTRACER_TRACE_COMPRESSION=compression))
            with open(live, "ab") as file:
                file.write(tail)
            dftracer("recover", f"{folder}/out")
            check(folder)


def a_member_that_ends_inside_a_line_does_not_count():
    with tempfile.TemporaryDirectory() as folder:
        live = live_file(leave(folder))
        with open(live, "ab") as file:
            file.write(gzip.compress(b'{"id":5,"name":"half'))
        dftracer("recover", f"{folder}/out")
        check(folder)


def an_earlier_boot_of_this_node_is_gone():
    with tempfile.TemporaryDirectory() as folder:
        come_from(leave(folder), os.uname().nodename)
        out, _ = dftracer("recover", f"{folder}/out/.dftracer")
        assert "1 trace published" in out and "left alone" not in out, out
        check(folder)


def another_node_is_asked_for():
    with tempfile.TemporaryDirectory() as folder:
        come_from(leave(folder), "elsewhere")
        out, _ = dftracer("recover", f"{folder}/out")
        assert "0 traces published" in out and "1 left alone" in out and "--lost" in out, out
        out, _ = dftracer("recover", "--lost", f"{folder}/out")
        assert "1 trace published" in out and "left alone" not in out, out
        check(folder)


def an_explicit_name_is_kept():
    with tempfile.TemporaryDirectory() as folder:
        leave(folder, DFTRACER_LOG_FILE=f"{folder}/out/named.pfw")
        dftracer("recover", f"{folder}/out")
        assert check(folder).path.endswith("/named.pfw.gz")


def a_recovery_killed_before_the_name_goes_on():
    with tempfile.TemporaryDirectory() as folder:
        claim = leave(folder)
        pointer, live = claim.read_text(), live_file(claim)
        dftracer("recover", f"{folder}/out")
        (published,) = Path(folder, "out").glob("*.pfw.gz")
        size = published.stat().st_size
        claim.parent.mkdir()
        published.rename(live)
        claim.write_text(pointer)
        dftracer("recover", f"{folder}/out")
        check(folder)
        assert published.stat().st_size == size, "the end stands there once"


def nothing_written_leaves_nothing():
    for left in (b"", b"torn", None):
        with tempfile.TemporaryDirectory() as folder:
            live = live_file(leave(folder))
            if left is None:
                live.unlink()
            else:
                live.write_bytes(left)
            out, err = dftracer("recover", f"{folder}/out")
            assert "0 traces published" in out and "failed" not in out and not err, (out, err)
            assert os.listdir(f"{folder}/out") == [], left


if __name__ == "__main__":
    for case in (
        what_was_written_becomes_a_trace,
        a_torn_tail_is_cut,
        a_member_that_ends_inside_a_line_does_not_count,
        an_earlier_boot_of_this_node_is_gone,
        another_node_is_asked_for,
        an_explicit_name_is_kept,
        a_recovery_killed_before_the_name_goes_on,
        nothing_written_leaves_nothing,
    ):
        case()
