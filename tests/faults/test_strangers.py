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
    Trace,
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


def recover_as_nobody(folder):
    done = run([COMMAND, "recover", "-r", folder], untraced(), preexec_fn=as_nobody, cwd="/")
    expect_equal(done.returncode, 0, done.stderr)
    return done.stdout


def owners_and_modes(folder):
    facts = [os.stat(os.path.join(folder, name)) for name in names(folder)]
    return sorted((fact.st_uid, fact.st_gid, oct(fact.st_mode & 0o777)) for fact in facts)


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
    said = recover_as_nobody(folder)
    expect("1 trace published" in said and "1 left alone: of another" in said, said)
    expect_equal(events(folder), [COUNT // 2, COUNT, COUNT], "after a user's own recovery")
    expect_equal([name for name in names(folder) if name.startswith(HIDDEN)], [HIDDEN], "root's is still there")
    recover(folder)
    expect_equal(events(folder), [COUNT // 2, COUNT // 2, COUNT, COUNT], "all")
    expect_equal([uid for uid, _, _ in owners_and_modes(folder)], [0, 0, NOBODY, NOBODY], "owners")


def case_root_recovers_for_all_users(folder):
    """What another user left stays that user's, and as private as it was."""
    shared(folder)
    with recording(folder, umask=0o077) as first, recording(folder, user=NOBODY) as second:
        for child in (first, second):
            child.send_signal(signal.SIGKILL)
            child.wait()
        said = recover(folder)
    expect("2 traces published" in said and "left alone" not in said, said)
    expect_equal(events(folder), [COUNT // 2, COUNT // 2], "events")
    expect_equal(owners_and_modes(folder), [(0, 0, "0o600"), (NOBODY, NOBODY, "0o644")], "owners, groups and modes")


def case_root_leaves_the_living_of_other_users_alone(folder):
    shared(folder)
    with recording(folder, user=NOBODY):
        said = recover(folder)
        expect("0 traces published" in said and "1 left alone: of another" in said, said)
    recover(folder)
    expect_equal(events(folder), [COUNT // 2], "events, once it is dead")


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


def case_a_second_name_of_a_pointer_is_not_followed(folder):
    """The same pointer, put into a folder that everybody may write to, would publish a private spool there."""
    private, out, memory = (os.path.join(folder, name) for name in ("private", "out", "memory"))
    for made in (private, out, memory):
        os.mkdir(made, 0o700)
    with recording(private, SPOOL_DIR=memory) as child:
        child.send_signal(signal.SIGKILL)
        child.wait()
    (pointer,) = names(os.path.join(private, HIDDEN))
    os.mkdir(os.path.join(out, HIDDEN))
    os.link(os.path.join(private, HIDDEN, pointer), os.path.join(out, HIDDEN, pointer))
    expect("left alone" in recover(out), "said")
    expect_equal((names(out), len(names(memory))), ([HIDDEN], 1), "published through a second name")
    os.unlink(os.path.join(out, HIDDEN, pointer))
    recover(private)
    expect_equal(events(private), [COUNT // 2], "published where it belongs")


# ---- Races -----------------------------------------------------------------------------------------------------------

ROUNDS = int(os.environ.get("DFT_TEST_ROUNDS", "150"))


@contextlib.contextmanager
def swapping(out, private):
    """A process of the folder's owner puts a link to another folder in the place of .dftracer all the time."""
    hidden, aside, link = (os.path.join(out, name) for name in (HIDDEN, "aside", "link"))
    target = os.path.join(private, HIDDEN)
    pid = os.fork()
    if pid == 0:
        try:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            while True:
                # Each step may find that the victim was quicker.
                for call, *names in (
                    (os.symlink, target, link),
                    (os.rename, hidden, aside),
                    (os.rename, link, hidden),
                    (os.rename, hidden, link),
                    (os.rename, aside, hidden),
                    (os.unlink, link),
                ):
                    with contextlib.suppress(OSError):
                        call(*names)
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def contents(folder):
    """Every file below it: owner, mode and bytes."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(place, name)
            facts = os.lstat(path)
            content = b""
            if stat.S_ISREG(facts.st_mode):
                with open(path, "rb") as file:
                    content = file.read()
            found[os.path.relpath(path, folder)] = (facts.st_uid, facts.st_mode, content)
    return found


def dead_spool(folder, count):
    """What a killed process of root left that would have written same.pfw.gz."""
    settings = {"LOG_FILE": os.path.join(folder, "same.pfw.gz")}
    with recording(folder, umask=0o077, count=2 * count, **settings) as child:
        child.send_signal(signal.SIGKILL)
        child.wait()


def race(folder, act):
    """Root has a spool in a private folder, and acts in a folder of a stranger where files have the same names. Nothing
    of the private folder may change, and nothing of it may appear in the other."""
    if os.geteuid() != 0:
        raise Skip("becoming another user needs root")
    os.chmod(folder, 0o755)
    private, out = os.path.join(folder, "private"), os.path.join(folder, "out")
    os.mkdir(private, 0o700)
    os.mkdir(out)
    os.chown(out, NOBODY, NOBODY)
    dead_spool(private, COUNT - 1)
    dead_spool(out, COUNT)
    with open(os.path.join(private, HIDDEN, "same.0-jsonl"), "wb") as file:
        file.write(b"precious")
    with open(os.path.join(out, HIDDEN, "same.spool"), "rb") as file:
        spool = file.read()
    before = contents(private)
    hidden = os.open(os.path.join(out, HIDDEN), os.O_RDONLY | os.O_DIRECTORY)
    os.close(os.open("keep", os.O_CREAT, dir_fd=hidden))
    counts = []
    with swapping(out, private):
        for _ in range(ROUNDS):
            act(out, hidden, spool)
            for name in names(out):
                if name.endswith(".gz"):
                    path = os.path.join(out, name)
                    counts.append((os.stat(path).st_uid, len(Trace(path, small=True).values("step", "n"))))
                    os.unlink(path)
            expect_equal(contents(private).keys(), before.keys(), "files of the private folder")
            expect(contents(private) == before, "a file of the private folder was changed")
    os.close(hidden)
    expect_equal(set(counts), {(0, COUNT)}, "owners and events of what was published")


def case_a_recovery_while_the_folder_is_swapped(folder):
    def act(out, hidden, spool):
        with contextlib.suppress(FileExistsError):  # this time it was left alone
            file = os.open("same.spool", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=hidden)
            os.write(file, spool)
            os.close(file)
        run([COMMAND, "recover", out], untraced())

    race(folder, act)


def case_a_traced_program_while_the_folder_is_swapped(folder):
    """The program does not notice."""

    def act(out, hidden, spool):
        env = environment(out, LOG_FILE=os.path.join(out, "same.pfw.gz"))
        done = run([program("steady"), str(COUNT)], env)
        expect_equal((done.returncode, done.stdout), (STATUS, ""), f"status and stdout; stderr: {done.stderr}")

    race(folder, act)


main(globals())
