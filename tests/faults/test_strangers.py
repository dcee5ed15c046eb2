"""test_strangers.py - folders that other users share, names that they prepared, and files that are not to be replaced.
SPDX-License-Identifier: MIT
"""

import os
import socket
import stat

from harness import (
    COMMAND,
    environment,
    expect,
    expect_equal,
    main,
    program,
    read_folder,
    run,
    untraced,
)

STATUS = 42
COUNT = 100


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


main(globals())
