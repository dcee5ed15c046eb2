"""test_unsteady_clock.py - what encloses events does so where the kernel adjusts its clock, as after it starts."""

import subprocess

from frameworks_harness import main
from untouched import check, check_epochs, run_example, traces_of

# The monotonic clock runs 5 % too fast for 100 ms, then 5 % too slow, and so on. Nobody's real clock is touched.
CLOCK = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HALF_NS 100000000
#define SECOND_NS 1000000000

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && clock == CLOCK_MONOTONIC) {
    const long place = time->tv_nsec % (2 * HALF_NS);
    time->tv_nsec += (place < HALF_NS ? place : 2 * HALF_NS - place) / 20;
    time->tv_sec += time->tv_nsec / SECOND_NS;
    time->tv_nsec %= SECOND_NS;
  }
  return result;
}
"""


def test_epochs_enclose_their_events(tmp_path, monkeypatch):
    (tmp_path / "clock.c").write_text(CLOCK)
    library = str(tmp_path / "clock.so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, str(tmp_path / "clock.c")], check=True)
    monkeypatch.setenv("LD_PRELOAD", library)
    run_example("torch", tmp_path)
    (trace,) = traces_of(tmp_path / "traces")  # no two events of a thread overlap, or reading would have failed
    check(trace)
    check_epochs(trace)


if __name__ == "__main__":
    main(__file__)
