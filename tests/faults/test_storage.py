"""test_storage.py - disks that are full, read-only, dead or not there: the program goes on, nothing is lost silently.
SPDX-License-Identifier: MIT
"""

import contextlib
import glob
import os
import resource
import subprocess
import time

from harness import (
    Skip,
    environment,
    expect,
    expect_equal,
    expect_once_each,
    main,
    program,
    read_folder,
    recover,
    run,
    waiting,
)
from oracle import judge

STATUS = 42
NOBODY = 65534


def steady(folder, count, trouble="", messages=0, **options):
    """Runs steady: its status and stdout do not change, and each kind of trouble is told once."""
    env = options.pop("env", None) or environment(folder, **options.pop("settings", {}))
    done = run([program("steady"), str(count), trouble], env, **options)
    expect_equal((done.returncode, done.stdout), (STATUS, ""), f"status and stdout; stderr: {done.stderr}")
    lines = done.stderr.splitlines()
    expect(len(lines) == len(set(lines)) and all(line.startswith("dftracer: ") for line in lines), done.stderr)
    expect((len(lines) >= 1) == bool(messages) and len(lines) <= messages, f"{len(lines)} messages: {done.stderr}")
    return done.stderr


def check_all(folder, count):
    (trace,) = read_folder(folder)
    expect_once_each(trace.values("step", "n"), count, trace.path)
    expect("num_dropped" not in trace.end["args"], trace.end)
    expect_equal(waiting(folder), [], "left over")
    return trace


def check_counted(folder, count, small=False):
    """Every event is there, or counted; the gap is located in time."""
    (trace,) = read_folder(folder, small=small)
    numbers = trace.values("step", "n")
    args = trace.end["args"]
    judge({"": numbers}, {"": count}, 0, trace.path, args.get("num_dropped", 0))
    expect_equal(len(numbers) + args.get("num_dropped", 0), count, f"recorded and dropped: {args}")
    if "num_dropped" in args:
        start = trace.named("start")[0]["ts"]
        expect(start <= args["dropped_first"] <= args["dropped_last"] <= trace.end["ts"], f"where: {args}")
    return args.get("num_dropped", 0)


@contextlib.contextmanager
def mounted(folder, options):
    """A small disk of its own."""
    if os.geteuid() != 0:
        raise Skip("mounting a disk needs root")
    done = run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], None)
    if done.returncode:
        raise Skip(f"mount: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def case_missing_folders_are_made(folder):
    steady(folder, 100, settings={"LOG_FILE": f"{folder}/one/two/three/trace"})
    check_all(f"{folder}/one/two/three", 100)


def case_a_read_only_disk(folder):
    with mounted(folder, "ro,size=1m"):
        message = steady(folder, 30000, messages=1)
        expect(folder in message and "Read-only" in message, f"what and where: {message}")


def case_no_permission(folder):
    if os.geteuid() != 0:
        raise Skip("becoming another user needs root")
    os.chmod(folder, 0o755)
    inner = os.path.join(folder, "theirs")
    os.mkdir(inner)
    if run([program("steady"), "1"], {}, preexec_fn=as_nobody, cwd="/").returncode != STATUS:
        raise Skip("another user cannot run the programs of this build folder")
    message = steady(inner, 30000, messages=1, preexec_fn=as_nobody, cwd="/")
    expect(inner in message and "denied" in message, f"what and where: {message}")
    expect_equal(os.listdir(inner), [], "made by nobody")


def case_a_full_disk_loses_nothing_that_was_recorded(folder):
    """The disk fills up between recording and writing; later there is room again."""
    with mounted(folder, "size=16m"):  # the spool takes up to 8 MiB of it, the trace 2
        process = start_waiting(20000, environment(folder))
        filler = fill(folder)
        output, message = process.communicate("\n", timeout=60)
        expect_equal((process.returncode, output), (STATUS, ""), f"status and stdout; stderr: {message}")
        expect(1 <= message.count("\n") <= 3, f"messages: {message}")
        recover(folder, expect=1)
        os.unlink(filler)
        recover(folder)
        dropped = check_counted(folder, 20000, small=True)
        expect(dropped < 10000, f"the {10000} events before the disk was full are there: {dropped}")


def fill(folder):
    """Takes all room."""
    filler = os.path.join(folder, "filler")
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    return filler


def is_idle(pid):
    """Its main thread waits for input, and the background thread, if there is one, for work (a futex). So it has what
    it wanted of the disk, and has given back what was only a part of that."""
    calls = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/syscall") as file:
                calls.append(file.read().split()[0])
    except (FileNotFoundError, ProcessLookupError):
        return False  # a thread has just ended
    return "0" in calls and set(calls) <= {"0", "202"}


def start_waiting(count, env):
    """steady, half-way through its events."""
    process = subprocess.Popen([program("steady"), str(count), "wait"], env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not is_idle(process.pid):
        expect_equal(process.poll(), None, "steady has ended")
        time.sleep(0.001)
    return process


def case_a_disk_too_small_from_the_start(folder):
    with mounted(folder, "size=1m"):
        message = steady(folder, 50000, messages=3)
        expect("the disk is full" in message and "SPOOL_LIMIT" not in message, f"why: {message}")
        subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        recover(folder)
        check_counted(folder, 50000, small=True)


def case_files_that_may_not_be_long(folder):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    message = steady(folder, 50000, messages=3, preexec_fn=limited)
    expect("ulimit -f" in message and "SPOOL_LIMIT" not in message, f"why: {message}")
    recover(folder)
    check_counted(folder, 50000, small=True)


def case_the_wait_for_a_full_disk_does_not_repeat(folder):
    """Small batches still fit now and then. The five seconds are all that the program waits."""
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (400 << 10, 400 << 10))

    before = time.monotonic()
    steady(folder, 50000, messages=3, preexec_fn=limited, settings={"TRACE_COMPRESSION": 0})
    seconds = time.monotonic() - before
    expect(seconds < 9, f"it took {seconds:.1f} s")
    recover(folder)
    check_counted(folder, 50000, small=True)


def case_a_slow_disk_is_not_a_dead_one(folder):
    """It takes longer than five seconds for all of it, and for none of its pieces."""
    env = environment(folder, SINK=program("sink_flaky.so"), SPOOL_LIMIT="1M")
    env["DFT_TEST_SLOW_MS"] = "600"
    steady(folder, 25000, env=env)
    (path,) = glob.glob(f"{folder}/*.numbers")
    with open(path) as file:
        expect_once_each([int(line) for line in file], 25000, path)


def case_no_descriptors_before_the_first_event(folder):
    message = steady(folder, 1000, "first", messages=1)
    expect("Too many open files" in message, f"why: {message}")


def case_no_descriptors_while_recording(folder):
    steady(folder, 50000, "later", messages=3)
    recover(folder)
    expect_equal(check_counted(folder, 50000, small=True), 0, "dropped: the background thread has its own descriptors")


def case_a_full_spool_drops_and_counts_when_asked_to(folder):
    done = run([program("ender")], environment(folder, SPOOL_LIMIT="1M", ON_FULL="drop"))
    expect_equal((done.returncode, done.stdout, done.stderr.count("\n")), (STATUS, "", 1), f"ender: {done.stderr}")
    expect("DFTRACER_SPOOL_LIMIT" in done.stderr, f"what to do: {done.stderr}")
    expect(check_counted(folder, 50000) > 0, "this was to overrun the spool")


def case_a_full_spool_loses_nothing_by_default(folder):
    steady(folder, 60000, settings={"SPOOL_LIMIT": "1M"})
    check_all(folder, 60000)


def case_a_stepped_clock_changes_nothing(folder):
    steady(folder, 2000, "step")
    trace = check_all(folder, 2000)
    starts = [event["ts"] for event in trace.named("step")]
    expect_equal(starts, sorted(starts), "order")
    expect(starts[-1] - starts[0] < 60_000_000, "all of it took less than a minute")


def case_a_dead_disk_keeps_and_counts(folder):
    flag = os.path.join(folder, "dead")
    open(flag, "w").close()
    env = environment(folder, SINK=program("sink_flaky.so"), SPOOL_LIMIT="1M")
    env["DFT_TEST_DEAD"] = flag
    message = steady(folder, 20000, messages=3, env=env)
    expect("recover" in message, f"what to do: {message}")
    os.unlink(flag)
    recover(folder)
    (path,) = glob.glob(f"{folder}/*.numbers")
    with open(path) as file:
        numbers = [int(line) for line in file]
    expect_equal(numbers[:5], [1, 2, 3, 4, 5], "the first ones were kept")
    expect_equal(len(numbers), len(set(numbers)), "events twice")


def case_a_disk_that_comes_back(folder):
    env = environment(folder, SINK=program("sink_flaky.so"))
    flag = os.path.join(folder, "dead")
    env["DFT_TEST_DEAD"] = flag
    open(flag, "w").close()
    process = start_waiting(40000, env)
    os.unlink(flag)
    _, message = process.communicate("\n", timeout=60)
    expect_equal(process.returncode, STATUS, f"status; {message}")
    (path,) = glob.glob(f"{folder}/*.numbers")
    with open(path) as file:
        expect_once_each([int(line) for line in file], 40000, path)


def case_an_unknown_sink_is_told_and_the_default_is_used(folder):
    message = steady(folder, 100, messages=1, settings={"SINK": "/nowhere/sink.so"})
    expect("DFTRACER_SINK" in message and "/nowhere/sink.so" in message, message)
    check_all(folder, 100)


main(globals())
