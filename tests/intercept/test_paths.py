"""test_paths.py - which file a call is on, and whether it is recorded: names, folders, copies of descriptors, prefixes.

Each case runs a small Python program under the preload library. It writes different numbers of bytes, so that the
sums by path tell where they went.
SPDX-License-Identifier: MIT
"""

import os
import subprocess
import sys

from io_harness import events_by_path, expect, expect_equal, main, read_folder, run, traced
from witness import traced_bytes

HELPERS = """
import ctypes, errno, os, socket, sys
data = os.environ["DATA"]
def new(path, flags=os.O_RDWR | os.O_CREAT, **options): return os.open(path, flags, 0o600, **options)
def put(fd, count): assert os.write(fd, bytes(count)) == count
def save(path, count, **options):
    fd = new(path, **options); put(fd, count); os.close(fd)
"""


def written(folder, script, traces=1, folders=(), **settings):
    """Runs the script in folder/data; returns the bytes written to each file by its path, and the traces."""
    data = os.path.join(os.path.realpath(folder), "data")
    for made in (".", *folders):
        os.makedirs(os.path.join(data, made), exist_ok=True)
    env = traced(os.path.join(folder, "traces"), **{"DATA_DIR": data} | settings) | {"DATA": data}
    os.makedirs(os.path.join(folder, "traces"), exist_ok=True)
    done = run([sys.executable, "-B", "-I", "-c", HELPERS + script], env, cwd=data)
    expect_equal((done.returncode, done.stderr), (0, ""), "the program")
    found = read_folder(os.path.join(folder, "traces"))
    expect_equal(len(found), traces, "traces")
    sums = traced_bytes(found)
    return {
        os.path.relpath(path, data) if path.startswith(data) else path: count
        for (path, way), count in sums.items()
        if way == "written"
    }, found


# ---- Names -----------------------------------------------------------------------------------------------------------


def case_relative_names(folder):
    sums, _ = written(
        folder,
        """
save("a", 1); save("./b", 2); save("sub/../c", 3); save("sub//.//d", 4); save(f"{data}/sub/../e", 5)
os.chdir("sub"); save("f", 6); save("../g", 7); save("./../sub/h", 8)
os.chdir(".."); save("i", 9)
fd = os.open("sub", os.O_RDONLY); os.fchdir(fd); save("j", 10)""",
        folders=["sub"],
    )
    expect_equal(
        sums, {"a": 1, "b": 2, "c": 3, "sub/d": 4, "e": 5, "sub/f": 6, "g": 7, "sub/h": 8, "i": 9, "sub/j": 10}, "bytes"
    )


def case_links(folder):
    """Only before a .. a link is followed: there its text would name another file. A working folder is where it is."""
    sums, _ = written(
        folder,
        """
os.symlink("far/deep", "link")
save("link/a", 1); save("link/../b", 2)
os.chdir("link"); save("c", 3); save("../d", 4)""",
        folders=["far/deep"],
    )
    expect_equal(sums, {"link/a": 1, "far/b": 2, "far/deep/c": 3, "far/d": 4}, "bytes")


def case_folders_by_descriptor(folder):
    sums, _ = written(
        folder,
        """
top = os.open(data, os.O_RDONLY); sub = os.open("sub", os.O_RDONLY, dir_fd=top)
save("a", 1, dir_fd=top); save("b", 2, dir_fd=sub); save("../c", 3, dir_fd=sub); save(f"{data}/d", 4, dir_fd=sub)
os.chdir("/"); save("e", 5, dir_fd=sub)
os.mkdir("f", dir_fd=sub); os.unlink("b", dir_fd=sub)""",
        folders=["sub"],
    )
    expect_equal(sums, {"a": 1, "sub/b": 2, "c": 3, "d": 4, "sub/e": 5}, "bytes")


def case_strange_names(folder):
    sums, _ = written(
        folder,
        """
save(b"not \\xff utf-8", 1); save("quote\\"back\\\\slash", 2); save("n" * 255, 3)
save("\\u00e9\\u4e2d", 4); save("x (deleted)", 5)
try: new("n" * 256)
except OSError as error: assert error.errno == errno.ENAMETOOLONG
try: new("p/" * 3000)
except OSError as error: assert error.errno == errno.ENAMETOOLONG
""",
    )
    expect_equal(sorted(sums.values()), [1, 2, 3, 4, 5], "bytes")
    expect_equal(
        {name for name in sums if "not" not in name},
        {'quote"back\\slash', "n" * 255, "\u00e9\u4e2d", "x (deleted)"},
        "names",
    )


def case_errors_are_told(folder):
    _, (trace,) = written(
        folder,
        """
C = ctypes.CDLL(None, use_errno=True)
save("a", 1)
for path in (b"none", b"a/b"): assert C.open(path, 0) == -1
for bad in (None, ctypes.c_void_p(8)): assert C.open(bad, 0) == -1 and ctypes.get_errno() == errno.EFAULT
assert C.stat(ctypes.c_void_p(8), ctypes.create_string_buffer(256)) == -1 and ctypes.get_errno() == errno.EFAULT
assert C.read(-1, None, 0) == -1 and C.close(-1) == -1 and C.close(100000000) == -1
assert C.rename(b"none", b"other") == -1 and ctypes.get_errno() == errno.ENOENT
""",
    )
    failed = {
        (event["name"], event["args"]["errno"]) for event in trace.user_events() if event["args"].get("ret") == -1
    }
    expect_equal(failed, {("open", 2), ("open", 20), ("rename", 2)}, "failed calls")


# ---- Descriptors -----------------------------------------------------------------------------------------------------


def case_copies(folder):
    sums, _ = written(
        folder,
        """
import fcntl, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
a = new("a"); put(os.dup(a), 1); put(os.dup2(a, 50), 10); put(os.dup2(a, 51, inheritable=False), 100)
put(fcntl.fcntl(a, fcntl.F_DUPFD, 60), 1000); put(fcntl.fcntl(a, fcntl.F_DUPFD_CLOEXEC, 60), 10000)
put(os.dup2(a, 15000), 100000)
b = new("b"); os.dup2(b, 50); put(50, 7); put(15000, 1)""",
    )
    expect_equal(sums, {"a": 111112, "b": 7}, "bytes")


def case_numbers_that_are_used_again(folder):
    sums, _ = written(
        folder,
        """
a = new("a"); put(a, 1); os.close(a)
b = new("b"); assert a == b; put(b, 2); os.close(b)
s, t = socket.socketpair(); assert s.fileno() == a; os.write(s.fileno(), bytes(100)); s.close(); t.close()
r, w = os.pipe(); os.write(w, bytes(100)); os.close(r); os.close(w)
c = new("c"); put(c, 3); os.closerange(c, c + 10)
d = new("d"); assert d == c; put(d, 4); ctypes.CDLL(None).closefrom(d)
e = new("e"); assert e == d; put(e, 5)
f = os.memfd_create("memory"); put(f, 1000)
""",
    )
    expect_equal(sums, {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, "bytes")


def case_open_files_that_are_renamed_or_removed(folder):
    sums, _ = written(
        folder,
        """
a = new("a"); put(a, 1); os.rename("a", "b"); put(a, 10); os.unlink("b"); put(a, 100)
c = new("sub/c"); put(c, 2); os.rename("sub", "moved"); put(c, 20)""",
        folders=["sub"],
    )
    expect_equal(sums, {"a": 1, "b": 110, "sub/c": 2, "moved/c": 20}, "bytes")


def case_open_files_that_leave_the_recorded_folder(folder):
    """They stay recorded up to their close, under the name that they have then; also one that is removed there."""
    sums, (trace,) = written(
        folder,
        """
a = new("a"); put(a, 1); os.rename("a", "../a"); put(a, 10); os.close(a)
b = new("b"); os.rename("b", "../b"); os.unlink("../b"); put(b, 100); os.close(b)""",
    )
    outside = os.path.realpath(folder)
    expect_equal(sums, {"a": 1, f"{outside}/a": 10, f"{outside}/b": 100}, "bytes")
    closed = [path for path, events in events_by_path(trace).items() if any(e["name"] == "close" for e in events)]
    expect_equal(sorted(closed), [f"{outside}/a", f"{outside}/b"], "closed files")


def case_inherited_descriptors(folder):
    data = os.path.join(os.path.realpath(folder), "data")
    os.mkdir(data)
    for number, name in enumerate(("first", "second")):
        fd = os.open(os.path.join(data, name), os.O_WRONLY | os.O_CREAT, 0o600)
        script = f"import os; os.write({fd}, bytes({number + 5})); os.write(os.dup({fd}), bytes(10))"
        done = subprocess.run(
            [sys.executable, "-B", "-I", "-c", script], env=traced(folder, DATA_DIR=data), pass_fds=[fd], check=True
        )
        expect_equal(done.returncode, 0, "the program")
        os.close(fd)
    sums = traced_bytes(read_folder(folder))
    expect_equal(
        {os.path.basename(path): count for (path, _), count in sums.items()}, {"first": 15, "second": 16}, "bytes"
    )


def case_an_inherited_descriptor_whose_file_is_renamed(folder):
    """It was opened by nobody here, and its number is the highest."""
    data = os.path.join(os.path.realpath(folder), "data")
    os.mkdir(data)
    fd = os.dup2(os.open(os.path.join(data, "a"), os.O_WRONLY | os.O_CREAT, 0o600), 500)
    script = f"import os; os.write({fd}, bytes(1)); os.rename('a', 'b'); os.write({fd}, bytes(10))"
    env = traced(folder, DATA_DIR=data)
    subprocess.run([sys.executable, "-B", "-I", "-c", script], env=env, cwd=data, pass_fds=[fd], check=True)
    os.close(fd)
    sums = traced_bytes(read_folder(folder))
    expect_equal({os.path.basename(path): count for (path, _), count in sums.items()}, {"a": 1, "b": 10}, "bytes")


# ---- Prefixes --------------------------------------------------------------------------------------------------------

PLACES = ["a", "a/b", "a/b/c", "a/b/c/d", "ab"]
EVERYWHERE = """
for number, place in enumerate(("", "a", "a/b", "a/b/c", "a/b/c/d", "ab")):
    save(os.path.join(data, place, "file"), number + 1)
"""


def recorded(folder, data_dir, exclude="", before="", **settings):
    data = os.path.join(os.path.realpath(folder), "data")
    settings["DATA_DIR"] = data_dir.replace("DATA", data)
    if exclude:
        settings["EXCLUDE_DIR"] = exclude.replace("DATA", data)
    sums, _ = written(folder, before + EVERYWHERE, folders=PLACES, **settings)
    return sorted(count for name, count in sums.items() if name.endswith("file"))


def case_prefixes_are_folders(folder):
    expect_equal(recorded(folder, "DATA/a"), [2, 3, 4, 5], "a, not ab")


def case_overlapping_and_nested_prefixes(folder):
    expect_equal(recorded(folder, "DATA/a/b:DATA/a/b/c/:DATA/ab/"), [3, 4, 5, 6], "each once")


def case_an_excluded_folder_inside(folder):
    expect_equal(recorded(folder, "DATA/a:DATA/a/b/c/d", exclude="DATA/a/b"), [2, 5], "the innermost decides")


def case_relative_prefix(folder):
    expect_equal(recorded(folder, "a/b/../b:./ab"), [3, 4, 5, 6], "as seen from the working folder")


def case_prefix_through_a_link(folder):
    data = os.path.join(os.path.realpath(folder), "data")
    os.makedirs(os.path.join(data, "a"))
    os.symlink("a", os.path.join(data, "link"))
    expect_equal(
        recorded(folder, "DATA/link", before="save(f'{data}/link/named_file', 9)\n"), [2, 3, 4, 5, 9], "both names"
    )


def case_link_to_a_prefix(folder):
    """The setting has the folder as it is: a link to it is another name, but for those who work in there."""
    script = "save('link/f', 1); os.chdir('link'); save('g', 2); save('../ab/h', 3)"
    before = "os.symlink('a', 'link')\n"
    data = os.path.join(os.path.realpath(folder), "data")
    sums, _ = written(folder, before + script, folders=["a", "ab"], DATA_DIR=f"{data}/a")
    expect_equal(sums, {"a/g": 2}, "bytes")


def case_prefix_below_an_opened_folder(folder):
    sums, _ = written(
        folder,
        """
top = os.open("/", os.O_RDONLY); here = os.open(data, os.O_RDONLY)
save("a/x", 1, dir_fd=here); save(data[1:] + "/a/y", 2, dir_fd=top); save("z", 3, dir_fd=here)""",
        folders=["a"],
        DATA_DIR=os.path.join(os.path.realpath(folder), "data", "a"),
    )
    expect_equal(sums, {"a/x": 1, "a/y": 2}, "bytes")


def case_built_in_exclusions(folder):
    script = """
open("/proc/self/status").read(); open("/sys/kernel/mm/transparent_hugepage/enabled").read()
os.write(new("/dev/null"), b"x")
save("/dev/shm/dft-test-shm", 5); os.unlink("/dev/shm/dft-test-shm"); save("a", 1); save("fake.pfw.gz", 7)"""
    sums, (trace,) = written(folder, script, DATA_DIR="all")
    expect_equal(sums, {"a": 1}, "bytes")
    expect(not [path for path in events_by_path(trace) if path.startswith(("/proc", "/sys", "/dev"))], "excluded")


def case_exclusions_can_be_changed(folder):
    script = 'save("/dev/shm/dft-test-shm", 5); os.unlink("/dev/shm/dft-test-shm"); save("a", 1)'
    sums, _ = written(folder, script, DATA_DIR="all:/dev/shm")
    expect_equal(sums, {"a": 1, "/dev/shm/dft-test-shm": 5}, "an inner data dir")


def case_switches(folder):
    script = """
save("a", 1)
C = ctypes.CDLL(None); C.fopen.restype = ctypes.c_void_p
f = ctypes.c_void_p(C.fopen(b"b", b"w")); C.fputs(b"text", f); C.fclose(f)"""
    for number, (settings, names) in enumerate(
        (
            ({}, {"POSIX", "STDIO"}),
            ({"DISABLE_POSIX": 1}, {"STDIO"}),
            ({"DISABLE_STDIO": 1}, {"POSIX"}),
            ({"CATEGORIES": "STDIO"}, {"STDIO"}),
        )
    ):
        inner = os.path.join(folder, str(number))
        os.mkdir(inner)
        _, (trace,) = written(inner, script, **settings)
        expect_equal({event["cat"] for event in trace.user_events()}, names, str(settings))
        expect(trace.path.endswith("-preload.pfw.gz"), trace.path)
    for number, settings in enumerate(({"DISABLE_IO": 1}, {"ENABLE": 0}, {"DATA_DIR": "/nowhere", "DISABLE_POSIX": 1})):
        inner = os.path.join(folder, f"off{number}")
        os.mkdir(inner)
        written(inner, script, traces=0, **settings)


def case_more_paths_than_are_kept(folder):
    """Beyond 60,000 paths they travel in their events."""
    _, (trace,) = written(
        folder,
        """
C = ctypes.CDLL(None)
for i in range(63000): C.access(b"%s/none%d" % (data.encode(), i), 0)
save("last", 3)""",
    )
    found = events_by_path(trace)
    expect_equal(sum(len(events) for path, events in found.items() if "/none" in path), 63000, "calls")
    expect_equal(len([path for path in found if "/none" in path]), 63000, "paths")
    last = [events for path, events in found.items() if path.endswith("/last")]
    expect_equal(
        [event["name"] for event in last[0] if event["name"] != "fstat"], ["open", "write", "close"], "the last one"
    )


main(globals())
