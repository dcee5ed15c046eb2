"""Every process of a run says so in its trace, and the next run in the same folder differs."""

import collections
import os
import pty
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import COMMAND, PROGRAMS, dftracer, read_folder, traced

DOING = str(PROGRAMS / "doing")
PRELOAD = os.environ["DFT_TEST_PRELOAD"]
TWO = f"{DOING} event 1; {DOING} event 1"


def in_a_folder(check):
    def inside():
        with tempfile.TemporaryDirectory() as folder:
            check(os.path.realpath(folder))

    return inside


def start(trace):
    (event,) = trace.named("start")
    return event["args"]


def runs(folder):
    """How many processes each run has, in any order."""
    return sorted(collections.Counter(start(trace)["run"] for trace in read_folder(folder)).values())


def do(folder, *words, **settings):
    env = {**settings, **traced(folder, **settings)}  # they come first
    subprocess.run(words, env=env, check=True, stdout=subprocess.DEVNULL)


@in_a_folder
def runs_one_after_the_other_differ(folder):
    for _ in range(3):
        dftracer("run", "-q", "--out", folder, DOING, "event", "1", "fork")
    assert runs(folder) == [2, 2, 2]
    for _ in range(3):
        do(f"{folder}/plain", DOING, "event", "1", "fork")
    assert runs(f"{folder}/plain") == [2, 2, 2]
    names = f"DFTRACER_ENABLE=1 DFTRACER_LOG_FILE={folder}/shell/trace"
    subprocess.run(["sh", "-c", f"export {names}; {TWO}"], check=True)  # the shell was not started with tracing on
    assert runs(f"{folder}/shell") == [1, 1]


@in_a_folder
def what_a_script_starts_is_one_run(folder):
    (Path(folder) / "Makefile").write_text(f"all: a b\na:\n\t{DOING} event 1\nb:\n\t{DOING} event 1\n")
    scripts = {
        "script": ["sh", "-c", TWO],
        "pipeline": ["sh", "-c", f"{DOING} event 1 | {DOING} event 1"],
        "shells": ["sh", "-c", f"sh -c '{TWO}'; true"],
        "timeout": ["sh", "-c", f"timeout 60 {DOING} event 1; {DOING} event 1"],
        "python": [sys.executable, "-c", f"import os\nfor i in range(2): os.spawnl(0, '{DOING}', 'x', 'event', '1')"],
        "session": ["sh", "-c", f"setsid -w {DOING} event 1; {DOING} event 1"],
    }
    chain = f"if test $1 -gt 0; then sh $0 $(($1 - 1)); else {DOING} event 1; fi; test $1 -lt 99 || {DOING} event 1\n"
    (Path(folder) / "chain.sh").write_text(chain)
    scripts["chain"] = ["sh", f"{folder}/chain.sh", "99"]
    scripts["large"] = ["sh", "-c", TWO]
    if shutil.which("make"):
        scripts["make"] = ["make", "-s", "-C", folder]
    large = {f"A{i}": "x" * 100_000 for i in range(10)}
    for name, words in scripts.items():
        more = large if name == "large" else {}
        dftracer("run", "-q", "--out", f"{folder}/run/{name}", "--", *words, env=more)
        assert runs(f"{folder}/run/{name}") == [2], name
        do(f"{folder}/plain/{name}", *words, **more)
        assert runs(f"{folder}/plain/{name}") == [2], name


@in_a_folder
def a_job_that_is_typed_is_a_run(folder):
    """Even in a shell that was itself started with tracing on, if it controls jobs on a terminal."""
    limited = f"timeout 60 {DOING} event 1; {DOING} event 1"  # timeout makes itself a group, too
    cases = (("jobs", f"set -m; {TWO}", [1, 1]), ("script", TWO, [2]), ("timeout", limited, [2]))
    for name, script, expected in cases:
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe("sh", ["sh", "-c", script], traced(f"{folder}/{name}"))
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        os.close(terminal)
        assert runs(f"{folder}/{name}") == expected, name


@in_a_folder
def the_user_may_name_it(folder):
    do(folder, DOING, "event", "1", DFTRACER_RUN_ID="experiment 7")
    dftracer("run", "-q", "--out", folder, DOING, "event", "1", RUN_ID="experiment 7")
    assert {start(trace)["run"] for trace in read_folder(folder)} == {"experiment 7"}
    do(f"{folder}/long", DOING, "event", "1", DFTRACER_RUN_ID="x" * 1000)
    assert len(start(read_folder(f"{folder}/long")[0])["run"]) == 16
    do(f"{folder}/bare", DOING, "event", "1", DFTRACER_RUN_ID="experiment 7", DFTRACER_INC_METADATA="0")
    assert set(start(read_folder(f"{folder}/bare")[0])) == {"hhash"}


@in_a_folder
def the_variables_of_launchers_are_understood(folder):
    launches = {
        "slurm": (
            {"SLURM_PROCID": "{}", "SLURM_STEP_NUM_TASKS": "2", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"},
            "7.0",
        ),
        "flux": ({"FLUX_TASK_RANK": "{}", "FLUX_JOB_SIZE": "2", "FLUX_JOB_ID": "f2x"}, "f2x"),
        "pals": ({"PMI_RANK": "{}", "PMI_SIZE": "2", "PALS_APID": "a-b"}, "a-b"),
        "torchrun": (
            {"RANK": "{}", "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "u", "MASTER_ADDR": "n", "MASTER_PORT": "1"},
            "u.n.1",
        ),
        "nodes": (
            {
                "RANK": "{}",
                "WORLD_SIZE": "2",
                "TORCHELASTIC_RUN_ID": "none",
                "MASTER_ADDR": "n",
                "MASTER_PORT": "1",
                "GROUP_WORLD_SIZE": "2",
            },
            "none.n.1",
        ),
    }
    for name, (variables, expected) in launches.items():
        for rank in range(2):
            do(f"{folder}/{name}", DOING, "event", "1", **{k: v.format(rank) for k, v in variables.items()})
        found = [(start(trace)["run"], start(trace)["world_size"]) for trace in read_folder(f"{folder}/{name}")]
        assert found == [(expected, 2)] * 2, (name, found)


@in_a_folder
def ranks_of_a_launcher_without_a_name_have_it_in_common(folder):
    """As MPICH's hydra, and torchrun with its run id `none`: variables that are the same in every launch."""
    torchrun = "RANK=$rank WORLD_SIZE=2 TORCHELASTIC_RUN_ID=none MASTER_ADDR=n MASTER_PORT=1"
    for variables in ("PMI_RANK=$rank PMI_SIZE=2", torchrun):
        launcher = f"for rank in 0 1; do {variables} sh -c '{DOING} event 1; true' & done; wait"
        place = f"{folder}/{len(variables)}"
        for _ in range(2):
            do(place, "sh", "-c", launcher)
        assert runs(place) == [2, 2], variables


@in_a_folder
def ranks_that_a_script_makes_itself_are_of_its_run(folder):
    """As torch.multiprocessing.spawn makes them."""
    rank = "RANK=$rank WORLD_SIZE=2 MASTER_ADDR=n MASTER_PORT=1"
    for _ in range(2):
        do(folder, "sh", "-c", f"{DOING} event 1; for rank in 0 1; do {rank} {DOING} event 1; done")
    assert runs(folder) == [3, 3]


@in_a_folder
def one_rank_of_a_launch_is_like_none(folder):
    """The shell of srun --pty has the variables of its step."""
    step = {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}
    for _ in range(2):
        dftracer("run", "-q", "--out", folder, DOING, "event", "1", env=step)
        do(folder, DOING, "event", "1", **step)
    assert runs(folder) == [1, 1, 1, 1]


@in_a_folder
def the_environment_of_the_program_stays_as_it_is(folder):
    plain = subprocess.run(["env"], env=traced(folder, LD_PRELOAD=PRELOAD), capture_output=True, text=True, check=True)
    given = traced(folder, LD_PRELOAD=PRELOAD)
    assert sorted(plain.stdout.splitlines()) == sorted(f"{k}={v}" for k, v in given.items())


def mpirun(*words):
    return ["mpirun", "--oversubscribe", "-n", "4", *words]


@in_a_folder
def ranks_of_open_mpi(folder):
    if (
        not shutil.which("mpirun")
        or "Open MPI" not in subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    ):
        print("no Open MPI: its case is skipped")
        return
    env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    ways = {
        "io": [COMMAND, "run", "-q", "--io", "--out", f"{folder}/io", "--", *mpirun(DOING, "event", "3")],
        "run": [COMMAND, "run", "-q", "--out", f"{folder}/run", "--", *mpirun(DOING, "event", "3")],
        "inside": mpirun(COMMAND, "run", "-q", "--out", f"{folder}/inside", DOING, "event", "3"),
        "plain": mpirun(DOING, "event", "3"),
    }
    for name, words in ways.items():
        for _ in range(2):
            settings = traced(f"{folder}/{name}", **env) if name == "plain" else {**os.environ, **env}
            subprocess.run(words, env=settings, check=True, capture_output=True)
        jobs = collections.defaultdict(list)
        for trace in read_folder(f"{folder}/{name}"):
            if trace.named("event"):
                ranks = [line["args"]["value"] for line in trace.named("PR")]
                jobs[start(trace)["run"]].append((ranks, start(trace)["world_size"]))
        expected = [([str(rank)], 4) for rank in range(4)]
        assert [sorted(job) for job in jobs.values()] == [expected] * 2, (name, jobs)
        if name == "io":  # with mpirun itself
            assert {start(trace)["run"] for trace in read_folder(f"{folder}/io")} == set(jobs)


for check in (
    runs_one_after_the_other_differ,
    what_a_script_starts_is_one_run,
    a_job_that_is_typed_is_a_run,
    the_user_may_name_it,
    the_variables_of_launchers_are_understood,
    ranks_of_a_launcher_without_a_name_have_it_in_common,
    ranks_that_a_script_makes_itself_are_of_its_run,
    one_rank_of_a_launch_is_like_none,
    the_environment_of_the_program_stays_as_it_is,
    ranks_of_open_mpi,
):
    check()
