"""The frame of the command: options, help, man page, and commands from elsewhere."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness import COMMAND, SOURCE, commands, dftracer


def every_command_has_help_and_refuses_nonsense():
    assert {"run", "recover", "doctor", "man"} <= set(commands())
    for command in commands():
        out, err = dftracer(command, "--help")
        assert out.startswith(f"usage: dftracer {command}") and not err and "--help" in out, command
        assert dftracer("help", command) == (out, "")
        assert max(map(len, out.splitlines())) <= 100, command
        out, err = dftracer(command, "--no-such-option", status=2)
        assert not out and "--no-such-option" in err and f"dftracer {command} --help" in err, command


def each_command_is_the_file_of_its_name():
    files = [path.stem.removeprefix("command_") for path in (SOURCE / "c/command").glob("*/command_*.c")]
    assert sorted(files) == sorted(commands()), files


def help_fits_a_narrow_terminal():
    out, _ = dftracer("recover", "--help", env={"COLUMNS": "60"})
    assert max(map(len, out.splitlines())) <= 60
    for command in commands():
        out, _ = dftracer(command, "--help", env={"COLUMNS": "80"})
        assert max(map(len, out.splitlines())) <= 80, out


def options_are_read_as_people_write_them():
    with tempfile.TemporaryDirectory() as folder:
        expected = f"{folder}: 10 events of 2 processes, "
        for words in (
            ["-n", "10", "-p", "2", folder],
            ["-n10", "-p2", folder],
            [folder, "--events", "10", "--processes=2"],
            ["--ev", "10", "--proc", "2", "--", folder],
        ):
            out, err = dftracer("generate", *words)
            assert out.startswith(expected) and not err, (words, out)
        for words, message in (
            (["--p", "2", folder], "--p is ambiguous"),
            (["--plain=1", folder], "--plain takes no value"),
            (["--events"], "--events needs a value"),
            (["-n"], "-n needs a value"),
            (["-n", "many", folder], '"many" is not a number'),
            (["-n", "1e30", folder], '"1e30" is not a number'),
            ([], "DIR"),
            ([folder, folder], "one folder"),
        ):
            out, err = dftracer("generate", *words, status=2)
            assert not out and message in err and err.count("\n") == 1, (words, err)


def a_full_disk_is_reported():
    with open("/dev/full", "w") as full:
        done = subprocess.run([COMMAND, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "No space left" in done.stderr


# ---- Commands from elsewhere -----------------------------------------------------------------------------------------

SCRIPT = '#!/bin/sh\necho "$0 here:$#:$1:$2"\nexit 5\n'


def write_script(path, text=SCRIPT, mode=0o755):
    path.write_text(text)
    path.chmod(mode)


def a_command_on_the_path_is_run():
    with tempfile.TemporaryDirectory() as folder:
        write_script(Path(folder) / "dftracer-plot")
        path = f"{folder}:{os.environ['PATH']}"
        out, err = dftracer("plot", "a b", "--help", status=5, env={"PATH": path})
        assert out.endswith("dftracer-plot here:2:a b:--help\n") and not err
        write_script(Path(folder) / "dftracer-odd", mode=0o644)
        _, err = dftracer("odd", status=1, env={"PATH": path})
        assert "dftracer-odd: Permission denied" in err
        for name in ("../x", "-x", "", "a b"):
            dftracer(name, status=2, env={"PATH": path})


def a_command_beside_this_one_comes_first_and_is_listed():
    with tempfile.TemporaryDirectory() as beside, tempfile.TemporaryDirectory() as elsewhere:
        command = shutil.copy(COMMAND, f"{beside}/dftracer")
        write_script(Path(beside) / "dftracer-plot")
        write_script(Path(beside) / "dftracer-recover")  # built-in commands come first
        write_script(Path(elsewhere) / "dftracer-plot", "#!/bin/sh\nexit 9\n")
        env = {**os.environ, "PATH": f"{elsewhere}:{os.environ['PATH']}"}
        done = subprocess.run([command, "plot"], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 5 and done.stdout.startswith(f"{beside}/dftracer-plot here:0"), done
        done = subprocess.run([command, "--help"], env=env, capture_output=True, text=True, check=True)
        assert re.search(r"^  plot  ", done.stdout, re.M) and len(re.findall(r"^  recover ", done.stdout, re.M)) == 1
        done = subprocess.run([command, "recover", beside], env=env, capture_output=True, text=True, check=True)
        assert "nothing to recover" in done.stdout


# ---- Manual ---------------------------------------------------------------------------------------------------------


def the_manual_page_names_every_command_and_setting():
    page, err = dftracer("man")
    settings, _ = dftracer("config", "--markdown")
    assert not err and page.startswith(".TH DFTRACER 1")
    for command in commands():
        assert f'.SS "dftracer {command}' in page, command
    for name in re.findall(r"`(DFTRACER_\w+)`", settings):
        assert f".B {name}\n" in page, name
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, check=True
        )
        assert not done.stderr and "recover" in done.stdout, done.stderr


for check in (
    every_command_has_help_and_refuses_nonsense,
    each_command_is_the_file_of_its_name,
    help_fits_a_narrow_terminal,
    options_are_read_as_people_write_them,
    a_full_disk_is_reported,
    a_command_on_the_path_is_run,
    a_command_beside_this_one_comes_first_and_is_listed,
    the_manual_page_names_every_command_and_setting,
):
    check()
