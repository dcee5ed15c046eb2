"""preloaded.py - runs programs in forks of an interpreter that has imported large modules already.

    launch = Preloaded("/path/to/python", "torch")
    done = launch(["python", "program.py", "argument"], env=..., cwd=..., timeout=100)

Importing torch takes a second of CPU. A fork that runs a program as __main__, and then ends as every interpreter does,
saves it. The server imports no dftracer: the program does that, and finds its own environment.
SPDX-License-Identifier: MIT
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading


class Preloaded:
    """Called in place of subprocess.run(command, capture_output=True, text=True)."""

    def __init__(self, python, *modules):
        self.python, self.modules, self.channel = python, modules, None

    def __call__(self, command, *, env, cwd, timeout):
        if self.channel is None:
            self.start()
        reading, writing = zip(os.pipe(), os.pipe(), strict=True)
        request = {"arguments": command[1:], "environment": env, "folder": str(cwd)}
        socket.send_fds(self.channel, [json.dumps(request).encode()], writing)
        for end in writing:
            os.close(end)
        printed = [None, None]

        def read(which):
            with open(reading[which], encoding="utf-8") as pipe:
                printed[which] = pipe.read()

        threads = [threading.Thread(target=read, args=(which,), daemon=True) for which in (0, 1)]
        for thread in threads:
            thread.start()
        child = int(self.channel.recv(100))
        self.channel.settimeout(timeout)
        try:
            status = int(self.channel.recv(100))
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            raise subprocess.TimeoutExpired(command, timeout) from None
        for thread in threads:  # also those of its children that still write
            thread.join(timeout)
            if thread.is_alive():
                raise subprocess.TimeoutExpired(command, timeout)
        return subprocess.CompletedProcess(command, status, *printed)

    def start(self):
        """The server ends when the other end of its channel is closed."""
        self.channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [self.python, __file__, str(other.fileno()), *self.modules]
        server = subprocess.Popen(command, pass_fds=[other.fileno()])
        other.close()
        atexit.register(lambda: (self.channel.close(), server.wait()))


def serve(channel):
    """Forks for each request; returns it in the child."""
    while True:
        request, ends, _, _ = socket.recv_fds(channel, 1 << 20, 2)
        if not request:
            os._exit(0)
        child = os.fork()
        if not child:
            channel.close()
            for end, number in zip(ends, (1, 2), strict=True):
                os.dup2(end, number)
                os.close(end)
            return json.loads(request)
        for end in ends:
            os.close(end)
        channel.send(str(child).encode())
        channel.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


if __name__ == "__main__":
    for module in sys.argv[2:]:
        __import__(module)
    request = serve(socket.socket(fileno=int(sys.argv[1])))
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:] = request["arguments"]
    sys.path[:1] = [os.path.dirname(sys.argv[0]), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    __file__ = sys.argv[0]
    with open(__file__, encoding="utf-8") as file:
        program = compile(file.read(), __file__, "exec", dont_inherit=True)
    for name in [name for name in globals() if not name.startswith("__") and name != "program"]:
        del globals()[name]
    exec(program)
