"""callers.py - how a symbol of each kind is called: on a path, a descriptor, a stream, a folder, a mapping, a process.

The folder to work in is the first argument of the program.
SPDX-License-Identifier: MIT
"""

import ctypes
import os
import sys
from ctypes import byref, c_char_p, c_int, c_long, c_longlong, c_size_t, c_void_p, create_string_buffer

C = ctypes.CDLL(None, use_errno=True)
FOLDER = sys.argv[1].encode()
FDCWD = -100
TEXT = b"some bytes to be written and read again\n"
buffer = create_string_buffer(1024)


def path(name):
    return FOLDER + b"/" + name


def call(symbol, *args, returns=c_long):
    function = getattr(C, symbol)
    function.restype = returns
    return function(*args)


def fresh(name=b"file", content=TEXT):
    with open(path(name), "wb") as file:
        file.write(content)
    return path(name)


def descriptor(name=b"file", flags=os.O_RDWR):
    return os.open(fresh(name), flags)


def with_fd(symbol, *args, flags=os.O_RDWR):
    fd = descriptor(flags=flags)
    mark(symbol)
    got = call(symbol, fd, *args)
    os.close(fd)
    return got


def opened(symbol, *args):
    mark(symbol)
    fd = call(symbol, *args, returns=c_int)
    if fd >= 0:
        os.close(fd)
    return fd


def stream(mode=b"r+", content=TEXT):
    return call("fopen", fresh(content=content), mode, returns=c_void_p)


def with_stream(symbol, *args, at=None, mode=b"r+", returns=c_long, **options):
    """`at`: the place of the stream among the arguments, the last by default."""
    file = c_void_p(stream(mode, **options))
    mark(symbol)
    args = [*args[: len(args) if at is None else at], file, *args[len(args) if at is None else at :]]
    got = call(symbol, *args, returns=returns)
    call("fclose", file)
    return got


def mark(symbol):
    call("access", path(b"mark-" + symbol.encode()), 0)


def simple(symbol, *args, returns=c_int):
    mark(symbol)
    return call(symbol, *args, returns=returns)


class Vector(ctypes.Structure):
    _fields_ = [("base", c_char_p), ("len", c_size_t)]


def vector():
    return byref(Vector(ctypes.cast(buffer, c_char_p), 8))


def two_fds(symbol, order, *args):
    source, target = descriptor(b"file"), os.open(path(b"target"), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    mark(symbol)
    got = call(symbol, *order(source, target), *args)
    os.close(source)
    os.close(target)
    return got


def asynchronous(symbol):
    block = create_string_buffer(
        256
    )  # struct aiocb: aio_fildes, then aio_lio_opcode, aio_reqprio, aio_buf, aio_nbytes ...
    fd = descriptor()
    ctypes.memmove(block, bytes(c_int(fd)), 4)
    ctypes.memmove(ctypes.addressof(block) + 16, bytes(c_void_p(ctypes.addressof(buffer))), 8)
    ctypes.memmove(ctypes.addressof(block) + 24, bytes(c_size_t(8)), 8)
    ctypes.memmove(ctypes.addressof(block) + 32, bytes(c_int(0)), 4)
    got = simple(symbol, block)
    while call("aio_error", block, returns=c_int) == 115:
        pass
    os.close(fd)
    return got


def folder_stream(symbol, returns=c_long):
    folder = c_void_p(call("opendir", FOLDER, returns=c_void_p))
    mark(symbol)
    got = call(symbol, folder, returns=returns)
    if symbol != "closedir":
        call("closedir", folder)
    return got


def mapped(symbol, *args):
    fd = descriptor()
    at = c_void_p(call("mmap", None, c_size_t(4096), 3, 1, fd, c_long(0), returns=c_void_p))
    mark(symbol)
    got = call(symbol, at, c_size_t(4096), *args)
    if symbol != "munmap":
        call("munmap", at, c_size_t(4096))
    os.close(fd)
    return got


def mapping(symbol):
    fd = descriptor()
    mark(symbol)
    at = call(symbol, None, c_size_t(4096), 3, 1, fd, c_long(0), returns=c_void_p)
    os.close(fd)
    return 0 if at not in (None, 2**64 - 1) else -1


def copies(symbol, *args):
    fd = descriptor()
    mark(symbol)
    got = call(symbol, fd, *args, returns=c_int)
    os.close(got)
    os.close(fd)
    return got


def image(symbol, *args):
    """Fails: there is no such program."""
    return simple(symbol, path(b"none"), *args)


def spawned(symbol):
    program, pid = b"/bin/true", c_int()
    arguments = (c_char_p * 2)(program, None)
    got = simple(symbol, byref(pid), program, None, None, arguments, (c_char_p * 1)(None))
    os.waitpid(pid.value, 0)
    return got


def waited(symbol, *args):
    child = os.fork()
    if child == 0:
        os._exit(0)
    return simple(symbol, *args) == child and "child"


def forked(symbol):
    mark(symbol)
    child = call(symbol, returns=c_int)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return child > 0 and "child"


def replaced(symbol, *order):
    fresh(b"old")
    return simple(symbol, *order)


def made(symbol, *args):
    for name in (b"made", b"link"):
        if os.path.lexists(path(name)):
            (os.rmdir if os.path.isdir(path(name)) else os.unlink)(path(name))
    fresh()
    return simple(symbol, *args)


def removed(symbol, maker, *args):
    maker()
    return simple(symbol, *args)


def a_folder():
    os.mkdir(path(b"gone"))


def opened_stream(symbol, *args):
    fresh()
    mark(symbol)
    file = call(symbol, *args, returns=c_void_p)
    fd = call("fileno", c_void_p(file), returns=c_int) if file else -1
    if symbol != "popen":
        call("fclose", c_void_p(file))
    else:
        call("pclose", c_void_p(file))
    return fd


def reopened(symbol):
    file = c_void_p(stream())
    mark(symbol)
    got = call(symbol, path(b"file"), b"r", file, returns=c_void_p)
    fd = call("fileno", c_void_p(got), returns=c_int)
    call("fclose", c_void_p(got))
    return fd


def piped(symbol, *args):
    ends = (c_int * 2)()
    got = simple(symbol, ends, *args)
    os.close(ends[0])
    os.close(ends[1])
    return got


def closed(symbol):
    fd = descriptor()
    mark(symbol)
    return call(symbol, fd, returns=c_int)


def closed_many(symbol, *args):
    first = os.dup2(0, 900)
    mark(symbol)
    call(symbol, c_int(first), *args, returns=c_int)
    return 0


def closed_stream(symbol):
    file = stream() if symbol == "fclose" else call("popen", b"true", b"r", returns=c_void_p)
    mark(symbol)
    return call(symbol, c_void_p(file), returns=c_int)


def fdopened(symbol):
    fd = descriptor()
    mark(symbol)
    file = call(symbol, fd, b"r", returns=c_void_p)
    call("fclose", c_void_p(file))
    return fd


def fdopened_folder(symbol):
    fd = os.open(FOLDER, os.O_RDONLY)
    mark(symbol)
    folder = call(symbol, fd, returns=c_void_p)
    call("closedir", c_void_p(folder))
    return fd


def on_stdout(symbol, *args):
    """stdout is a file of the folder for a moment."""
    saved = os.dup(1)
    call("fflush", None)
    os.dup2(os.open(fresh(b"stdout", b""), os.O_WRONLY), 1)
    mark(symbol)
    got = call(symbol, *args, returns=c_int)
    call("fflush", None)
    os.dup2(saved, 1)
    return got


def on_stdin(symbol):
    saved = os.dup(0)
    os.dup2(os.open(fresh(), os.O_RDONLY), 0)
    got = simple(symbol)
    os.dup2(saved, 0)
    return got


def how(flags):
    return (c_longlong * 3)(flags, 0, 0)


def lines(symbol, *more):
    text, room = c_char_p(), c_size_t()
    return with_stream(symbol, byref(text), byref(room), *more)


def long_list(symbol, *args, at=0):
    """A va_list that no format looks at."""
    return with_stream(symbol, *args, at=at, returns=c_int)


def opened_folder(symbol):
    mark(symbol)
    folder = call(symbol, FOLDER, returns=c_void_p)
    fd = call("dirfd", c_void_p(folder), returns=c_int)
    call("closedir", c_void_p(folder))
    return fd
