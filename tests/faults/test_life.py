"""test_life.py - a process that lives is never taken for dead, wherever the one that looks at it runs.

Containers are made with unshare(1). What is not permitted here is skipped.
SPDX-License-Identifier: MIT
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import time

from harness import (
    COMMAND,
    SECONDS_MOST,
    Skip,
    compile_to,
    environment,
    expect,
    expect_equal,
    expect_once_each,
    main,
    program,
    read_folder,
    recover,
    run,
    seeded,
    untraced,
    waiting,
)
from kill import Page, await_records, await_unlocked, compare, kill_after

COUNT = 2000
STATUS = 42  # of steady
NOBODY = 65534


def unshared(*options):
    """The words before a command that runs it in new namespaces."""
    words = ["unshare", *options]
    try:
        done = subprocess.run([*words, "true"], capture_output=True, text=True, timeout=SECONDS_MOST, check=False)
    except OSError as error:
        raise Skip(f"unshare: {error}") from error
    if done.returncode:
        raise Skip(f"{' '.join(words)}: {done.stderr.strip()}")
    return words


def without_proc():
    return [*unshared("-m"), "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]


def claims(folder):
    return [name for name in waiting(folder) if name.endswith(".spool")]


@contextlib.contextmanager
def living(folder, count=1, before=(), messages="", **settings):
    """A process that has recorded half of its events, and waits; at the end it records the others. It says what
    `messages` asks for; None: whatever it says is fine."""
    words = [*before, program("steady"), str(COUNT), "half"]
    with subprocess.Popen(
        words,
        env=environment(folder, **settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            expect_equal(process.stdout.readline(), "half\n", "the process has recorded half of its events")
            expect_equal(len(claims(folder)), count, "claims")
            yield process
            _, said = process.communicate("\n", timeout=SECONDS_MOST)
            expect_equal(process.returncode, STATUS, f"status of the process, which says: {said}")
            if messages is not None:
                expect(messages in said and bool(said) == bool(messages), f"messages of the process: {said}")
        finally:
            process.kill()


def check_whole(folder, count=1):
    traces = read_folder(folder)
    expect_equal(len(traces), count, "traces")
    for trace in traces:
        expect_once_each(trace.values("step", "n"), COUNT, trace.path)
    expect_equal(waiting(folder), [], "left over")


def child_of(process):
    """The process that unshare --fork started."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        return file.read().split()[0]


def is_idle(said):
    """Whether recovery published nothing."""
    return "0 traces published" in said or "nothing to recover" in said


def look(folder, before=(), **options):
    done = run([*before, COMMAND, "recover", folder], untraced(), **options)
    expect(is_idle(done.stdout) or done.returncode, f"nothing is published: {done.stdout}{done.stderr}")
    return done


def case_in_a_pid_namespace_that_sees_the_outer_proc(folder):
    with living(folder, before=unshared("-p", "-f")) as process:
        inside = ["nsenter", "-t", child_of(process), "-p"]
        look(folder, inside)
        sibling = run([*inside, program("steady"), "10"], environment(folder, LOG_FILE=f"{folder}/sibling.pfw"))
        expect_equal((sibling.returncode, sibling.stderr), (STATUS, ""), "the sibling")
        look(folder)
        os.unlink(f"{folder}/sibling.pfw.gz")
    check_whole(folder)


def case_in_another_time_namespace(folder):
    with living(folder, before=unshared("-T", "-f", "--boottime", "1000000")):
        look(folder)
    check_whole(folder)


def case_seen_from_another_time_namespace(folder):
    with living(folder):
        look(folder, unshared("-T", "-f", "--boottime", "1000000"))
    check_whole(folder)


def case_seen_from_a_place_without_proc(folder):
    with living(folder):
        look(folder, without_proc())
    check_whole(folder)


def case_in_a_place_without_proc(folder):
    before = without_proc()
    with living(folder, before=before):
        look(folder)
        look(folder, before)
    check_whole(folder)


@contextlib.contextmanager
def overlay(folder):
    """A folder of an overlay file system, where a mapping does not hold a lock."""
    places = {name: os.path.join(folder, name) for name in ("lower", "upper", "work", "out")}
    for place in places.values():
        os.makedirs(place, exist_ok=True)
    options = "lowerdir={lower},upperdir={upper},workdir={work}".format(**places)
    done = run(["mount", "-t", "overlay", "overlay", "-o", options, places["out"]], untraced())
    if done.returncode:
        raise Skip(f"mount: {done.stderr.strip()}")
    try:
        yield places["out"]
    finally:
        subprocess.run(["umount", "-l", places["out"]], check=True)


def case_on_an_overlay_file_system(folder):
    with overlay(folder) as out:
        with living(out, before=unshared("-p", "-f")) as process:
            for before in ((), ["nsenter", "-t", child_of(process), "-p"]):
                text = look(out, before).stdout
                expect("1 left alone: of another" in text, f"it is not locked: {text}")
        with living(out):
            expect("1 left alone: in use" in look(out).stdout, "it is alive")
        check_whole(out, 2)


def case_shown_as_neither_alive_nor_dead(folder):
    with overlay(folder) as out, living(out, before=unshared("-p", "-f")):
        shown = run([COMMAND, "top", "--once", out], untraced()).stdout
        expect("1 process (1 not known to be alive)" in shown and "dead" not in shown, shown)
        text = run([COMMAND, "cat", out], untraced()).stdout
        expect('"n":1000' in text and "recovered" not in text, text[-500:])


def case_seen_by_someone_without_descriptors(folder):
    """A file of /proc that cannot be opened proves nothing."""
    with overlay(folder) as out, living(out):
        for most in range(4, 16):
            def limited(most=most):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

            look(out, preexec_fn=limited)
            done = run([program("steady"), "10"], environment(out, LOG_FILE=f"{out}/other.pfw"), preexec_fn=limited)
            expect_equal(done.returncode, STATUS, f"another traced program: {done.stderr}")
            expect_equal(len([name for name in claims(out) if "other" not in name]), 1, "the claim is there")
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{out}/other.pfw.gz")
        recover(out)
        for name in os.listdir(out):
            if name.startswith("other"):
                os.unlink(f"{out}/{name}")


def case_seen_where_proc_hides_it(folder):
    """A program that its user cannot read is shown to nobody by such a /proc. But its pid is in use."""
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    hiding = [*unshared("-m"), "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh", *user]
    copy = shutil.copy(program("steady"), folder)
    for path, mode in ((folder, 0o777), (copy, 0o111)):
        os.chmod(path, mode)
    probes = [run(words, untraced()).returncode for words in ([*hiding, COMMAND, "--version"], [*user, copy, "1"])]
    if probes != [0, STATUS]:
        raise Skip("hidepid, or a program of another user")
    with overlay(folder) as out:
        os.chmod(out, 0o777)
        with living(out, before=[*user, "sh", "-c", f'exec {copy} "$@"']) as process:
            shown = run([*hiding, "test", "-e", f"/proc/{process.pid}"], untraced())
            expect_equal(shown.returncode, 1, "the process is hidden")
            text = look(out, hiding).stdout
            expect("1 left alone" in text, f"it is not known to be dead: {text}")
        check_whole(out)


def case_killed_on_an_overlay_file_system(folder):
    with overlay(folder) as out:
        kill_half_way(out)
        recover(out)
        check_half(out)


LATER = "#include <time.h>\ntime_t time(time_t *to) { struct timespec now; clock_gettime(CLOCK_REALTIME, &now);" \
        " return now.tv_sec + 120; }"


def lost(folder, later=""):
    """later: a library for the recovery, which thinks then that it is two minutes later."""
    done = run([COMMAND, "recover", "--lost", folder], {**untraced(), "LD_PRELOAD": later})
    expect_equal((done.returncode, done.stderr), (0, ""), f"dftracer recover --lost: {done.stdout}")
    return done.stdout


def check_halves(folder, traces, small=False):
    """Every event is in one of the traces."""
    found = read_folder(folder, small=small)
    expect_equal(len(found), traces, "traces")
    expect_once_each([n for trace in found for n in trace.values("step", "n")], COUNT, folder)
    expect_equal(waiting(folder), [], "left over")


def case_taken_while_it_lives(folder):
    """The user says that the process has ended, and is wrong: it goes on in another trace."""
    for settings in ({}, {"LOG_FILE": "named.pfw"}, {"SPOOL_DIR": "spools"}):
        settings = {key: f"{folder}/out/{value}" for key, value in settings.items()}
        with overlay(folder) as out:
            os.makedirs(settings.get("SPOOL_DIR", out), exist_ok=True)
            with living(out, before=unshared("-p", "-f"), **settings):
                expect("1 trace published" in lost(out), "it is taken")
            check_halves(out, 2)
            for name in os.listdir(out):
                os.remove(f"{out}/{name}") if not os.path.isdir(f"{out}/{name}") else os.rmdir(f"{out}/{name}")


def case_taken_twice_while_it_waits(folder):
    with overlay(folder) as out:
        with living(out, before=unshared("-p", "-f")):
            expect("1 trace published" in lost(out), "it is taken")
            kept = waiting(out)
            expect(is_idle(lost(out)), "and there is nothing more to take")
            expect_equal(waiting(out), kept, "the spool of the process")
        check_halves(out, 2, small=True)


def case_taken_again_after_a_minute(folder):
    """It counts as dead then. If it lives all the same, it can still end."""
    later = compile_to(f"{folder}/later.so", LATER, "-shared", "-fPIC")
    with overlay(folder) as out:
        with living(out, before=unshared("-p", "-f")):
            expect("1 trace published" in lost(out), "it is taken")
            expect(is_idle(lost(out, later)), "and there is nothing more to take")
            expect_equal(waiting(out), [], "nothing is left for the process")
        check_halves(out, 2, small=True)


def case_taken_at_full_speed_and_killed(folder):
    """A recovery takes the trace of four threads that record, again and again."""
    with overlay(folder) as out:
        take_often(folder, out, pause=10000)


def take_often(folder, out, pause):
    page = Page(folder)
    words = [*unshared("-p", "-f"), program("writer"), page.path, str(pause)]
    with subprocess.Popen(words, env=environment(out), stderr=subprocess.DEVNULL) as process:
        try:
            await_records(process, page)
            for _ in range(3):
                expect("1 trace published" in lost(out), "it is taken")
        finally:
            os.kill(int(child_of(process)), signal.SIGKILL)
    lost(out)  # what it recorded last; then the regions that were open
    lost(out, compile_to(f"{folder}/later.so", LATER, "-shared", "-fPIC"))
    expect_equal(waiting(out), [], "left over")
    seen = compare(out, page, small=True)
    expect(seen["files"] >= 3 and seen["events"] > 0, f"all of it is there: {seen}")


def case_a_recovery_is_killed_while_it_takes(folder):
    """The next one repeats it, or the process goes on alone."""
    rng = seeded()
    with overlay(folder) as out:
        with living(out, before=unshared("-p", "-f"), messages=None):
            for _ in range(8):
                process = subprocess.Popen([COMMAND, "recover", "--lost", out], env=untraced(),
                                           stdout=subprocess.DEVNULL)
                kill_after(process, rng.uniform(0.0005, 0.007))
            await_unlocked(out)
        lost(out)
        check_halves(out, len(read_folder(out, small=True)), small=True)


def containers(spools):
    """A pid namespace and a folder of spools of its own."""
    os.makedirs(spools, exist_ok=True)
    mount = 'mount -t tmpfs none "$0" && exec "$@"'
    return [*unshared("-m", "-p", "-f"), "sh", "-c", mount, spools]


def case_in_containers_of_one_node_with_the_same_name_and_pid(folder):
    out, spools = f"{folder}/out", f"{folder}/spools"
    before = containers(spools)
    with living(out, before=before, SPOOL_DIR=spools), living(out, count=2, before=before, SPOOL_DIR=spools):
        text = look(out).stdout
        expect("2 left alone" in text and "--lost" in text, text)
        expect_equal([name in text for name in claims(out)], [True, True], f"both are named: {text}")
    check_whole(out, 2)


def with_own_memory():
    """A container with its own pids, host name and /dev/shm."""
    return [*unshared("-m", "-u", "-p", "-f"), "sh", "-c",
            'hostname node && mount -t tmpfs none /dev/shm && exec "$@"', "sh"]


def await_written(folder):
    """Until a part of the trace is in its output."""
    deadline = time.monotonic() + SECONDS_MOST
    while not any("jsonl" in name for name in waiting(folder)):
        expect(time.monotonic() < deadline, "something is written")
        time.sleep(0.01)
    time.sleep(0.1)  # to the end of that write


def case_in_containers_with_their_own_shared_memory(folder):
    """Two processes of the same pid and host name. Outside, their spools are not visible."""
    settings = {"before": with_own_memory(), "SPOOL_DIR": "/dev/shm"}
    with living(folder, **settings), living(folder, count=2, **settings):
        expect("2 left alone" in look(folder).stdout, "nobody can tell")
        other = run([program("steady"), "10"], environment(folder, LOG_FILE=f"{folder}/other.pfw"))
        expect_equal((other.returncode, other.stderr), (STATUS, ""), "another process of the folder")
        os.unlink(f"{folder}/other.pfw.gz")
    check_whole(folder, 2)


def case_killed_with_the_shared_memory_of_its_container(folder):
    """What it had written is published when the user says that it has ended."""
    words = [*with_own_memory(), program("steady"), "80000", "half"]
    with subprocess.Popen(words, env=environment(folder, SPOOL_DIR="/dev/shm"), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        expect_equal(process.stdout.readline(), "half\n", "the process has recorded half of its events")
        await_written(folder)
        os.kill(int(child_of(process)), signal.SIGKILL)
    text = look(folder).stdout
    expect("1 left alone" in text and "--lost" in text, text)
    expect("1 trace published" in lost(folder), "it is published")
    (trace,) = read_folder(folder, small=True)
    numbers = trace.values("step", "n")
    expect(numbers and "spool_lost" in trace.end["args"], f"{len(numbers)} events, {trace.end}")
    expect_equal(len(numbers), len(set(numbers)), "none is there twice")
    expect_equal(waiting(folder), [], "left over")


def case_taken_while_its_spool_is_out_of_sight(folder):
    """Only what it has written can be published; the process keeps the rest, and goes on."""
    words = [*with_own_memory(), program("steady"), "80000", "half"]
    for name in ("trace", "named.pfw"):
        out = f"{folder}/{name}-out"
        env = environment(out, SPOOL_DIR="/dev/shm", LOG_FILE=f"{out}/{name}")
        with subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            expect_equal(process.stdout.readline(), "half\n", "the process has recorded half of its events")
            await_written(out)
            expect("1 trace published" in lost(out), "it is taken")
            _, said = process.communicate("\n", timeout=SECONDS_MOST)
        expect_equal((process.returncode, said), (STATUS, ""), "the process")
        traces = read_folder(out, small=True)
        expect_equal(len(traces), 2, "traces")
        expect_once_each([n for trace in traces for n in trace.values("step", "n")], 80000, out)
        expect_equal(waiting(out), [], "left over")


def case_in_containers_with_an_explicit_name_and_the_same_pid(folder):
    """The first process has the name. The others get their pid added, and replace no trace of one another."""
    out, spools = f"{folder}/out", f"{folder}/spools"
    before, settings = containers(spools), {"SPOOL_DIR": spools, "LOG_FILE": f"{out}/named.pfw"}
    with living(out, before=before, **settings):
        for _ in range(2):
            done = run([*before, program("steady"), str(COUNT)], environment(out, **settings))
            expect_equal((done.returncode, done.stderr), (STATUS, ""), "the process")
    check_whole(out, 3)


class Killed(Exception):
    """Leaves the block in which the process lives."""


def kill_half_way(folder, before=()):
    with contextlib.suppress(Killed), living(folder, before=before) as process:
        os.kill(int(child_of(process)) if before else process.pid, signal.SIGKILL)
        process.wait()
        raise Killed


def check_half(folder):
    (trace,) = read_folder(folder)
    expect_once_each(trace.values("step", "n"), COUNT // 2, trace.path)
    expect_equal(waiting(folder), [], "left over")


def case_killed_in_a_container_that_is_gone(folder):
    kill_half_way(folder, unshared("-p", "-f"))
    expect("1 trace published" in recover(folder), "published")
    check_half(folder)


def case_killed_where_nobody_can_tell(folder):
    """A spool without a lock, as of 5.0 or on an overlay file system: it is named, and published when the user asks."""
    kill_half_way(folder, unshared("-p", "-f"))
    (claim,) = claims(folder)
    os.rename(f"{folder}/.dftracer/{claim}", f"{folder}/locked")
    with open(f"{folder}/locked", "rb") as file, open(f"{folder}/.dftracer/{claim}", "wb") as copy:
        copy.write(file.read())  # another inode than the one that was locked
    os.unlink(f"{folder}/locked")
    text = look(folder).stdout
    expect("1 left alone" in text and claim in text and "--lost" in text, text)
    text = lost(folder)
    expect("1 trace published" in text and "left alone" not in text and claim in text, text)
    expect_equal(waiting(folder), [claim], "the spool is kept: the process may be alive all the same")
    expect(is_idle(lost(folder)), "nothing more")
    expect_equal(waiting(folder), [claim], "the spool is kept for a minute")
    lost(folder, compile_to(f"{folder}/later.so", LATER, "-shared", "-fPIC"))
    expect_equal(waiting(folder), [], "it was not alive")
    check_half(folder)


main(globals())
