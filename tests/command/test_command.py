"""The dftracer command: what people type before and after the job."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from harness import COMMAND, DIE, SOURCE, dftracer, leave_dead, read_folder, traced, version

# ---- Help ------------------------------------------------------------------------------------------------------------


def help_lists_the_commands():
    for word in ("--help", "-h", "help"):
        out, err = dftracer(word)
        assert "recover" in out and "config" in out and version() in out and not err
    out, err = dftracer(status=2)
    assert not out and "usage" in err


def version_is_the_headers():
    assert dftracer("--version") == (f"dftracer {version()}\n", "")


def an_unknown_command_is_refused():
    out, err = dftracer("conquer", status=2)
    assert not out and '"conquer"' in err and "--help" in err and err.count("\n") == 1
    _, err = dftracer("sumary", status=2)
    assert "; did you mean \"summary\"? See 'dftracer --help'" in err, err
    _, err = dftracer("summary", "--explian", "x", status=2)
    assert "unknown option --explian; did you mean --explain?" in err, err


def each_command_has_help():
    for command in ("recover", "config"):
        out, err = dftracer(command, "--help")
        assert out.startswith(f"usage: dftracer {command}") and not err
    for arguments in (["recover"], ["recover", "--force"], ["config", "--csv"], ["config", "a", "b"]):
        out, err = dftracer(*arguments, status=2)
        assert not out and err


# ---- Summary ---------------------------------------------------------------------------------------------------------


def the_summary_fits_the_terminal():
    with tempfile.TemporaryDirectory() as folder:
        dftracer("generate", "-n", "10K", "-p", "3", folder)
        for width in (60, 80, 100, 160):
            for words in ((), ("--by", "file"), ("--by", "thread"), ("--by", "step")):
                out, err = dftracer("summary", *words, folder, env={"COLUMNS": str(width), "LC_ALL": "C.UTF-8"})
                longest = max(out.splitlines(), key=len)
                assert len(longest) <= width and not err, (width, words, longest)


def a_closed_pipe_is_not_reported():
    with tempfile.TemporaryDirectory() as folder:
        dftracer("generate", "-n", "1K", folder)
        commands = [["summary"], ["cat"], ["info"], ["validate"]]
        commands += [["merge", "-o", "-"], ["convert", "-o", "-", "-t", "csv"]]
        for command in commands:
            read_end, write_end = os.pipe()
            os.close(read_end)
            done = subprocess.run(  # SIGPIPE is ignored, as Python ignores it
                [COMMAND, *command, folder],
                stdout=write_end,
                stderr=subprocess.PIPE,
                restore_signals=False,
                check=False,
            )
            os.close(write_end)
            assert done.returncode == 1 and not done.stderr, done


def a_file_that_is_not_a_trace_is_reported():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes.txt"
        path.write_text("not a trace\n" * 2000)
        for command in ("summary", "info"):
            out, err = dftracer(command, path, status=1)
            told = f"dftracer {command}: {path}: not a trace: none of its lines is an event\n"
            assert not out and err == told, out + err
        _, err = dftracer("cat", path, status=1)
        assert err == f"dftracer cat: {path}: not a trace: none of its lines is an event\n", err
        (Path(folder) / "empty.pfw").touch()
        out, err = dftracer("summary", Path(folder) / "empty.pfw", status=1)
        assert not out and "is it a trace?" in err and err.count("\n") == 1, err
        _, err = dftracer("top", "--once", Path(folder) / "empty.pfw", status=1)
        assert err == f"dftracer top: {folder}/empty.pfw: Not a directory\n", err
        _, err = dftracer("merge", Path(folder) / "empty.pfw", "-o", f"{folder}/out.json")
        assert "0 events of 0 processes" in err, err
        Path(folder, "facts.json").write_text('{"a": 1}')
        _, err = dftracer("merge", f"{folder}/facts.json", "-o", f"{folder}/out.json", status=1)
        assert "it has no traceEvents" in err, err
        _, err = dftracer("merge", f"{folder}/empty.pfw", "-o", f"{folder}/out.csv", status=2)
        assert "dftracer convert" in err, err
        (Path(folder) / "empty.pfw").unlink()
        for command in (["summary"], ["merge", "-o", f"{folder}/out.json"]):
            out, err = dftracer(*command, folder, status=1)
            assert not out and f"{folder}: the folder contains no trace" in err and "DFTRACER_ENABLE=1" in err, err


def hdf5_files_get_a_hint():
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        path = Path(folder) / "trace-node-7.h5"
        path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(5000))
        for command in (
            ["summary"],
            ["info"],
            ["merge", "-o", f"{other}/out.json"],
            ["convert", "-o", f"{other}/a.csv"],
        ):
            for given, named in ((path, path), (folder, folder), (f"{folder}/", folder)):
                _, err = dftracer(*command, given, status=1)
                told = [line for line in err.splitlines() if "dftracer.trace.read" in line]
                assert len(told) == 1 and str(named) in told[0] and "DFTRACER_SINK=jsonl,hdf5" in told[0], err
        dftracer("generate", "-n", "1K", folder)
        out, err = dftracer("summary", *Path(folder).iterdir(), status=3)
        assert "2 traces, ≥ 1,000 events (see Notes)" in out and "dftracer.trace.read" in out and not err, (out, err)


# ---- Recover ---------------------------------------------------------------------------------------------------------


def a_fifo_is_refused_without_waiting():
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(f"{folder}/p.pfw")
        for command in ("summary", "info", "cat", "validate"):
            _, err = dftracer(command, folder, status=1)
            assert "p.pfw: a pipe or a device" in err, (command, err)


def recover_with_nothing_to_do_is_fine():
    with tempfile.TemporaryDirectory() as folder:
        out, err = dftracer("recover", folder)
        assert out == f"nothing to recover in {folder}\n" and not err
        assert os.listdir(folder) == []


def recover_publishes_what_the_dead_left():
    with tempfile.TemporaryDirectory() as folder:
        leave_dead(folder)
        assert os.listdir(folder) == [".dftracer"]
        out, err = dftracer("recover", folder)
        assert out == f"{folder}: 1 trace published, 3 events\n" and not err
        (trace,) = read_folder(folder)
        assert [event["args"]["open"] for event in trace.named("open")] == [1]
        assert trace.end["args"]["num_events"] == 3 and trace.end["args"]["recovered"] == 1
        assert os.listdir(folder) == [os.path.basename(trace.path)]
        before = Path(trace.path).read_bytes()
        out, err = dftracer("recover", folder)  # a second run changes nothing
        assert out == f"nothing to recover in {folder}\n" and not err
        assert Path(trace.path).read_bytes() == before


def recover_takes_several_folders():
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        for _ in range(2):
            leave_dead(first)
        leave_dead(second)
        out, _ = dftracer("recover", first, second)
        assert out == f"{first}: 2 traces published, 6 events\n{second}: 1 trace published, 3 events\n"
        assert len(read_folder(first)) == 2 and len(read_folder(second)) == 1


def a_missing_folder_is_an_error_and_the_others_are_done():
    with tempfile.TemporaryDirectory() as folder:
        leave_dead(folder)
        out, err = dftracer("recover", f"{folder}/missing", folder, status=1)
        assert out == f"{folder}: 1 trace published, 3 events\n"
        assert err == f"dftracer recover: {folder}/missing: No such file or directory\n"


def a_living_process_is_left_alone():
    with tempfile.TemporaryDirectory() as folder:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen([DIE, "later"], env=traced(folder), **pipes) as living:
            assert living.stdout.readline() == "ready\n"
            out, _ = dftracer("recover", folder)
            assert out == f"{folder}: 0 traces published, 0 events; 1 left alone: in use\n"
            living.stdin.close()
            assert living.wait() == 0
        (trace,) = read_folder(folder)
        assert trace.end["args"]["num_events"] == 3 and "recovered" not in trace.end["args"]


def a_file_that_is_not_a_spool_is_left_alone():
    with tempfile.TemporaryDirectory() as folder:
        inner = Path(folder) / ".dftracer"
        inner.mkdir()
        (inner / "strange.spool").write_bytes(b"x" * 300000)
        (inner / "notes.txt").write_text("mine")
        out, _ = dftracer("recover", folder)
        assert out == f"{folder}: 0 traces published, 0 events; 1 left alone: not a spool of this version\n", out
        assert (inner / "notes.txt").read_text() == "mine"
        assert not list(Path(folder).glob("*.pfw*"))


def a_spool_of_another_version_is_left_alone():
    with tempfile.TemporaryDirectory() as folder:
        leave_dead(folder)
        (spool,) = Path(folder, ".dftracer").glob("*.spool")
        whole = spool.read_bytes()
        assert whole.startswith(b"dftspool")
        spool.write_bytes(whole[:8] + b"\xff" + whole[9:])  # the layout
        os.utime(spool, (1, 1))
        out, _ = dftracer("recover", folder)
        assert out == f"{folder}: 0 traces published, 0 events; 1 left alone: not a spool of this version\n", out
        spool.write_bytes(whole)
        out, _ = dftracer("recover", folder)
        assert out == f"{folder}: 1 trace published, 3 events\n", out
        spool.parent.mkdir()
        spool.write_bytes(bytes(len(whole)))  # being made
        out, _ = dftracer("recover", folder)
        assert out == f"{folder}: 0 traces published, 0 events; 1 left alone: in use\n", out
        os.utime(spool, (1, 1))
        out, _ = dftracer("recover", folder)
        assert out == f"nothing to recover in {folder}\n" and not spool.exists(), out


# ---- Config ----------------------------------------------------------------------------------------------------------


def config_shows_values_and_defaults():
    out, err = dftracer("config", TIME_METRIC="ns", CATEGORIES="a,b")
    assert not err
    assert re.search(r"^DFTRACER_TIME_METRIC=NS   \(set\)\n.*\n    allowed: US NS MS SEC; default: US$", out, re.M)
    assert re.search(r"^DFTRACER_CATEGORIES=a,b   \(set\)$", out, re.M)
    assert re.search(r"^DFTRACER_ENABLE=0$", out, re.M)


def config_reports_a_wrong_value():
    out, err = dftracer("config", COMPRESSION_LEVEL="twelve")
    assert "DFTRACER_COMPRESSION_LEVEL=0\n" in out
    assert err.count("\n") == 1 and "DFTRACER_COMPRESSION_LEVEL" in err and '"twelve"' in err and "0 to 9" in err


def config_does_not_trace_itself():
    with tempfile.TemporaryDirectory() as folder:
        dftracer("config", ENABLE="1", LOG_FILE=f"{folder}/trace")
        assert os.listdir(folder) == []


def the_documentation_has_the_table():
    """To fix: replace the table by the output of `dftracer config --markdown`."""
    table, _ = dftracer("config", "--markdown")
    lines = table.splitlines()
    assert lines[1] == "|---|---|---|---|" and all(line.count(" | ") == 3 for line in lines[2:])
    text = (SOURCE / "docs/configuration.md").read_text()
    assert table in text, "docs/configuration.md is not up to date: see dftracer config --markdown"
    assert text.count("\n|") == len(lines), "there is another table"


for check in (
    help_lists_the_commands,
    version_is_the_headers,
    an_unknown_command_is_refused,
    each_command_has_help,
    the_summary_fits_the_terminal,
    a_closed_pipe_is_not_reported,
    a_file_that_is_not_a_trace_is_reported,
    hdf5_files_get_a_hint,
    a_fifo_is_refused_without_waiting,
    recover_with_nothing_to_do_is_fine,
    recover_publishes_what_the_dead_left,
    recover_takes_several_folders,
    a_missing_folder_is_an_error_and_the_others_are_done,
    a_living_process_is_left_alone,
    a_file_that_is_not_a_spool_is_left_alone,
    a_spool_of_another_version_is_left_alone,
    config_shows_values_and_defaults,
    config_reports_a_wrong_value,
    config_does_not_trace_itself,
    the_documentation_has_the_table,
):
    check()
