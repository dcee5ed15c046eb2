"""test_text.py - the words of verdict and findings, whatever the names in the trace and the terminal are.

SPDX-License-Identifier: MIT
"""

import json
import os
import pty
import subprocess
import tempfile

from made import Job, solver
from verdict_harness import COMMAND, main, summary_of

HOSTILE = "/da\nta\x1b[31m/\u202e50 %s %n"
LONG = "/" + "\u00e9" * 2000  # a path of 4,001 bytes


def summary(folder, *options, **environment):
    """Status, output and errors."""
    words = [COMMAND, "summary", *options, folder]
    clean = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
    environment = {**clean, "LC_ALL": "C.UTF-8", **environment}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    return done.returncode, done.stdout, done.stderr


def storm(top, files=1200, ranks=2):
    """Most of the time is stat() below this folder."""
    job = Job(ranks)
    for number in range(1200):
        for rank in job.ranks:
            rank.main.call("stat", 3, f"{top}/{number % files}")
            rank.main.region("s\"o'l\\ve\n", "compute", 1)
    return job


def printed(job, *options, **environment):
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        status, text, errors = summary(folder, *options, **environment)
    assert status == 0 and not errors, (status, errors)
    return text


def names_cannot_write_to_the_terminal():
    for columns in ("60", "100"):
        text = printed(storm(HOSTILE), COLUMNS=columns)
        assert text.startswith("I/O-BOUND (metadata): 75 % of the job"), text
        assert "below /da\\u000ata\\u001b[31m" in text.replace("\n    ", " "), text
        assert not {"\x1b", "\u202e"} & set(text), text


def long_paths_show_their_end():
    text = printed(storm(LONG), COLUMNS="100")
    words = max(text.partition("traces, ")[0].split(), key=len)
    assert words.startswith("...\u00e9") and set(words[3:].rstrip(".")) == {"\u00e9"} and len(words) < 200, words
    with tempfile.TemporaryDirectory() as folder:
        storm(LONG).write(folder)
        assert summary_of(folder)["verdict"]["cause"]["folder"] == LONG + "/"


def one_file_is_named():
    text = printed(storm("/data", files=1))
    assert "is stat() of /data/0.\n" in text and "goes to 1 file below /data.\n" in text, text


def lines_fit_the_terminal():
    job = solver(ranks=4, compute=[20, 20, 20, 60], exchange=2)
    for columns in (60, 80, 100):
        lines = printed(job, COLUMNS=str(columns)).splitlines()
        assert max(map(len, lines)) <= columns, (columns, max(lines, key=len))
        assert lines[0].startswith("IMBALANCE: "), lines[0]
        assert not any(line.lstrip().startswith("%") for line in lines), lines
    assert printed(job).splitlines()[0].endswith("rank 3 causes all of it.")  # a pipe has no width


def the_time_of_waiting_is_shown_on_a_narrow_terminal():
    job = Job(4)
    for _ in range(24):
        for rank in job.ranks:
            rank.main.region("advance_all_particles", "app", 60 if rank.rank == 3 else 20)
        job.meet("MPI_Allreduce", 2, "MPI", comm=0, comm_size=4, bytes=8)
    lines = printed(job, COLUMNS="80").splitlines()
    titles = {title.strip() for line in lines if "not shown" not in line for title in line.split("  ")}
    assert {"waiting each", "waited", "caused"} <= titles, lines


def ranks_are_numbers_without_commas():
    job = solver(ranks=2, compute=[20, 60], exchange=2)
    job.ranks[1].lines = [line.replace('"value":"1"', '"value":"12345"') for line in job.ranks[1].lines]
    text = printed(job)
    assert "rank 12345 causes all of it" in text and "on rank 12345;" in text and "12,345" not in text, text


def a_job_without_ranks_has_processes():
    job = solver(ranks=2, compute=20, read=30)
    for rank in job.ranks:
        rank.lines = [line for line in rank.lines if '"name":"PR"' not in line and "thread_name" not in line]
        rank.lines = [line for line in rank.lines if "process_name" not in line]
    assert "of the time of 2 processes (1.44 s of 2.40 s in all) is spent on I/O.\n" in printed(job), printed(job)


def colours_are_for_terminals_that_want_them():
    with tempfile.TemporaryDirectory() as folder:
        solver(ranks=2, compute=20, read=30).write(folder)
        for environment, is_bold in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False)):
            own, other = pty.openpty()
            environment = {**os.environ, **environment, "COLUMNS": "100"}
            subprocess.run([COMMAND, "summary", folder], stdout=other, env=environment, check=True)
            text = os.read(own, 2000).decode()
            os.close(own)
            os.close(other)
            assert text.startswith("\x1b[1mI/O-BOUND" if is_bold else "I/O-BOUND"), text


def options_that_do_not_go_together_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        solver(compute=20).write(folder)
        for options, why in (
            (["--rules"], "--rules needs no traces"),
            (["--explain", "imbalance", "--json"], "--explain prints text"),
            (["--explain", "imbalance", "--csv"], "--explain prints text"),
            (["--explain", "no\x1bthing"], "there is no rule"),
        ):
            status, text, errors = summary(folder, *options)
            assert status == 2 and why in errors and not text and "\x1b" not in errors, (options, status, errors)


def rules_are_json_as_well():
    printed_rules = subprocess.run([COMMAND, "summary", "--rules", "--json"], capture_output=True, check=True).stdout
    assert {"id", "title", "conditions", "stake", "evidence", "advice"} <= set(json.loads(printed_rules)[0])


def the_waiting_in_point_to_point_calls_is_said_to_be_unknown():
    """Rank 1 waits in a send for rank 0 that computes; or rank 0 computes and then sends."""
    for sender, more in ((1, ""), (0, ", but for late senders: see Communication by rank")):
        job = Job(2)
        for number in range(24):
            job.spend("compute", [60, 20])
            job.send(sender, 1 - sender, number, is_large=sender == 1)
        text = printed(job)
        assert f"  how much of point-to-point calls is waiting is not known{more}\n" in text, text
        assert ("Communication by rank  caused" in text) == (sender == 0), text


if __name__ == "__main__":
    main(
        names_cannot_write_to_the_terminal,
        long_paths_show_their_end,
        one_file_is_named,
        lines_fit_the_terminal,
        the_time_of_waiting_is_shown_on_a_narrow_terminal,
        ranks_are_numbers_without_commas,
        a_job_without_ranks_has_processes,
        colours_are_for_terminals_that_want_them,
        options_that_do_not_go_together_are_refused,
        rules_are_json_as_well,
        the_waiting_in_point_to_point_calls_is_said_to_be_unknown,
    )
