"""test_storage.py - no room, no permission, no descriptors, no process.

A clear message, the program goes on, the events are kept, and a recovery makes the file when there is room again.
SPDX-License-Identifier: MIT
"""

import contextlib
import os
import resource
import subprocess
import sys

import h5trace

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "faults"))
os.environ["DFT_TEST_PROGRAMS"] = os.path.join(os.path.dirname(os.environ["DFT_TEST_PROGRAMS"]), "faults")

from harness import (
    Skip,
    environment,
    expect,
    expect_equal,
    expect_once_each,
    main,
    no_core_file,
    program,
    read_folder,
    recover,
    run,
    waiting,
)
from oracle import judge

STATUS = 42
COUNT = 20000
NOBODY = 65534


def steady(folder, sinks="hdf5", trouble="", count=COUNT, **options):
    """Its status and stdout never change; each kind of trouble is told once."""
    done = run([program("steady"), str(count), trouble], environment(folder, SINK=sinks), **options)
    expect_equal((done.returncode, done.stdout), (STATUS, ""), done.stderr)
    lines = done.stderr.splitlines()
    expect(len(lines) == len(set(lines)) and all(line.startswith("dftracer: ") for line in lines), done.stderr)
    return done.stderr


def check_all(folder, count=COUNT, may_drop=False):
    """may_drop: events for which there was no room may be missing, if they are counted."""
    (trace,) = h5trace.read_folder(folder)
    dropped = trace.end["args"].get("num_dropped", 0)
    expect(may_drop or not dropped, f"{dropped} events dropped")
    judge({"": trace.values("step", "n")}, {"": count}, 0, trace.path, dropped)
    expect_equal(waiting(folder), [], "left over")


@contextlib.contextmanager
def small_disk(folder, size):
    if os.geteuid() != 0:
        raise Skip("mounting a disk needs root")
    done = run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], None)
    if done.returncode:
        raise Skip(f"mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def case_a_disk_with_no_room_for_the_joining(folder):
    """Segments fit, a second copy does not. Nor does the spool, if it grows before the segments are written."""
    with small_disk(folder, "72m"):
        filler = os.path.join(folder, "filler")
        with open(filler, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 64 << 20)
        message = steady(folder, count=40000)
        expect("o space left" in message and folder in message and "dftracer recover" in message, message)
        expect_equal(h5trace.read_folder(folder), [], "a file that is not whole")
        expect(waiting(folder), "the events are kept")
        os.unlink(filler)
        recover(folder)
        check_all(folder, 40000, may_drop=True)


def case_files_must_not_grow(folder):
    """RLIMIT_FSIZE: no SIGXFSZ reaches the program."""
    def limit():
        no_core_file()
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))

    message = steady(folder, count=3 * COUNT, preexec_fn=limit)
    expect("dftracer recover" in message, message)
    expect_equal(h5trace.read_folder(folder), [], "a file that is not whole")
    recover(folder)
    (trace,) = h5trace.read_folder(folder)
    dropped = trace.end["args"].get("num_dropped", 0)
    expect_equal(len(set(trace.values("step", "n"))) + dropped, 3 * COUNT, "recorded and dropped")


def case_json_lines_are_there_when_hdf5_fails(folder):
    """No process can be made: the file of JSON lines is published, the other one comes with a recovery."""
    def limit():
        no_core_file()
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

    if os.geteuid() != 0:
        raise Skip("becoming another user needs root")
    os.chmod(folder, 0o777)
    if run([program("steady"), "1"], {}, preexec_fn=limit, cwd="/").returncode != STATUS:
        raise Skip("another user cannot run the programs of this build folder")
    message = steady(folder, "jsonl,hdf5", count=1000, preexec_fn=limit, cwd="/")
    expect("hdf5" in message and "h5join" in message and "dftracer recover" in message, message)
    (trace,) = read_folder(folder)
    expect_once_each(trace.values("step", "n"), 1000, trace.path)
    subprocess.run(["chown", "-R", f"{os.geteuid()}", folder], check=True)  # a recovery touches only one's own
    recover(folder)
    check_all(folder, 1000)


def case_no_descriptor_is_left(folder):
    message = steady(folder, trouble="later", count=500)
    traces = h5trace.read_folder(folder)
    if not traces:
        expect("dftracer recover" in message, message)
        recover(folder)
    check_all(folder, 500)


def case_no_permission(folder):
    if os.geteuid() != 0:
        raise Skip("becoming another user needs root")

    def as_nobody():
        no_core_file()
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    os.chmod(folder, 0o755)
    if run([program("steady"), "1"], {}, preexec_fn=as_nobody, cwd="/").returncode != STATUS:
        raise Skip("another user cannot run the programs of this build folder")
    message = steady(folder, count=100, preexec_fn=as_nobody, cwd="/")
    expect("denied" in message and folder in message, message)
    expect_equal(os.listdir(folder), [], "made by nobody")


main(globals())
