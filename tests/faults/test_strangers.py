"""test_strangers.py - folders that other users share, names that they prepared, and files that are not to be replaced.
SPDX-License-Identifier: MIT
"""

import contextlib
import os
import signal
import socket
import stat
import subprocess
import time

from harness import (
    COMMAND,
    Skip,
    environment,
    expect,
    expect_equal,
    main,
    program,
    read_folder,
    recover,
    run,
    untraced,
)

STATUS = 42
COUNT = 100
NOBODY = 65534
HIDDEN = ".dftracer"


def as_nobody():
    os.umask(0o022)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def shared(folder):
    """A folder of root in which everybody may make files, as in /tmp; skips when there is no second user."""
    if os.geteuid() != 0:
        raise Skip("becoming another user needs root")
    os.chmod(folder, 0o1777)
    if run([program("steady"), "1"], {}, preexec_fn=as_nobody, cwd="/").returncode != STATUS:
        raise Skip("another user cannot run the programs of this build folder")


def is_idle(pid):
    """It waits for input, and its drain thread, if there is one, for work."""
    calls = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/syscall") as file:
                calls.append(file.read().split()[0])
    except (FileNotFoundError, ProcessLookupError):
        return False  # a thread has just ended
    return "0" in calls and set(calls) <= {"0", "202"}


@contextlib.contextmanager
def recording(folder, umask=0o022, user=None, count=COUNT, **settings):
    """A program that has recorded half of its events, and waits. It is killed in the end."""
    env = environment(folder, **settings)
    start = as_nobody if user else lambda: os.umask(umask)
    child = subprocess.Popen([program("steady"), str(count), "wait"], env=env, stdin=subprocess.PIPE, preexec_fn=start)
    try:
        while not is_idle(child.pid):
            expect_equal(child.poll(), None, "the program's end")
            time.sleep(0.001)
        yield child
    finally:
        child.kill()
        child.wait()
        child.stdin.close()


def names(folder):
    return sorted(os.listdir(folder))


def events(folder):
    return sorted(len(trace.values("step", "n")) for trace in read_folder(folder))


def steady(folder, messages=0, **options):
    """Runs the program, which must not notice anything; what it was told."""
    env = environment(folder, **options.pop("settings", {}))
    done = run([program("steady"), str(COUNT)], env, **options)
    expect_equal((done.returncode, done.stdout), (STATUS, ""), f"status and stdout; stderr: {done.stderr}")
    expect_equal(len(done.stderr.splitlines()), messages, f"messages: {done.stderr}")
    return done.stderr


def case_a_device_is_no_trace(folder):
    before = sorted(name for name in os.listdir("/dev") if "null" in name)
    message = steady(folder, messages=1, settings={"LOG_FILE": "/dev/null"})
    expect("/dev/null" in message and "device" in message, message)
    expect(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null was replaced")
    expect_equal(sorted(name for name in os.listdir("/dev") if "null" in name), before, "made beside /dev/null")


def case_a_fifo_is_no_trace(folder):
    path = os.path.join(folder, "fifo.pfw.gz")
    os.mkfifo(path)
    message = steady(folder, messages=1, settings={"LOG_FILE": path})
    expect(path in message and "FIFO" in message, message)
    expect(stat.S_ISFIFO(os.stat(path).st_mode), "the FIFO was replaced")
    expect_equal(os.listdir(folder), ["fifo.pfw.gz"], "what lies there")


def case_a_socket_is_no_trace(folder):
    path = os.path.join(folder, "socket")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        message = steady(folder, messages=1, settings={"LOG_FILE": path})
    expect(path in message, message)
    expect_equal(os.listdir(folder), ["socket"], "what lies there")


def case_a_fifo_that_appears_later_is_not_replaced(folder):
    """The program asks for x.pfw, and the trace becomes x.pfw.gz: there the FIFO is."""
    path = os.path.join(folder, "x.pfw.gz")
    os.mkfifo(path)
    steady(folder, settings={"LOG_FILE": os.path.join(folder, "x.pfw")})
    expect(stat.S_ISFIFO(os.stat(path).st_mode), "the FIFO was replaced")
    os.unlink(path)
    (trace,) = read_folder(folder)
    expect_equal(len(trace.values("step", "n")), COUNT, "events")


def case_a_prepared_name_is_not_followed(folder):
    """Somebody guesses the name of the file that a command writes first, and makes a link to a file of ours."""
    victim = os.path.join(folder, "victim")
    output = os.path.join(folder, "timeline.json")
    steady(folder)
    with open(victim, "w") as file:
        file.write("precious")

    def prepare():
        os.symlink(victim, f"{output}.part-{os.getpid()}")
        os.symlink(victim, f"{output}.part-{os.getpid()}-1")

    done = run([COMMAND, "merge", "-o", output, folder], untraced(), preexec_fn=prepare)
    expect_equal(done.returncode, 0, done.stderr)
    with open(victim) as file:
        expect_equal(file.read(), "precious", "a file that a link led to")
    expect(os.path.isfile(output) and not os.path.islink(output), "the timeline")


def case_a_link_is_not_followed_by_a_recovery(folder):
    """Somebody's .dftracer leads to a private folder: what is recovered there must not be published here."""
    private, open_to_all = os.path.join(folder, "private"), os.path.join(folder, "open")
    os.mkdir(private, 0o700)
    os.mkdir(open_to_all)
    with recording(private) as child:
        os.symlink(os.path.join(private, HIDDEN), os.path.join(open_to_all, HIDDEN))
        child.send_signal(signal.SIGKILL)
        child.wait()
    recover(open_to_all)
    expect_equal(names(open_to_all), [HIDDEN], "published through a link")
    steady(open_to_all)
    expect_equal(events(open_to_all), [COUNT], "published by the next program")
    recover(private)
    expect_equal(events(private), [COUNT // 2], "published where it belongs")


def case_a_link_does_not_stop_the_recording(folder):
    other = os.path.join(folder, "other")
    out = os.path.join(folder, "out")
    os.mkdir(other)
    os.mkdir(out)
    os.symlink(other, os.path.join(out, HIDDEN))
    with recording(out):
        expect_equal(names(other), [], "recorded through the link")
    recover(out)
    expect_equal(events(out), [COUNT // 2], "events")
    expect_equal(len(names(out)), 2, f"left over: {names(out)}")


def case_a_folder_of_another_user_is_left_alone(folder):
    """Its owner could replace what is in it at any moment. So root does not recover from it even what is root's."""
    shared(folder)
    with recording(folder) as child:
        child.send_signal(signal.SIGKILL)
        child.wait()
    os.chown(os.path.join(folder, HIDDEN), NOBODY, NOBODY)
    expect("left alone" in recover(folder), "said")
    expect_equal(names(folder), [HIDDEN], "published")
    os.chown(os.path.join(folder, HIDDEN), 0, 0)
    recover(folder)
    expect_equal(events(folder), [COUNT // 2], "events")


def case_a_lost_spool_in_a_folder_of_another_user_is_left_alone(folder):
    shared(folder)
    memory, out = os.path.join(folder, "memory"), os.path.join(folder, "out")
    os.mkdir(memory)
    with recording(out, count=100000, SPOOL_DIR=memory) as child:
        child.send_signal(signal.SIGKILL)
        child.wait()
    (spool,) = names(memory)
    os.unlink(os.path.join(memory, spool))
    os.chown(os.path.join(out, HIDDEN), NOBODY, NOBODY)
    run([COMMAND, "recover", "--lost", out], untraced())
    expect_equal(names(out), [HIDDEN], "published")
    os.chown(os.path.join(out, HIDDEN), 0, 0)
    run([COMMAND, "recover", "--lost", out], untraced())
    expect(events(out)[0] > 0, "events that were written")


def case_users_share_a_folder(folder):
    """Each has a hidden folder; the first .dftracer, the next .dftracer-UID. Killed, each recovers what is its own."""
    shared(folder)
    with recording(folder), recording(folder, user=NOBODY):
        expect_equal(names(folder), [HIDDEN, f"{HIDDEN}-{NOBODY}"], "hidden folders")
        steady(folder, preexec_fn=as_nobody)
        steady(folder)
        expect_equal(events(folder), [COUNT, COUNT], "events of two programs that end")
        read = run([COMMAND, "cat", folder], untraced())
        expect_equal(read.stdout.count('"step"'), 3 * COUNT, f"all that root can read: {read.stderr}")
    recover(folder)
    expect_equal(events(folder), [COUNT // 2, COUNT, COUNT], "root's")
    expect(f"{HIDDEN}-{NOBODY}" in names(folder), "another user's folder is gone")
    done = run([COMMAND, "recover", "-r", folder], untraced(), preexec_fn=as_nobody, cwd="/")
    expect_equal((done.returncode, done.stdout.count("published")), (0, 1), done.stdout + done.stderr)
    expect_equal(events(folder), [COUNT // 2, COUNT // 2, COUNT, COUNT], "all")
    expect_equal([name for name in names(folder) if name.startswith(HIDDEN)], [], "left over")
    owners = sorted(os.stat(os.path.join(folder, name)).st_uid for name in names(folder))
    expect_equal(owners, [0, 0, NOBODY, NOBODY], "owners")


def case_the_first_user_leaves(folder):
    """A name that a process has claimed is not claimed again in .dftracer, when that is free."""
    shared(folder)
    with contextlib.ExitStack() as second:
        with recording(folder):
            second.enter_context(recording(folder, user=NOBODY))
        recover(folder)
        with recording(folder, user=NOBODY):
            hidden = [name for name in names(folder) if name.startswith(HIDDEN)]
            expect_equal(hidden, [f"{HIDDEN}-{NOBODY}"], "hidden folders")


def case_a_child_drops_its_privileges(folder):
    shared(folder)
    with recording(folder):
        steady(folder, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/")
    recover(folder)
    expect_equal(events(folder), [COUNT // 2, COUNT], "events")


def case_users_ask_for_the_same_name(folder):
    shared(folder)
    settings = {"LOG_FILE": os.path.join(folder, "same.pfw.gz")}
    steady(folder, settings=settings)
    steady(folder, settings=settings, preexec_fn=as_nobody)
    expect_equal(names(folder), ["same-2.pfw.gz", "same.pfw.gz"], "traces")
    steady(folder, settings=settings)
    expect_equal(names(folder), ["same-2.pfw.gz", "same.pfw.gz"], "traces after a second run")


def case_a_taken_hidden_folder_is_refused(folder):
    """Another user owns both names: nothing is recorded there, and the program goes on."""
    shared(folder)
    for name in (HIDDEN, f"{HIDDEN}-0"):
        os.mkdir(os.path.join(folder, name))
        os.mkdir(os.path.join(folder, name, "full"))
        os.chown(os.path.join(folder, name), NOBODY, NOBODY)
    message = steady(folder, messages=1)
    expect(folder in message and "not permitted" in message, message)
    expect_equal(names(folder), [HIDDEN, f"{HIDDEN}-0"], "what lies there")


def case_a_recovery_does_not_widen_permissions(folder):
    with recording(folder, umask=0o077) as child:
        child.send_signal(signal.SIGKILL)
        child.wait()
    os.umask(0o022)
    recover(folder)
    (name,) = names(folder)
    expect_equal(oct(os.stat(os.path.join(folder, name)).st_mode & 0o777), "0o600", name)


main(globals())
