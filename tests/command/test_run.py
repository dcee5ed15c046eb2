"""dftracer run: the program is traced, and only the summary line shows it."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import COMMAND, PROGRAMS, SOURCE, dftracer, read_folder, traced

DOING = PROGRAMS / "doing"


def run(folder, *words, status=0, **more):
    return dftracer("run", *words, status=status, cwd=folder, **more)


def in_a_folder(check):
    def inside():
        with tempfile.TemporaryDirectory() as folder:
            check(os.path.realpath(folder))

    return inside


@in_a_folder
def the_summary_line_counts_events_and_processes(folder):
    out, err = run(folder, "--", DOING, "event", 5, "fork")
    assert not out and err == f"dftracer: recorded 6 events of 2 processes in {folder}/traces\n", err
    assert sorted(len(trace.user_events()) for trace in read_folder(f"{folder}/traces")) == [1, 5]
    _, err = run(folder, DOING, "event", 1)  # the traces of the first run do not count
    assert err == f"dftracer: recorded 1 event of 1 process in {folder}/traces\n", err


@in_a_folder
def every_command_counts_the_same_events(folder):
    _, err = run(folder, "--", DOING, "event", 5, "other", 3, "step", 2)
    said = {"run": err}
    (trace,) = read_folder(f"{folder}/traces")
    assert trace.end["args"]["num_events"] == 7, trace.end
    said["info"], _ = dftracer("info", "traces", cwd=folder)
    said["summary"], _ = dftracer("summary", "traces", cwd=folder)
    for name in ("job.json", "job.csv", "job.h5"):
        _, said[name] = dftracer("convert", "traces", "-o", name, cwd=folder)
    _, said["merge"] = dftracer("merge", "traces", "-o", "job.json", cwd=folder)
    run(folder, "--out", "dead", "-q", DOING, "event", 5, "other", 3, "step", 2, "kill", 9, status=-9, INC_METADATA="0")
    said["bare"], _ = dftracer("info", "dead", cwd=folder)
    leave = [DOING, "event", "5", "other", "3", "step", "2", "kill", "9"]
    subprocess.run(leave, env=traced(f"{folder}/left"), check=False)
    out, _ = dftracer("top", "--once", "left", cwd=folder)
    assert re.search(r" 7 +0 +7 dead", out), out
    said["recover"], _ = dftracer("recover", "left", cwd=folder)
    for command, text in said.items():
        assert re.search(r"\b7 events\b|events +7\b", text), (command, text)


@in_a_folder
def options_choose_the_folder_and_the_name(folder):
    _, err = run(folder, "--out", "a/b", "--name=first", DOING, "event", 2)
    assert f"in {folder}/a/b\n" in err
    (trace,) = read_folder(f"{folder}/a/b")
    assert os.path.basename(trace.path).startswith("first-")
    run(folder, DOING, "event", 2, LOG_FILE=f"{folder}/given/trace")
    assert len(read_folder(f"{folder}/given")) == 1
    run(folder, "--name", "a/b", DOING, status=2)
    out, err = run(folder, "-q", DOING, "event", 1)
    assert not out and not err
    _, err = run(folder, "--sink", "null", "--out", "none", DOING, "event", 1)
    assert "no events" in err or " 0 " in err, err
    _, err = run(folder, "--sink", "jsonl,hdf5:layout=table", "--out", "two", DOING, "event", 1)
    assert len(list(Path(folder, "two").iterdir())) >= 1, err
    _, err = run(folder, "--out", "bare", DOING, "event", 3, INC_METADATA="0")
    assert "3 events of 1 process" in err, err


@in_a_folder
def a_folder_that_the_program_chooses_is_found(folder):
    why = " (chosen by the program, which overrides --out)"
    for _ in range(2):  # the second run replaces the trace
        _, err = run(folder, "--out", "a", DOING, "into", "own/train.pfw", "event", 3, "fork")
        assert err == f"dftracer: recorded 4 events of 2 processes in {folder}/own{why}\n", err
        time.sleep(0.02)  # file times have the resolution of a tick: let the next run start in another one
    for trace in read_folder(f"{folder}/own"):
        assert len(trace.named("event")) in (0, 3)
    words = [DOING, "into", "own/train.pfw", "event", 3, "kill", 9]
    _, err = run(folder, "--out", "a", *words, status=-9)
    said = f"recorded 3 events of 1 process in {folder}/own{why}; completed the trace of 1 process"
    assert err == f"dftracer: {said}\n", err
    Path(folder, "tmp").mkdir()
    _, err = run(folder, "--out", "a", DOING, "into", "a/x.pfw", "event", 3, env={"TMPDIR": f"{folder}/tmp"})
    assert err == f"dftracer: recorded 3 events of 1 process in {folder}/a\n", err
    time.sleep(0.02)
    both = f"{DOING} event 2; {DOING} into own/y.pfw event 3"
    _, err = run(folder, "sh", "-c", both, env={"TMPDIR": f"{folder}/tmp"})
    assert err.splitlines() == [
        f"dftracer: recorded 2 events of 1 process in {folder}/traces",
        f"dftracer: recorded 3 events of 1 process in {folder}/own{why}",
    ], err
    assert not list(Path(folder, "tmp").iterdir())
    _, err = run(folder, "sh", "-c", "true")
    assert "what /" in err and "opened no trace" in err, err


@in_a_folder
def a_python_without_the_package_is_told(folder):
    package = Path(folder, "dftracer")
    package.mkdir()
    settings = {"PYTHONPATH": folder}
    _, err = run(folder, "--out", "a", sys.executable, "-c", "0", env=settings)
    if not importlib.util.find_spec("dftracer"):
        assert "has no package dftracer, so neither trainings nor annotations of Python are recorded" in err, err
    Path(package, "dftracer.py").touch()
    _, err = run(folder, "--out", "a", sys.executable, "-c", "0", env=settings)
    assert "opened no trace (it trained nothing with PyTorch" in err, err


@in_a_folder
def misspelt_settings_are_reported(folder):
    out, err = run(folder, DOING, "event", 1, CATAGORIES="x", OUTPUT="y", ERROR="1", LOG_LEVEL="", SINKS="")
    lines = err.splitlines()
    assert len(lines) == 3 and not out, err
    for name, more in (("CATAGORIES", "did you mean DFTRACER_CATEGORIES? See"), ("OUTPUT", "see")):
        line = f"dftracer run: DFTRACER_{name} is not a setting and has no effect; {more} 'dftracer config'"
        assert line in lines, err


@in_a_folder
def misspelt_folders_are_reported(folder):
    for option, is_told in ((f"--io=/tmp:{folder}/dtaa", True), (f"--io={folder}", False), ("--io", False)):
        _, err = run(folder, option, DOING, "event", 1)
        assert (f"dftracer run: the folder {folder}/dtaa does not exist; " in err) == is_told, err
        assert err.count("\n") == 1 + is_told, err


@in_a_folder
def misspelt_categories_are_reported(folder):
    for names in ("tets", "TEST", "a,tesst"):
        _, err = run(folder, DOING, "event", 1, CATEGORIES=names)
        told, last = err.splitlines()
        name = names.split(",")[-1]
        left_out = f'no event has the category "{name}"; events of "test" were left out'
        assert told == f"dftracer: DFTRACER_CATEGORIES: {left_out}", err
        assert f"DFTRACER_CATEGORIES={names}" in last, err
    for names, event_count in (("elsewhere", 0), ("test1,other , test", 1)):
        _, err = run(folder, DOING, "event", 1, CATEGORIES=names)
        assert err.count("\n") == 1 and ("1 event of" in err) == event_count, err


@in_a_folder
def run_ends_as_the_program_ends(folder):
    for status in (0, 1, 7, 255):
        run(folder, DOING, "event", 1, "exit", status, status=status)
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
        _, err = run(folder, "--out", f"killed-{number}", DOING, "event", 3, "kill", int(number), status=-number)
        assert "3 events of 1 process" in err and "completed the trace of 1 process" in err, err
        assert not os.path.exists(f"{folder}/killed-{number}/.dftracer"), "the recovery left a trace of its own"
        assert len(read_folder(f"{folder}/killed-{number}")[0].named("event")) == 3


@in_a_folder
def a_program_that_cannot_run_is_reported(folder):
    script = Path(folder) / "script"
    script.write_text("#!/no/such/interpreter\n")
    for word, status, message in (
        ("no-such-program", 127, "No such file or directory"),
        (f"{folder}/missing", 127, "No such file or directory"),
        (str(script), 126, "no permission"),
    ):
        out, err = run(folder, word, status=status)
        assert not out and message in err and err.count("\n") == 1, err
    Path(folder, "data").mkdir()
    for words, message in (
        (["./data"], "./data is a folder"),
        (
            ["--io", f"{folder}/data", DOING],
            f"{folder}/data is a folder: to record what happens in it, write --io={folder}/data",
        ),
        (["--io", "data", DOING], "data is a folder: to record what happens in it, write --io=data"),
    ):
        _, err = run(folder, *words, status=126)
        assert err == f"dftracer run: {message}\n", err
    script.chmod(0o755)
    _, err = run(folder, script, status=127)
    assert "/no/such/interpreter does not exist" in err, err
    assert not list(Path(folder).glob("traces/*"))
    Path(folder, "file").touch()
    _, err = run(folder, "--out", "file/x", DOING, status=125)
    assert "did not run the program" in err and "file/x" in err, err
    _, err = run(folder, status=2)
    assert "CMD is missing" in err
    _, err = run(folder, "--sink", "jsonl,nosuch", DOING, status=2)
    assert '"jsonl,nosuch" is neither a built-in sink (jsonl, ' in err, err


@in_a_folder
def a_program_that_cannot_be_traced_runs_after_a_warning(folder):
    source = Path(folder) / "static.c"
    source.write_text("int main(void) { return 4; }\n")
    if subprocess.run(["cc", "-static", source, "-o", f"{folder}/static"], check=False).returncode == 0:
        _, err = run(folder, "./static", status=4)
        assert err.startswith("dftracer run: ./static is linked statically"), err
    _, err = run(folder, "true")
    assert "does not link libdftracer_core; use --io" in err, err
    if os.getuid() == 0:  # somebody else's program that runs as its owner
        shutil.copy(shutil.which("true"), f"{folder}/other")
        os.chown(f"{folder}/other", 12345, -1)
        os.chmod(f"{folder}/other", 0o4755)
        _, err = run(folder, "./other")
        assert "raised privileges" in err, err


@in_a_folder
def signals_reach_the_program(folder):
    words = [COMMAND, "run", DOING, "event", "1", "wait", "exit", "3"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGUSR1)
        assert process.stdout.readline() == "got\n"
        assert process.wait() == 3
    words = [COMMAND, "run", DOING, "event", "1", "wait"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        assert process.wait() == -signal.SIGTERM
        assert "completed the trace of 1 process" in process.stderr.read()


@in_a_folder
def the_program_can_be_stopped_and_continued(folder):
    words = [COMMAND, "run", DOING, "wait"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # In its own process group: without a terminal the test's group may be orphaned, and the kernel does not stop those.
    with subprocess.Popen(words, cwd=folder, preexec_fn=os.setpgrp, **pipes) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTSTP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGUSR1)
        assert process.stdout.readline() == "got\n" and process.wait() == 0


@in_a_folder
def the_program_inherits_all_but_the_settings(folder):
    script = "import os, signal; print(signal.getsignal(signal.SIGCHLD), signal.pthread_sigmask(0, []))\n"
    script += "print(os.listdir('/proc/self/fd'))"
    command = f'trap "" CHLD; exec "$@" {os.environ["DFT_TEST_PYTHON"]} -c "$SCRIPT"'
    env = {**os.environ, "SCRIPT": script}
    plain, traced = (
        subprocess.run(
            ["bash", "-c", command, "bash", *words], env=env, cwd=folder, capture_output=True, text=True, check=True
        )
        for words in ([], [COMMAND, "run"])
    )
    assert plain.stdout == traced.stdout, (plain, traced)
    out, _ = run(folder, "cat", stdin="through\n")
    assert out == "through\n"


@in_a_folder
def a_missing_preload_library_is_reported(folder):
    lone = Path(folder) / "bin"
    lone.mkdir()
    library = Path(os.environ["DFT_TEST_LIBRARY"])
    shutil.copy(library.resolve(), lone / "libdftracer_core.so.5")
    done = subprocess.run(
        [COMMAND, "run", "--io", "true"],
        env={**os.environ, "LD_LIBRARY_PATH": str(lone)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 125 and "needs libdftracer_preload.so" in done.stderr, done


@in_a_folder
def only_rank_0_of_an_mpi_job_prints_the_line(folder):
    if not (shutil.which("mpicc") and shutil.which("mpirun")):
        print("no MPI here: jobs of ranks were not tried")
        return
    library = Path(os.environ["DFT_TEST_LIBRARY"]).parent
    build = ["mpicc", SOURCE / "tests/command/mpi/ranks.c", "-o", f"{folder}/ranks", f"-I{SOURCE}/c/include"]
    subprocess.run([*build, f"-L{library}", "-ldftracer_core", f"-Wl,-rpath,{library}"], check=True)
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    job = ["mpirun", "--oversubscribe", "-n", "4", COMMAND, "run"]
    done = subprocess.run([*job, "--", "./ranks"], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert done.stderr == f"dftracer: recorded 40 events of 4 processes in {folder}/traces\n", done.stderr
    names = {trace.named("process_name")[0]["args"]["name"] for trace in read_folder(f"{folder}/traces")}
    assert names == {f"Rank {rank}" for rank in range(4)}, names
    # Rank 0 ends before the others have recorded anything, but its line counts them.
    slow = ["--out", "slow", "sh", "-c", "sleep 0.$OMPI_COMM_WORLD_RANK; exec ./ranks_apart event 3"]
    (Path(folder) / "ranks_apart").symlink_to(DOING)
    done = subprocess.run([*job, *slow], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.stderr == f"dftracer: recorded 12 events of 4 processes in {folder}/slow\n", done
    # mpirun kills all ranks when one dies: dftracer recover in an epilog publishes their traces.
    done = subprocess.run(
        [*job, "--out", "dead", "./ranks", "2"], cwd=folder, env=env, capture_output=True, check=False
    )
    assert done.returncode != 0
    deadline = time.monotonic() + 60
    while len(list(Path(folder, "dead").glob("*.pfw.gz"))) < 4 and time.monotonic() < deadline:
        dftracer("recover", "-q", "dead", cwd=folder)
        time.sleep(0.1)
    assert [len(trace.named("allreduce")) for trace in read_folder(f"{folder}/dead")] == [10] * 4


for check in (
    the_summary_line_counts_events_and_processes,
    every_command_counts_the_same_events,
    options_choose_the_folder_and_the_name,
    a_folder_that_the_program_chooses_is_found,
    a_python_without_the_package_is_told,
    misspelt_settings_are_reported,
    misspelt_folders_are_reported,
    misspelt_categories_are_reported,
    run_ends_as_the_program_ends,
    a_program_that_cannot_run_is_reported,
    a_program_that_cannot_be_traced_runs_after_a_warning,
    signals_reach_the_program,
    the_program_can_be_stopped_and_continued,
    the_program_inherits_all_but_the_settings,
    a_missing_preload_library_is_reported,
    only_rank_0_of_an_mpi_job_prints_the_line,
):
    check()
