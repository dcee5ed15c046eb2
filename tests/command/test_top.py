"""dftracer top shows running processes and does not disturb them."""

import os
import pty
import re
import subprocess
import sys
import tempfile
import time

from harness import COMMAND, PROGRAMS, dftracer, leave_dead, read_folder, traced


def busy(folder, **settings):
    process = subprocess.Popen(
        [PROGRAMS / "busy"], env=traced(folder, **settings), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    return process


def finish(process):
    process.stdin.close()
    process.stdout.close()
    assert process.wait() == 0


def open_regions_and_counts_are_shown():
    with tempfile.TemporaryDirectory() as folder:
        process = busy(folder, DFTRACER_RANK="3")
        before = sorted(os.listdir(f"{folder}/.dftracer"))
        out, err = dftracer("top", "--once", "--threads", folder)
        assert not err and sorted(os.listdir(f"{folder}/.dftracer")) == before
        head, columns, line, other = out.splitlines()
        assert re.match(rf"\d\d:\d\d:\d\d  {folder}: 1 process, [\d,]+ events/s$", head), out
        match = re.match(r" *(\d+) +3 +(\S+) +([\d,]+) +([\d,]+) +([\d,]+) (.*)$", line)
        assert match and int(match[1]) == process.pid and match[2] == "busy", (columns, line)
        assert columns.split() == ["pid", "rank", "program", "events", "events/s", "waiting", "now"], columns
        events, rate = int(match[3].replace(",", "")), int(match[4].replace(",", ""))
        assert events >= 100 and rate > 0, line
        doing = [match[6], other.split(": ")[1]]
        assert any(re.match(r"outer [\d.]+ \w+ > inner größe [\d.]+ \w+$", text) for text in doing), doing
        assert any(re.match(r"worker loop [\d.]+ \w+$", text) for text in doing), doing
        later, _ = dftracer("top", "--once", folder)
        assert int(later.splitlines()[2].split()[3].replace(",", "")) > events
        finish(process)
        (trace,) = read_folder(folder)
        assert len(trace.named("first")) == 100 and len(trace.named("outer")) == 1
        out, _ = dftracer("top", "--once", folder)
        assert "0 processes" in out and "no process is recording" in out


def a_program_without_regions_shows_its_io():
    """One rewrites a file until stdin ends; the other has read one and waits."""
    busy_program = (
        "import os, select, sys\n"
        "file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n"
        "def write(): os.pwrite(file, b'x' * 65536, 0)\n"
        "write()\n"
        "print('ready', flush=True)\n"
        "while not select.select([0], [], [], 0)[0]: write()\n"
    )
    idle_program = "import sys\nopen(sys.argv[1], 'rb').read()\nprint('ready', flush=True)\nsys.stdin.read()\n"
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        for rank, program in enumerate((busy_program, idle_program)):
            words = [COMMAND, "run", "--io", "-q", "--out", f"{folder}/out", "--", sys.executable, "-c", program]
            env = {**os.environ, "DFTRACER_RANK": str(rank)}
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            processes.append(subprocess.Popen([*words, f"{folder}/data"], env=env, **pipes))
            assert processes[-1].stdout.readline() == "ready\n"
        number = r"([\d.]+ \w+)/s"
        for _ in range(20):  # a write may take longer than top looks, or all that is recorded has just been written
            out, _ = dftracer("top", "--once", f"{folder}/out")
            rows = {line.split()[1]: line for line in out.splitlines()[2:]}
            last = rf"last pwrite\w* {folder}/data [\d.]+ \w+ ago$"
            match = re.search(rf"read {number}, write {number}, {last}", rows["0"])
            if match and match[2] != "0 B":
                break
        assert match and match[2] != "0 B", out
        match = re.search(rf"read {number}, write {number}, last \w+ \S+ [\d.]+ \w+ ago$", rows["1"])
        assert match and match[2] == "0 B", out
        for process in processes:
            finish(process)


def a_spool_elsewhere_is_followed():
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as spools:
        process = busy(folder, DFTRACER_SPOOL_DIR=spools)
        out, _ = dftracer("top", "--once", folder)
        assert str(process.pid) in out, out
        finish(process)


def dead_processes_are_marked():
    with tempfile.TemporaryDirectory() as folder:
        leave_dead(f"{folder}/deep")
        out, _ = dftracer("top", "--once", folder)
        assert "0 processes, 1 dead" in out and "dftracer recover" in out, out
        with open(f"{folder}/deep/.dftracer/strange.spool", "wb") as file:
            file.write(b"x" * 300000)
        out, err = dftracer("top", "--once", folder)
        assert "0 processes, 1 dead" in out and not err
    _, err = dftracer("top", "--once", f"{folder}/missing", status=1)
    assert "No such file or directory" in err


def a_terminal_is_redrawn_and_pipes_get_lines():
    with tempfile.TemporaryDirectory() as folder:
        process = busy(folder)
        with subprocess.Popen([COMMAND, "top", "-i", "0.1", folder], stdout=subprocess.PIPE, text=True) as top:
            lines = [top.stdout.readline() for _ in range(7)]
            top.terminate()
            assert top.wait() == 0
        assert sum(f"{folder}: 1 process" in line for line in lines) >= 2 and "\033" not in "".join(lines), lines
        leader, follower = pty.openpty()
        env = os.environ | {"COLUMNS": "80"}
        with subprocess.Popen([COMMAND, "top", "-t", "-i", "0.1", folder], stdout=follower, env=env) as top:
            text = b""
            deadline = time.monotonic() + 20
            while text.count(b"\033[H") < 2 and time.monotonic() < deadline:
                text += os.read(leader, 4096)
            top.terminate()
            assert top.wait() == 0
        assert text.count(b"\033[H") >= 2 and str(process.pid).encode() in text
        lines = re.sub(r"\033\[[HJ]", "", text[: text.rindex(b"\033[H")].decode()).splitlines()
        assert max(map(len, lines)) <= 80 and any(re.search(r" \.\.\. > inner größe \d", line) for line in lines), lines
        finish(process)


for check in (
    open_regions_and_counts_are_shown,
    a_program_without_regions_shows_its_io,
    a_spool_elsewhere_is_followed,
    dead_processes_are_marked,
    a_terminal_is_redrawn_and_pipes_get_lines,
):
    check()
