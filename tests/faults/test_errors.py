"""test_errors.py - the N-th system call fails, for each N: nothing is lost in silence, and the program does not notice.

Once: one call fails. For a while: it and the 20 after it, as on a disk that is full for a moment. For good: all from it
on. The errors of a recovery are repaired by the next one.
SPDX-License-Identifier: MIT
"""

import errno
import os

from harness import COMMAND, act, expect, main, recover, run, table, untraced
from inject import ALWAYS, calls_of_loader, each_call, injector
from test_points import judge_after, killed_process, places

WRITING = "openat,write,pwrite64,fallocate,ftruncate,mkdir,mkdirat,link,linkat,rename,renameat,renameat2,fsync"
ERRORS = {
    "ENOSPC": (errno.ENOSPC, WRITING),
    "EDQUOT": (errno.EDQUOT, WRITING),
    "EIO": (errno.EIO, WRITING + ",read,pread64,unlink,unlinkat,fstat,newfstatat,statx,msync,getdents64,flock,close"),
    "EMFILE": (errno.EMFILE, "openat,open,dup,fcntl,memfd_create,pipe2"),
    "ENOMEM": (errno.ENOMEM, "mmap,mremap,mprotect,madvise,openat,clone,clone3,fallocate"),
    "EAGAIN": (errno.EAGAIN, "flock,fcntl,clone,clone3"),
    "EINTR": (errno.EINTR, "openat,write,pwrite64,read,fallocate,flock,ftruncate"),
    "EPERM": (errno.EPERM, "openat,write,flock,fcntl,fallocate,link,linkat,rename,renameat2,unlink,fchmod,unshare"),
    "ENOSYS": (errno.ENOSYS, "fallocate,renameat2,statx,close_range,unshare,copy_file_range,clone3,membarrier"),
}
MESSAGES = 4  # kinds of trouble that one run may meet


def record(folder, number, calls, reach, words):
    def attempt(inner, n):
        report = os.path.join(inner, "report")
        injected = injector(report, calls, n, min(n + reach, ALWAYS) if n else 0, str(number))
        act(inner, words, injected=injected, messages=MESSAGES if n else 0, in_flight=0)
        return report

    each_call(folder, attempt, 2)


def recover_with(folder, number, calls, reach, is_relative):
    def attempt(inner, n):
        page, out, report = places(inner)
        killed_process(page, out)
        words = injector(report, calls, n, min(n + reach, ALWAYS) if n else 0, str(number), "start")
        done = run([*words, COMMAND, "recover", "out" if is_relative else out], untraced(), cwd=inner)
        expect(done.returncode >= 0, f"recovery, call {n}: {done}")
        judge_after(page, out, f"recovery, {os.strerror(number)} at call {n}", is_killed=False)
        return report

    each_call(folder, attempt, 2, calls_of_loader(folder, calls))


SHORT, LONG = "mark events 1500 return 7", "mark events 6000 return 7"
CHILDREN = "mark events 100 children 2 50 exit return 7"
for name, (number, calls) in ERRORS.items():
    rows = {
        f"{name} once": (number, calls, 0, LONG),
        f"{name} for a while": (number, calls, 20, LONG),
        f"{name} for good": (number, calls, ALWAYS, SHORT),
        f"{name} once in a child": (number, calls.replace(",clone,clone3", ""), 0, CHILDREN),
    }
    if number == errno.EINTR:  # who is interrupted tries again, without end
        del rows[f"{name} for good"]
    table(globals(), rows, record)
    rows = {
        f"{name} once in a recovery": (number, calls, 0, False),
        f"{name} for good in a recovery": (number, calls, ALWAYS, False),
    }
    if number == errno.EINTR:
        del rows[f"{name} for good in a recovery"]
    table(globals(), rows, recover_with)
table(globals(), {"ENOSPC in a recovery by a relative path": (errno.ENOSPC, WRITING, ALWAYS, True)}, recover_with)


def case_two_failed_recoveries_keep_the_name(folder):
    page, out, report = places(folder)
    killed_process(page, out, LOG_FILE=f"{out}/named.pfw")
    for _ in range(3):
        words = injector(report, WRITING, 30, ALWAYS, str(errno.ENOSPC), "start")
        run([*words, COMMAND, "recover", out], untraced())
    recover(out)
    expect(os.path.exists(f"{out}/named.pfw.gz"), f"the name: {os.listdir(out)}")
    judge_after(page, out, "after three failed recoveries", is_killed=False)


main(globals())
