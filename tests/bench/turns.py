"""turns.py - two programs that take turns: one runs while the other is stopped, a tenth of a second at a time.

A machine that others use is now fast, now slow, for seconds on end. Runs one after the other meet different phases;
programs that take turns meet the same.
SPDX-License-Identifier: MIT
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time

SLICE = 0.1


class Turn:
    """A program with all processes it starts: the seconds it was let run, and those of CPU that they took."""

    def __init__(self, command: list[str], variables: dict[str, str]) -> None:
        begin = time.perf_counter()
        self.process = subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, start_new_session=True)
        self.ended = os.pidfd_open(self.process.pid)
        self.cpu = 0.0
        self.is_running = True
        self.signal(signal.SIGSTOP)
        self.wall = time.perf_counter() - begin

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def run(self) -> None:
        begin = time.perf_counter()
        self.signal(signal.SIGCONT)
        if select.select([self.ended], [], [], SLICE)[0]:
            self.wall += time.perf_counter() - begin
            self.finish()
        else:
            self.signal(signal.SIGSTOP)
            self.wall += time.perf_counter() - begin

    def finish(self) -> None:
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu = usage.ru_utime + usage.ru_stime
        self.is_running = False
        os.close(self.ended)
        if self.process.returncode:
            raise subprocess.CalledProcessError(self.process.returncode, self.process.args)


def run_in_turns(turns: list[Turn]) -> None:
    """Until all have ended."""
    try:
        while any(turn.is_running for turn in turns):
            for turn in turns:
                if turn.is_running:
                    turn.run()
    finally:
        for turn in turns:
            if turn.is_running:
                turn.signal(signal.SIGKILL)
                turn.process.wait()
