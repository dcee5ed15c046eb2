"""What names and categories of regions mean: the page shows the table of the source, and --classes puts a user's rows
before it."""

import json
import os
import re
import subprocess
from pathlib import Path

from cases import run_cases

COMMAND, SOURCE = os.environ["DFT_TEST_COMMAND"], Path(os.environ["DFT_TEST_SOURCE"])
BEGIN = 1_700_000_000_000_000  # us


def run(*arguments, status=0):
    done = subprocess.run([COMMAND, "summary", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == status, done
    return done.stdout if status == 0 else done.stderr


def trace(folder, *events):
    """events: (name, cat, start, end), in milliseconds."""
    lines = [
        {"id": i, "name": name, "cat": cat, "pid": 1, "tid": 1, "ts": BEGIN + start * 1000, "dur": (end - start) * 1000}
        for i, (name, cat, start, end) in enumerate(events)
    ]
    path = Path(folder) / "1.pfw"
    path.write_text("[\n" + "\n".join(json.dumps(line | {"ph": "X", "args": {}}) for line in lines) + "\n]\n")
    return path


def split(path, *options):
    """Milliseconds by class, of all phases, without those that are 0."""
    (process,) = json.loads(run("--json", *options, path))["split"]
    sums = {}
    for phase in ("start", "loop", "evaluation", "end"):
        for kind, ns in process[phase].items():
            sums[kind] = sums.get(kind, 0) + ns // 10**6
    return {kind: ms for kind, ms in sums.items() if ms}


def the_page_has_the_table_of_the_source(_folder):
    source = (SOURCE / "c/command/summary/tally/vocabulary.c").read_text()
    page = (SOURCE / "docs/summary.md").read_text()
    meanings = re.findall(r'\[(ACTIVITY_\w+)\] = \{"([^"]+)",\s*"([^"]*)"\}', source)
    words = {activity: word for activity, word, _ in meanings}
    rows = re.findall(r'\{(ACTIVITY_\w+), "([^"]*)", "([^"]*)", "([^"]*)"\}', source)
    assert len(rows) > 40 and len(words) > 15, (len(rows), len(words))
    wanted = [
        f"| {words[activity]} | `{cat}` | `{name}` | {note + ' ' if note else ''}|"
        for activity, cat, name, note in rows
    ]
    assert "\n".join(wanted) + "\n\n" in page, "\n".join(wanted)
    wanted = [f"| {word} | {meaning} |" for _, word, meaning in meanings]
    assert "\n".join(wanted) + "\n\n" in page, "\n".join(wanted)


def every_kind_of_region_counts_as_its_class(folder):
    cases = {
        "compute": [("forward", "compute"), ("solve", "app"), ("fetch.block", "dataloader"), ("item", "data")],
        "input": [("fetch.iter", "dataloader"), ("fetch.init", "dataloader"), ("loop.iter", "data_loader")],
        "communication": [("all_reduce", "comm"), ("MPI_Allreduce", "MPI"), ("halo", "mpi"), ("ncclAllReduce", "nccl")],
        "checkpoint": [("capture", "checkpoint"), ("x", "checkpointing")],
        "transfer": [("transfer", "device")],
        "write": [("MPI_File_iwrite_at", "MPIIO"), ("write_all", "io"), ("write", "POSIX"), ("fputs", "STDIO")],
        "read": [("MPI_File_read_all", "MPIIO"), ("read_mesh", "IO"), ("pread64", "POSIX")],
        "metadata": [("MPI_File_open", "MPIIO"), ("open", "POSIX"), ("mmap", "POSIX")],
        "outside": [("epoch", "pipeline"), ("train", "pipeline"), ("MPI_Finalize", "MPI"), ("waitpid", "POSIX")],
    }
    for kind, events in cases.items():
        for name, cat in events:
            assert split(trace(folder, (name, cat, 0, 10))) == {kind: 10}, (kind, name, cat)


def what_encloses_says_what_it_is_for(folder):
    """Compute and other regions give way to what is inside; other purposes do not."""
    for inner, outer, kind in (
        (("read", "POSIX"), ("capture", "checkpoint"), "checkpoint"),
        (("read", "POSIX"), ("fetch.iter", "dataloader"), "input"),
        (("item", "data"), ("fetch.iter", "dataloader"), "input"),
        (("write", "POSIX"), ("MPI_Bcast", "MPI"), "communication"),
        (("write", "POSIX"), ("MPI_File_read", "MPIIO"), "read"),
        (("read", "POSIX"), ("forward", "compute"), "read"),
        (("all_reduce", "comm"), ("backward", "compute"), "communication"),
        (("fetch.iter", "dataloader"), ("main", "app"), "input"),
        (("forward", "compute"), ("fetch.iter", "dataloader"), "compute"),
    ):
        found = split(trace(folder, (*inner, 2, 6), (*outer, 0, 10)))
        outside = split(trace(folder, (*outer, 0, 10)))
        (other,) = outside
        assert found == ({kind: 10} if other == kind else {kind: 4, other: 6}), (inner, outer, found)


def rows_of_the_user_come_first(folder):
    path = trace(folder, ("solve it", "app", 0, 10), ("dump", "app", 10, 30), ("forward", "compute", 30, 60))
    own = Path(folder) / "classes"
    own.write_text("# mine\n\n  communication app 'solve it' # with a blank\nwrite app d?mp\nframe compute *\n")
    assert split(path) == {"compute": 60}
    assert split(path, "--classes", own) == {"communication": 10, "write": 20, "outside": 30}
    state = Path(folder) / "part.dfs"
    run("--partial", "-o", state, "--classes", own, path)
    assert split(state) == split(state, "--classes", own) == split(path, "--classes", own)
    plain = Path(folder) / "plain.dfs"
    run("--partial", "-o", plain, path)
    assert "another --classes" in run("--classes", own, plain, status=1)
    assert "--classes is not the same" in run(plain, state, status=1)


def wrong_rows_are_refused(folder):
    own, path = Path(folder) / "classes", trace(folder, ("x", "app", 0, 1))
    for text, wanted in (
        ("compute app", "line 1: a line has three words"),
        ("\ncompute a b c", "line 2: a line has three words"),
        ("# x\n\nswim app *", 'line 3: there is no class "swim"; it is one of other, compute, update,'),
        ("compute app 'solve", "line 1: a quote has no end"),
    ):
        own.write_text(text + "\n")
        problem = run("--classes", own, path, status=2)
        assert f"{own}: {wanted}" in problem, problem
    assert "No such file" in run("--classes", Path(folder) / "none", path, status=2)


if __name__ == "__main__":
    run_cases(
        the_page_has_the_table_of_the_source,
        every_kind_of_region_counts_as_its_class,
        what_encloses_says_what_it_is_for,
        rows_of_the_user_come_first,
        wrong_rows_are_refused,
    )
