"""test_places.py - containers: own namespaces, an own /dev/shm, no /proc, other file systems, seccomp; and their death.

test_life.py has the processes that live while others look at them.
SPDX-License-Identifier: MIT
"""

import os
import subprocess

from harness import Page, Skip, act, ask, environment, expect_equal, main, program, recover, run, table, untraced
from oracle import tally
from test_life import overlay, unshared

ENDS = {"that returns": "events 3000 return 7", "that is killed": "events 3000 kill",
        "with children": "events 500 children 3 200 kill events 500 return 7"}
SHM = 'mount -t tmpfs none /dev/shm && exec "$@"'
PLACES = {
    "a pid namespace": (("-p", "-f"), ""),
    "a pid namespace with its proc": (("-p", "-f", "--mount-proc"), ""),
    "a time namespace": (("-T", "-f", "--boottime", "1000000", "--monotonic", "5000"), ""),
    "a uts namespace": (("-u",), 'hostname container-7 && exec "$@"'),
    "a mount namespace": (("-m",), ""),
    "a user namespace": (("-U", "-r"), ""),
    "an ipc namespace": (("-i",), ""),
    "a cgroup namespace": (("-C",), ""),
    "all namespaces": (("-p", "-f", "-T", "-u", "-m", "-i", "-C", "--mount-proc"), ""),
    "a container with its own dev shm": (("-p", "-f", "-m"), SHM),
    "a place without proc": (("-m",), 'mount -t tmpfs none /proc && exec "$@"'),
    "a place without proc and with a pid namespace": (("-m", "-p", "-f"), 'mount -t tmpfs none /proc && exec "$@"'),
}


def words_before(options, script):
    return (*unshared(*options), *(("sh", "-c", script, "sh") if script else ()))


def check(folder, options, script, words):
    act(folder, words, before=words_before(options, script), in_flight=0)


for place, (options, script) in PLACES.items():
    table(globals(), {f"{place} {end}": (options, script, words) for end, words in ENDS.items()}, check)


def case_a_spool_in_a_dev_shm_that_is_gone(folder):
    """The spool died with the container: what was written remains, the loss is told, and nothing else is harmed."""
    page, out = Page(folder), os.path.join(folder, "out")
    before = words_before(("-p", "-f", "-m"), SHM)
    env = environment(out, SPOOL_DIR="/dev/shm")
    run([*before, program("actor"), page.path, "events", "3000", "kill"], env)
    recover(out)
    recover(out, lost=True)
    done = run([program("steady"), "100"], environment(out))
    expect_equal((done.returncode, done.stderr), (42, ""), "the next program")


def two_containers(folder, words):
    """The same pid and host name in both, the same folder of traces, and each its own /dev/shm."""
    page, out = Page(folder), os.path.join(folder, "out")
    before = words_before(("-p", "-f", "-m", "-u"), SHM)
    env = environment(out, SPOOL_DIR="/dev/shm")
    both = [subprocess.Popen([*before, program("actor"), page.path, *words.split()], env=env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        _, messages = process.communicate(timeout=60)
        expect_equal((process.returncode, messages), (7, "err\n"), "status and messages")
    recover(out)
    tally.trials += 2
    ask(out, page, words, in_flight=0)


def case_two_containers_with_the_same_pid(folder):
    two_containers(folder, "events 20000 return 7")


def case_two_containers_with_the_same_pid_and_children(folder):
    two_containers(folder, "children 10 200 exit events 2000 return 7")


def case_an_overlay_file_system(folder):
    with overlay(folder) as out:
        for number, words in enumerate(ENDS.values()):
            os.mkdir(f"{out}/{number}")
            act(f"{out}/{number}", words, in_flight=0)


def mounted(folder, kind, options=""):
    """A file system of its own in a file."""
    image = f"{folder}/image"
    with open(image, "wb") as file:
        file.truncate(400 << 20)
    made = run([f"mkfs.{kind}", "-q", image], untraced())
    if made.returncode:
        raise Skip(f"mkfs.{kind}: {made.stderr.strip()}")
    os.mkdir(f"{folder}/disk")
    done = run(["mount", "-o", f"loop{options}", image, f"{folder}/disk"], untraced())
    if done.returncode:
        raise Skip(f"mount of {kind}: {done.stderr.strip()}")
    return f"{folder}/disk"


def on_file_system(folder, kind):
    if os.geteuid() != 0:
        raise Skip("mounting a disk needs root")
    try:
        disk = mounted(folder, kind)
    except FileNotFoundError as error:
        raise Skip(f"{error}") from error
    try:
        for number, words in enumerate(ENDS.values()):
            os.mkdir(f"{disk}/{number}")
            act(f"{disk}/{number}", words, in_flight=0)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


table(globals(), {f"on {kind}": (kind,) for kind in ("ext4", "xfs", "btrfs", "ext2")}, on_file_system)


def case_on_tmpfs(folder):
    if not os.path.isdir("/dev/shm"):
        raise Skip("there is no /dev/shm")
    inner = f"/dev/shm/dft-faults-{os.getpid()}"
    os.mkdir(inner)
    try:
        for number, words in enumerate(ENDS.values()):
            os.mkdir(f"{inner}/{number}")
            act(f"{inner}/{number}", words, in_flight=0)
    finally:
        subprocess.run(["rm", "-rf", inner], check=True)


main(globals())
