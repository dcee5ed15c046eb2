"""test_options.py - what is asked for does not change what is true: the verdict is about all events of one run, or
there is none, and a line says why.

SPDX-License-Identifier: MIT
"""

import json
import subprocess
import tempfile

from made import Job, solver
from verdict_harness import COMMAND, main, summary_of


def written(folder):
    job = solver(ranks=2, compute=[20, 30], read=30, metadata=5, exchange=1)
    job.write(folder)


def run(*words, status=0):
    done = subprocess.run([COMMAND, "summary", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == status, (words, done)
    return done.stdout + done.stderr


def names_and_categories_choose_tables_only():
    with tempfile.TemporaryDirectory() as folder:
        written(folder)
        whole = summary_of(folder)
        for option in ("--name=nothing*", "--name=read", "--cat=POSIX", "--cat=compute"):
            document = summary_of(option, folder)
            assert document["groups"] != whole["groups"], option
            assert document["verdict"] == whole["verdict"], (option, document["verdict"])
            assert document["findings"] == whole["findings"], (option, document["findings"])


def calls_that_tables_hide_were_recorded():
    for job in (solver(compute=20, read=30), solver(compute=95, read=3)):
        with tempfile.TemporaryDirectory() as folder:
            job.write(folder)
            shown = run("--name", "nothing*", folder)
            assert "not recorded" not in shown, shown


def a_state_without_all_events_has_no_verdict():
    with tempfile.TemporaryDirectory() as folder:
        written(f"{folder}/traces")
        run("--partial", "-o", f"{folder}/part.dfs", "--name", "read", f"{folder}/traces")
        assert summary_of(f"{folder}/part.dfs")["verdict"] is None
        assert run(f"{folder}/part.dfs").startswith("No verdict, because the state was made with --name or --cat")


def all_runs_have_no_verdict_together():
    with tempfile.TemporaryDirectory() as folder:
        written(f"{folder}/one")
        job = Job(2)
        for process in job.processes:
            process.lines = [line.replace('"made"', '"again"') for line in process.lines]
        job.spend("compute", 100)
        job.write(f"{folder}/two")
        assert run("--run", "all", folder).startswith("No verdict, because it is about one run: --run N chooses one.")
        assert json.loads(run("--run", "all", "--json", folder))["verdict"] is None
        assert summary_of("--run", "1", folder)["verdict"] is not None


def a_part_of_the_time_is_told():
    line = "Only a part of the time was asked for"
    with tempfile.TemporaryDirectory() as folder:
        written(folder)
        cases = (([], None), (["--to", "1s"], f"{line}."), (["--from", "1s"], f"{line}: events that began "))
        for words, told in cases:
            evidence = summary_of(*words, folder)["verdict"]["evidence"]
            assert [one.startswith(told or line) for one in evidence if line in one] == [True] * bool(told), evidence


def a_time_without_events_is_told():
    with tempfile.TemporaryDirectory() as folder:
        written(folder)
        assert run("--from", "100s", folder).startswith("No event begins in the time that --from and --to ask for.")
        for begin, end in (("5s", "3s"), ("3s", "3s")):
            assert "--to is not after --from" in run("--from", begin, "--to", end, folder, status=2)


if __name__ == "__main__":
    main(
        names_and_categories_choose_tables_only,
        calls_that_tables_hide_were_recorded,
        a_state_without_all_events_has_no_verdict,
        all_runs_have_no_verdict_together,
        a_part_of_the_time_is_told,
        a_time_without_events_is_told,
    )
