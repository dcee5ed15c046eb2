"""badpointers.py - calls every symbol of the table with pointers that lead nowhere: badpointers.py FOLDER TABLE

Of each call one pointer at a time is NULL or 1, while the others are right; and once more with a number that the
kernel may refuse before it looks at any pointer. Each call is made in a child, and its result is printed: what it
returned and errno, or the signal that ended it.
SPDX-License-Identifier: MIT
"""

import ctypes
import os
import re
import resource
import signal
import sys

FOLDER, TABLE = sys.argv[1:]
LIBC = ctypes.CDLL(None, use_errno=True)
BAD = {"null": 0, "one": 1}
FILE = os.path.join(FOLDER, "file")
NEW = os.path.join(FOLDER, "new")

# Calls whose rows have no parameters, because their wrappers are written by hand.
SPECIAL = """
open(const char *path, int flags, mode_t mode)
__open_2(const char *path, int flags)
openat(int dir, const char *path, int flags, mode_t mode)
__openat_2(int dir, const char *path, int flags)
creat(const char *path, mode_t mode)
openat2(int dir, const char *path, const struct open_how *how, size_t how_size)
fcntl(int fd, int lock_command, struct flock *lock)
pipe(int *ends)
pipe2(int *ends, int flags)
memfd_create(const char *path, unsigned flags)
aio_read(struct aiocb *block)
aio_write(struct aiocb *block)
rename(const char *path, const char *to)
renameat(int dir, const char *path, int to_dir, const char *to)
renameat2(int dir, const char *path, int to_dir, const char *to, unsigned flags)
chdir(const char *path)
getcwd(char *to, size_t count)
__getcwd_chk(char *to, size_t count, size_t room)
opendir(const char *path)
readdir(DIR *entries)
rewinddir(DIR *entries)
closedir(DIR *entries)
execve(const char *path, char *const *list, char *const *environment)
execv(const char *path, char *const *list)
execvp(const char *path, char *const *list)
execvpe(const char *path, char *const *list, char *const *environment)
execl(const char *path, const char *name, const char *end)
execlp(const char *path, const char *name, const char *end)
execle(const char *path, const char *name, const char *end, char *const *environment)
fexecve(int fd, char *const *list, char *const *environment)
posix_spawn(pid_t *pid_out, const char *path, void *none, void *none, char *const *list, char *const *environment)
posix_spawnp(pid_t *pid_out, const char *path, void *none, void *none, char *const *list, char *const *environment)
munmap(void *page, size_t length)
msync(void *page, size_t length, int flags)
madvise(void *page, size_t length, int advice)
fopen(const char *path, const char *access_mode)
fdopen(int fd, const char *access_mode)
freopen(const char *path, const char *access_mode, FILE *stream)
popen(const char *path, const char *access_mode)
pclose(FILE *stream)
fclose(FILE *stream)
rewind(FILE *stream)
fprintf(FILE *stream, const char *format)
__fprintf_chk(FILE *stream, int level, const char *format)
printf(const char *format)
__printf_chk(int level, const char *format)
dprintf(int fd, const char *format)
__dprintf_chk(int fd, int level, const char *format)
fscanf(FILE *stream, const char *format)
__isoc99_fscanf(FILE *stream, const char *format)
__isoc23_fscanf(FILE *stream, const char *format)
"""
NUMBERS = {"dir": -100, "to_dir": -100, "size": 1, "count": 16, "length": 16, "iovcnt": 1, "room": 4096, "mask": 0x7FF,
           "mode": 0, "version": 1, "level": 1, "how_size": 24, "pid": -1, "options": 1, "lock_command": 5, "end": 10,
           "owner": -1, "group": -1}  # fmt: skip
REFUSABLE = {"flags", "mode", "advice", "whence", "options", "length", "count", "how_size", "operation", "command"}
kept = []  # what pointers lead to


def rows():
    """Symbols and their parameters, as text."""
    with open(TABLE) as file:
        table = file.read()
    for row in re.finditer(r"^(?:CALL\(\w+, \w+|VARIANT\(\w+), [\w *]+?, (\w+), \(([^()]*)\), ", table, re.MULTILINE):
        yield row.groups()
    for row in re.finditer(r"^(\w+)\((.*)\)$", SPECIAL, re.MULTILINE):
        yield row.groups()


def keep(value):
    kept.append(value)
    return ctypes.cast(value, ctypes.c_void_p).value


def text(value):
    return keep(ctypes.create_string_buffer(os.fsencode(value)))


def words(*values):
    return keep((ctypes.c_void_p * (len(values) + 1))(*values))


def stream():
    LIBC.fopen.restype = ctypes.c_void_p
    return LIBC.fopen(FILE.encode(), b"r+")


def entries():
    LIBC.opendir.restype = ctypes.c_void_p
    return LIBC.opendir(FOLDER.encode())


def right_pointer(kind, name):
    """What this pointer should lead to."""
    memory = keep(ctypes.create_string_buffer(4096))
    known = {
        "path": lambda: text(FILE),
        "access_mode": lambda: text("r"),
        "format": lambda: text("x"),
        "text": lambda: text("x"),
        "name": lambda: text("name"),
        "end": lambda: None,
        "none": lambda: None,
        "stream": stream,
        "entries": entries,
        "list": lambda: words(text("name")),
        "environment": lambda: words(),
        "line": lambda: words(),
    }
    if name in known:
        return known[name]()
    if name == "to" and kind.startswith("const char"):
        return text(NEW)
    if "iovec" in kind:
        return words(memory, 16)
    return memory


def right(kind, name):
    if "*" in kind or "[" in kind or kind == "va_list":
        return right_pointer(kind, name)
    if name == "fd" or name in ("from", "to"):
        return os.open(FILE, os.O_RDWR)
    return NUMBERS.get(name, 0)


def parameters(params):
    for param in params.split(", "):
        found = re.fullmatch(r"(.*?)(\w+)(\[\d*\])?", param)
        if param not in ("", "void"):
            yield found[1].strip() + (found[3] or ""), found[2]


def calls(symbol, params):
    """A name for each call, and which parameter gets which number."""
    known = list(parameters(params))
    pointers = [i for i, (kind, name) in enumerate(known) if "*" in kind and name not in ("none", "end")]
    refusable = [i for i, (kind, name) in enumerate(known) if "*" not in kind and name in REFUSABLE]
    for i in pointers:
        for what, value in BAD.items():
            yield f"{symbol} {known[i][1]}={what}", {i: value}
            if known[i][1] == "stream":
                continue  # its wrappers look at it first, and the C library at nothing else
            for j in refusable:
                yield f"{symbol} {known[i][1]}={what} {known[j][1]}=-1", {i: value, j: -1}


def call(symbol, params, replaced):
    """What came out. A descriptor or an address is "some": it need not be the same in the next process."""
    arguments = [replaced[i] if i in replaced else right(*param) for i, param in enumerate(parameters(params))]
    function = LIBC[symbol]
    function.restype = ctypes.c_long
    function.argtypes = None
    ctypes.set_errno(0)
    ret = function(*(ctypes.c_void_p(argument) for argument in arguments))
    shown = {-1: "-1", 0xFFFFFFFF: "-1", 0: "0"}.get(ret, "some")
    return f"{shown}, errno {ctypes.get_errno()}"


def outcome(symbol, params, replaced):
    near, far = os.pipe()
    with open(FILE, "w") as file:
        file.write("some words\n")
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(20)
        os.dup2(os.open("/dev/null", os.O_RDWR), 0)
        os.dup2(0, 1)
        os.dup2(0, 2)
        os.write(far, call(symbol, params, replaced).encode())
        os._exit(0)
    os.close(far)
    _, status = os.waitpid(pid, 0)
    result = os.read(near, 1000).decode()
    os.close(near)
    for path in (NEW, FILE):
        if os.path.isdir(path):
            os.rmdir(path)
        elif os.path.lexists(path):
            os.unlink(path)
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return result or f"exit status {os.WEXITSTATUS(status)}"


os.chdir(FOLDER)
own = ctypes.CDLL("libc.so.6")  # without the preload library, which has every name
for symbol, params in rows():
    if hasattr(own, symbol):
        for name, replaced in calls(symbol, params):
            print(f"{name}: {outcome(symbol, params, replaced)}", flush=True)
