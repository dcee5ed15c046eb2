"""every.py - calls every symbol of the table once, by its name, and prints what each returned: every.py FOLDER

Before each, access() of FOLDER/mark-SYMBOL marks the place in the trace. A value of None is a symbol that this
C library does not have, or that cannot be called like this. How a call is made is not derived from its row: a row with
wrong parameters would then test itself. Only aliases come from the table.
SPDX-License-Identifier: MIT
"""

import json
import os
import re
import sys
from ctypes import byref, c_char_p, c_int, c_long, c_size_t, c_void_p, create_string_buffer

from callers import (
    FDCWD,
    FOLDER,
    TEXT,
    a_folder,
    asynchronous,
    buffer,
    call,
    closed,
    closed_many,
    closed_stream,
    copies,
    descriptor,
    fdopened,
    fdopened_folder,
    folder_stream,
    forked,
    fresh,
    how,
    image,
    lines,
    long_list,
    made,
    mapped,
    mapping,
    mark,
    on_stdin,
    on_stdout,
    opened,
    opened_folder,
    opened_stream,
    path,
    piped,
    removed,
    reopened,
    replaced,
    simple,
    spawned,
    two_fds,
    vector,
    waited,
    with_fd,
    with_stream,
)

O = os.O_RDWR | os.O_CREAT  # noqa: E741
L = c_long
S = c_size_t
no_list = create_string_buffer(64)
CALLS = {
    "open": lambda s: opened(s, path(b"file"), O, 0o600),
    "__open_2": lambda s: opened(s, path(b"file"), os.O_RDONLY),
    "openat": lambda s: opened(s, FDCWD, path(b"file"), O, 0o600),
    "__openat_2": lambda s: opened(s, FDCWD, path(b"file"), os.O_RDONLY),
    "creat": lambda s: opened(s, path(b"file"), 0o600),
    "openat2": lambda s: opened(s, FDCWD, path(b"file"), how(os.O_RDONLY), S(24)),
    "close": closed,
    "close_range": lambda s: closed_many(s, 1000, 0),
    "closefrom": closed_many,
    "dup": copies,
    "dup2": lambda s: copies(s, 901),
    "dup3": lambda s: copies(s, 902, 0),
    "fcntl": lambda s: with_fd(s, 3, 0),
    "pipe": piped,
    "pipe2": lambda s: piped(s, 0),
    "memfd_create": lambda s: opened(s, b"memory", 0),
    "read": lambda s: with_fd(s, buffer, S(8)),
    "__read_chk": lambda s: with_fd(s, buffer, S(8), S(1024)),
    "write": lambda s: with_fd(s, TEXT, S(8)),
    "pread": lambda s: with_fd(s, buffer, S(8), L(4)),
    "__pread_chk": lambda s: with_fd(s, buffer, S(8), L(4), S(1024)),
    "pwrite": lambda s: with_fd(s, TEXT, S(8), L(4)),
    **{n: (lambda s: with_fd(s, vector(), 1)) for n in ("readv", "writev")},
    **{n: (lambda s: with_fd(s, vector(), 1, L(2))) for n in ("preadv", "pwritev")},
    **{n: (lambda s: with_fd(s, vector(), 1, L(2), 0)) for n in ("preadv2", "pwritev2")},
    "lseek": lambda s: with_fd(s, L(5), 0),
    "sendfile": lambda s: two_fds(s, lambda a, b: (b, a), None, S(10)),
    "copy_file_range": lambda s: two_fds(s, lambda a, b: (a, None, b, None), S(10), 0),
    "splice": lambda s: two_fds(s, lambda a, b: (a, None, b, None), S(10), 0),
    **dict.fromkeys(("aio_read", "aio_write"), asynchronous),
    "fsync": with_fd,
    "fdatasync": with_fd,
    "sync_file_range": lambda s: with_fd(s, L(0), L(8), 0),
    "ftruncate": lambda s: with_fd(s, L(10)),
    "truncate": lambda s: simple(s, fresh(), L(10)),
    "fallocate": lambda s: with_fd(s, 0, L(0), L(4096)),
    "posix_fallocate": lambda s: with_fd(s, L(0), L(4096)),
    "posix_fadvise": lambda s: with_fd(s, L(0), L(0), 2),
    "flock": lambda s: with_fd(s, 2),
    "lockf": lambda s: with_fd(s, 1, L(0)),
    "mmap": mapping,
    "munmap": mapped,
    "msync": lambda s: mapped(s, 4),
    "madvise": lambda s: mapped(s, 0),
    **{n: (lambda s: simple(s, fresh(), buffer)) for n in ("stat", "lstat", "statvfs")},
    **{n: (lambda s: simple(s, 1, fresh(), buffer)) for n in ("__xstat", "__lxstat")},
    **{n: (lambda s: with_fd(s, buffer)) for n in ("fstat", "fstatvfs")},
    "__fxstat": lambda s: (lambda fd: (mark(s), call(s, 1, fd, buffer, returns=c_int), os.close(fd))[1])(descriptor()),
    "fstatat": lambda s: simple(s, FDCWD, fresh(), buffer, 0),
    "__fxstatat": lambda s: simple(s, 1, FDCWD, fresh(), buffer, 0),
    "statx": lambda s: simple(s, FDCWD, fresh(), 0, 0x7FF, buffer),
    "access": lambda s: simple(s, fresh(), 4),
    "faccessat": lambda s: simple(s, FDCWD, fresh(), 4, 0),
    "chmod": lambda s: simple(s, fresh(), 0o640),
    "fchmod": lambda s: with_fd(s, 0o640),
    "fchmodat": lambda s: simple(s, FDCWD, fresh(), 0o640, 0),
    **{n: (lambda s: simple(s, fresh(), -1, -1)) for n in ("chown", "lchown")},
    "fchown": lambda s: with_fd(s, -1, -1),
    "fchownat": lambda s: simple(s, FDCWD, fresh(), -1, -1, 0),
    **{n: (lambda s: simple(s, fresh(), None)) for n in ("utime", "utimes")},
    "utimensat": lambda s: simple(s, FDCWD, fresh(), None, 0),
    "futimens": lambda s: with_fd(s, None),
    "mkdir": lambda s: made(s, path(b"made"), 0o700),
    "mkdirat": lambda s: made(s, FDCWD, path(b"made"), 0o700),
    "rmdir": lambda s: removed(s, a_folder, path(b"gone")),
    "unlink": lambda s: removed(s, fresh, path(b"file")),
    "unlinkat": lambda s: removed(s, fresh, FDCWD, path(b"file"), 0),
    "remove": lambda s: removed(s, fresh, path(b"file")),
    "mkfifo": lambda s: made(s, path(b"made"), 0o600),
    "mkfifoat": lambda s: made(s, FDCWD, path(b"made"), 0o600),
    "mknod": lambda s: made(s, path(b"made"), 0o010600, L(0)),
    "__xmknod": lambda s: made(s, 0, path(b"made"), 0o010600, byref(L(0))),
    "mknodat": lambda s: made(s, FDCWD, path(b"made"), 0o010600, L(0)),
    "__xmknodat": lambda s: made(s, 0, FDCWD, path(b"made"), 0o010600, byref(L(0))),
    "link": lambda s: made(s, path(b"file"), path(b"link")),
    "linkat": lambda s: made(s, FDCWD, path(b"file"), FDCWD, path(b"link"), 0),
    "symlink": lambda s: made(s, b"file", path(b"link")),
    "symlinkat": lambda s: made(s, b"file", FDCWD, path(b"link")),
    "readlink": lambda s: simple(s, path(b"link"), buffer, S(100)),
    "__readlink_chk": lambda s: simple(s, path(b"link"), buffer, S(100), S(1024)),
    "readlinkat": lambda s: simple(s, FDCWD, path(b"link"), buffer, S(100)),
    "__readlinkat_chk": lambda s: simple(s, FDCWD, path(b"link"), buffer, S(100), S(1024)),
    "realpath": lambda s: simple(s, fresh(), None, returns=c_void_p) and 0,
    "__realpath_chk": lambda s: simple(s, fresh(), create_string_buffer(4096), S(4096), returns=c_void_p) and 0,
    "canonicalize_file_name": lambda s: simple(s, fresh(), returns=c_void_p) and 0,
    "rename": lambda s: replaced(s, path(b"old"), path(b"new")),
    "renameat": lambda s: replaced(s, FDCWD, path(b"old"), FDCWD, path(b"new")),
    "renameat2": lambda s: replaced(s, FDCWD, path(b"old"), FDCWD, path(b"new"), 0),
    "umask": lambda s: simple(s, 0o022),
    "chdir": lambda s: simple(s, FOLDER),
    "fchdir": lambda s: (lambda fd: (mark(s), call(s, fd, returns=c_int), os.close(fd))[1])(
        os.open(FOLDER, os.O_RDONLY)
    ),
    "getcwd": lambda s: simple(s, buffer, S(1000), returns=c_void_p) and 0,
    "__getcwd_chk": lambda s: simple(s, buffer, S(1000), S(1024), returns=c_void_p) and 0,
    "opendir": lambda s: opened_folder(s),
    "fdopendir": fdopened_folder,
    "readdir": lambda s: folder_stream(s, c_void_p) and 1,
    "rewinddir": lambda s: folder_stream(s) and 0,
    "closedir": folder_stream,
    "fork": forked,
    **{n: (lambda s: image(s, (c_char_p * 2)(b"none", None), (c_char_p * 1)(None))) for n in ("execve", "execvpe")},
    **{n: (lambda s: image(s, (c_char_p * 2)(b"none", None))) for n in ("execv", "execvp")},
    **{n: (lambda s: image(s, b"none", b"argument", None)) for n in ("execl", "execlp")},
    "execle": lambda s: image(s, b"none", b"argument", None, (c_char_p * 1)(None)),
    "fexecve": lambda s: simple(s, -1, (c_char_p * 2)(b"none", None), (c_char_p * 1)(None)),
    "posix_spawn": spawned,
    "posix_spawnp": spawned,
    "wait": lambda s: waited(s, None),
    "waitpid": lambda s: waited(s, -1, None, 0),
    "wait3": lambda s: waited(s, None, 0, None),
    "wait4": lambda s: waited(s, -1, None, 0, None),
    "fopen": lambda s: opened_stream(s, path(b"file"), b"r"),
    "fdopen": fdopened,
    "freopen": reopened,
    "tmpfile": opened_stream,
    "popen": lambda s: opened_stream(s, b"true", b"r"),
    "pclose": closed_stream,
    "fclose": closed_stream,
    **{n: (lambda s: with_stream(s, buffer, S(2), S(5)) * 2) for n in ("fread", "fread_unlocked")},
    **{n: (lambda s: with_stream(s, buffer, S(1024), S(2), S(5)) * 2) for n in ("__fread_chk", "__fread_unlocked_chk")},
    **{n: (lambda s: with_stream(s, TEXT, S(2), S(5)) * 2) for n in ("fwrite", "fwrite_unlocked")},
    **{n: (lambda s: with_stream(s, L(3), 0, at=0)) for n in ("fseek", "fseeko")},
    **dict.fromkeys(("ftell", "ftello", "fflush", "fflush_unlocked"), with_stream),
    "rewind": lambda s: with_stream(s) and 0,
    "fgetpos": lambda s: with_stream(s, buffer, at=0),
    "fsetpos": lambda s: with_stream(s, create_string_buffer(16), at=0),
    "setvbuf": lambda s: with_stream(s, None, 2, S(0), at=0),
    **{n: (lambda s: with_stream(s, buffer, 10, returns=c_void_p) and 9) for n in ("fgets", "fgets_unlocked")},
    **{
        n: (lambda s: with_stream(s, buffer, S(1024), 10, returns=c_void_p) and 9)
        for n in ("__fgets_chk", "__fgets_unlocked_chk")
    },
    **{n: (lambda s: with_stream(s, b"12345") > 0 and 5) for n in ("fputs", "fputs_unlocked")},
    "puts": lambda s: on_stdout(s, b"12345") > 0 and 6,
    **dict.fromkeys(("fgetc", "fgetc_unlocked", "getc", "getc_unlocked"), with_stream),
    **dict.fromkeys(("getchar", "getchar_unlocked"), on_stdin),
    **{n: (lambda s: with_stream(s, ord("x"))) for n in ("fputc", "fputc_unlocked", "putc", "putc_unlocked", "ungetc")},
    **dict.fromkeys(("putchar", "putchar_unlocked"), lambda s: on_stdout(s, ord("x"))),
    "getline": lines,
    "getdelim": lambda s: lines(s, ord(" ")),
    "vfprintf": lambda s: long_list(s, b"12345", no_list),
    "__vfprintf_chk": lambda s: long_list(s, 1, b"12345", no_list),
    "vprintf": lambda s: on_stdout(s, b"12345", no_list),
    "__vprintf_chk": lambda s: on_stdout(s, 1, b"12345", no_list),
    "vdprintf": lambda s: with_fd(s, b"12345", no_list),
    "__vdprintf_chk": lambda s: with_fd(s, 1, b"12345", no_list),
    "dprintf": lambda s: with_fd(s, b"%d and %s", 42, b"text"),
    "__dprintf_chk": lambda s: with_fd(s, 1, b"%d and %s", 42, b"text"),
    **{n: (lambda s: long_list(s, b"some", no_list)) for n in ("vfscanf", "__isoc99_vfscanf")},
    "__isoc23_vfscanf": lambda s: None,
    "fprintf": lambda s: with_stream(s, b"%d and %s", 42, b"text", at=0, returns=c_int),
    "__fprintf_chk": lambda s: with_stream(s, 1, b"%d and %s", 42, b"text", at=0, returns=c_int),
    "printf": lambda s: on_stdout(s, b"%d and %s", 42, b"text"),
    "__printf_chk": lambda s: on_stdout(s, 1, b"%d and %s", 42, b"text"),
    **{
        n: (lambda s: with_stream(s, b"%d", byref(c_int()), at=0, content=b"42 ", returns=c_int))
        for n in ("fscanf", "__isoc99_fscanf")
    },
    "__isoc23_fscanf": lambda s: None,
}


# An alias is the same function, called in the same way.
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../c/intercept/calls.inc")
with open(TABLE, encoding="utf-8") as table:
    for plain, alias in re.findall(r"^ALIAS\((\w+), (\w+)\)", table.read(), re.MULTILINE):
        CALLS[alias] = CALLS[plain]


def main():
    results = {}
    for symbol, function in CALLS.items():
        results[symbol] = function(symbol)
        mark("")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(results, file)


main()
