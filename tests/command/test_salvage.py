"""test_salvage.py - c/session/lostspool.c: traces of processes whose spool is gone with their node."""

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
        now = sum(file.stat().st_size for file in folder.glob("*.0-*"))
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
            assert "nothing to recover" in out and not err


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


def another_boot_is_asked_for():
    """Also when the name of the host is the same: another cluster may have a node of that name."""
    for host in (os.uname().nodename, "elsewhere"):
        with tempfile.TemporaryDirectory() as folder:
            claim = leave(folder)
            come_from(claim, host)
            out, _ = dftracer("recover", f"{folder}/out")
            assert "0 traces published" in out and "1 left alone" in out and "--lost" in out, out
            assert str(claim) in out and host in out, out
            out, _ = dftracer("recover", "--lost", f"{folder}/out")
            assert "1 trace published" in out and "left alone" not in out and str(claim) in out, out
            check(folder)


def a_spool_that_is_only_out_of_sight_is_not_gone():
    """As in a container with another /dev/shm: the path leads to another folder there."""
    with tempfile.TemporaryDirectory() as folder:
        claim = leave(folder)
        Path(folder, "spools").rename(f"{folder}/elsewhere")
        for _ in range(2):
            out, _ = dftracer("recover", f"{folder}/out")
            assert "0 traces published" in out and "1 left alone" in out and claim.exists(), out
            Path(folder, "spools").mkdir(exist_ok=True)
        dftracer("recover", "--lost", f"{folder}/out")
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
            assert "nothing to recover" in out and "failed" not in out and not err, (out, err)
            assert os.listdir(f"{folder}/out") == [], left


# ---- Sinks from outside ----

WORDS = str(PROGRAMS / "sink_words.so")  # salvages and reads
BARE = str(PROGRAMS / "sink_bare.so")  # built as for the library before there was either


def check_words(folder, suffix, last):
    (trace,) = Path(folder, "out").glob(f"trace-*-app{suffix}")
    lines = trace.read_text().splitlines()
    steps = [line for line in lines if line.endswith(" step")]
    assert len(set(steps)) == len(steps) and 1000 < len(steps) < EVENTS, len(steps)
    assert (lines[-1] == "spool lost") == last, lines[-1]
    assert not Path(folder, "out", ".dftracer").exists()


def output_of_a_sink_from_outside_survives():
    for sink, suffix, is_salvaged in (
        (WORDS, ".words", True),
        (BARE, ".bare", False),
        (f"jsonl,{WORDS}", ".words", True),
    ):
        with tempfile.TemporaryDirectory() as folder:
            claim = leave(folder, DFTRACER_SINK=sink)
            if sink == WORDS:
                with open(claim.with_suffix(".0-words"), "a") as file:
                    file.write("17 torn")
            out, err = dftracer("recover", f"{folder}/out")
            assert "1 trace published" in out and "1 without a spool" in out and not err, (out, err)
            check_words(folder, suffix, is_salvaged)
            if "," in sink:
                check(folder)


def a_shared_object_is_loaded_only_if_its_user_names_it():
    """Not by a claim that others may have written, nor by one of an earlier version, which names no sinks."""

    def make_writable(claim):
        claim.chmod(0o666)

    def make_older(claim):
        claim.write_text("".join(claim.read_text().splitlines(True)[:3]))

    for change in (make_writable, make_older):
        with tempfile.TemporaryDirectory() as folder:
            claim = leave(folder, DFTRACER_SINK=WORDS)
            change(claim)
            out, err = dftracer("recover", "--lost", f"{folder}/out", status=1)
            assert "1 failed" in out and "-words" in err and "DFTRACER_SINK" in err, (out, err)
            assert claim.exists() and claim.with_suffix(".0-words").exists()
            out, err = dftracer("recover", "--lost", f"{folder}/out", SINK=WORDS)
            assert "1 trace published" in out and not err, (out, err)
            check_words(folder, ".words", True)


def a_sink_from_outside_reads_what_is_not_published():
    with tempfile.TemporaryDirectory() as folder:
        env = traced(f"{folder}/out", DFTRACER_SINK=WORDS)
        words = [PROGRAMS / "doing", "step", str(EVENTS), "wait"]
        with subprocess.Popen(words, env=env, stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                await_writer(Path(folder, "out", ".dftracer"))
                named, _ = dftracer("cat", f"{folder}/out", SINK=WORDS)
                unnamed, err = dftracer("cat", f"{folder}/out", status=3)
            finally:
                process.kill()
    assert named.count('"name":"step"') == EVENTS, named.count('"name":"step"')
    assert 0 < unnamed.count('"name":"step"') < EVENTS and "not supported" in err, err  # only the spool


def killed(folder, cwd=None, **settings):
    """A process that was killed; its spool is there. The spool's path."""
    env = traced(f"{folder}/out", **settings)
    words = [PROGRAMS / "doing", "step", "9", "wait"]
    with subprocess.Popen(words, env=env, cwd=cwd, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    (spool,) = Path(folder, "out", ".dftracer").glob("*.spool")
    return spool


def a_spool_that_others_may_write_names_no_shared_object():
    with tempfile.TemporaryDirectory() as folder:
        killed(folder, DFTRACER_SINK=WORDS).chmod(0o666)
        out, err = dftracer("recover", f"{folder}/out", status=1)
        assert "1 failed" in out and "DFTRACER_SINK" in err, (out, err)
        out, err = dftracer("recover", f"{folder}/out", SINK=WORDS)
        assert "1 trace published, 9 events" in out and not err, (out, err)


def a_relative_path_means_the_same_object_later():
    with tempfile.TemporaryDirectory() as folder:
        killed(folder, cwd=PROGRAMS, DFTRACER_SINK="./sink_words.so")
        out, err = dftracer("recover", f"{folder}/out", cwd=folder)
        assert "1 trace published, 9 events" in out and not err, (out, err)


def a_sink_that_asks_for_no_memory_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        env = traced(f"{folder}/out", DFTRACER_SINK=str(PROGRAMS / "sink_wrong.so"))
        done = subprocess.run([PROGRAMS / "doing", "step", "9"], env=env, capture_output=True, text=True, check=True)
        assert "scratch_bytes" in done.stderr, done.stderr
        (trace,) = read_folder(f"{folder}/out")
        assert len(trace.values("step", "n")) == 9


if __name__ == "__main__":
    for case in (
        what_was_written_becomes_a_trace,
        a_torn_tail_is_cut,
        a_member_that_ends_inside_a_line_does_not_count,
        another_boot_is_asked_for,
        a_spool_that_is_only_out_of_sight_is_not_gone,
        an_explicit_name_is_kept,
        a_recovery_killed_before_the_name_goes_on,
        nothing_written_leaves_nothing,
        output_of_a_sink_from_outside_survives,
        a_shared_object_is_loaded_only_if_its_user_names_it,
        a_sink_from_outside_reads_what_is_not_published,
        a_spool_that_others_may_write_names_no_shared_object,
        a_relative_path_means_the_same_object_later,
        a_sink_that_asks_for_no_memory_is_refused,
    ):
        case()
