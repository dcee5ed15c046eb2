"""test_odd_programs.py - programs that do what few do with files: the same as untraced, and every byte is seen.
SPDX-License-Identifier: MIT
"""

import os
import re
import subprocess
import sys

from io_harness import SOURCE, expect_equal, main, paths
from witness import Witness, tree


def prepare(data):
    os.makedirs(os.path.join(data, "in", "sub"))
    for name, lines in (("text", 2000), ("other", 300), ("sub/small", 1), ("sub/empty", 0)):
        with open(os.path.join(data, "in", name), "w", encoding="utf-8") as file:
            file.write(f"a line of {name}\n" * lines)


def with_file(name, text):
    def prepare_more(data):
        prepare(data)
        with open(os.path.join(data, name), "w", encoding="utf-8") as file:
            file.write(text)

    return prepare_more


def without(*names):
    return lambda data: {name: text for name, text in tree(data).items() if name not in names}


def compiled(folder, source, compiler, *flags):
    program = os.path.join(folder, "program")
    subprocess.run(
        [compiler, "-O1", "-w", f"{SOURCE}/tests/intercept/programs/{source}", "-o", program, *flags], check=True
    )
    return program


def odd(folder, way, **options):
    return Witness(folder, prepare).check([compiled(folder, "odd.c", "cc", "-pthread"), way], **options)


# ---- Tools -----------------------------------------------------------------------------------------------------------


def case_rsync(folder):
    hidden = lambda name: re.sub(r"\.(\w+)\.\w{6}$", r".\1.XXXXXX", name)  # noqa: E731
    Witness(folder, prepare, "rsync").check(["rsync", "-a", "in/", "out/"], same=hidden)


def case_zip(folder):
    script = "zip -qrX a.zip in && unzip -q a.zip -d out && zip -qd a.zip in/other"
    same = lambda name: re.sub(r"^zi\w{6}$", "ziXXXXXX", name)  # noqa: E731
    Witness(folder, prepare, "zip", "unzip").check(["sh", "-c", script], left=without("a.zip"), same=same)


def case_perl(folder):
    script = """opendir(D, "in"); my @names = sort grep { -f "in/$_" } readdir(D);
      open(O, ">", "sizes");
      for (@names) { open(I, "<", "in/$_"); local $/; my $text = <I>; print O length($text), "\\n"; }
      close O; open(A, ">>", "sizes"); syswrite(A, "end\\n"); close A; rename("sizes", "done");"""
    Witness(folder, with_file("script.pl", script), "perl").check(["perl", "script.pl"])


def case_find_that_runs_others(folder):
    script = (
        "find in -type f -exec cksum {} + | sort > sums; find in -name 't*' -exec cp {} . ';'; find in -empty -delete"
    )
    Witness(folder, prepare).check(["sh", "-c", script])


def case_make_with_many_jobs(folder):
    rules = "all: a b c d\n\na b c d: in/text\n\tcat in/text in/other > $@\n\tcat $@ >> $@.twice\n"
    Witness(folder, with_file("Makefile", rules), "make").check(["make", "-j4", "-s"])


def case_setsid(folder):
    script = "setsid -w sh -c 'cat in/text > one; (cat in/other > two) & wait'; cat one two | tail -n 1"
    Witness(folder, prepare, "setsid").check(["sh", "-c", script])


def case_python_library(folder):
    script = """
import os, pathlib, shutil, tarfile, tempfile, zipfile
shutil.copytree("in", "copy"); shutil.move("copy/text", "moved")
place = pathlib.Path("x/y"); place.mkdir(parents=True); (place / "z").write_text("hello"); (place / "z").read_text()
source = os.open("in/text", os.O_RDONLY); target = os.open("sent", os.O_RDWR | os.O_CREAT)
print(os.sendfile(target, source, 10, 5000), os.copy_file_range(source, target, 1000))
with tempfile.NamedTemporaryFile(dir=".") as file: file.write(b"abc" * 1000); file.flush()
with zipfile.ZipFile("made.zip", "w") as archive: archive.write("in/text")
with tarfile.open("made.tar", "w") as archive: archive.add("in")
os.replace("sent", "sent2"); os.link("sent2", "sent3"); os.truncate("sent3", 3)
for entry in sorted(os.scandir("in"), key=lambda entry: entry.name): print(entry.name, entry.stat().st_size)
shutil.rmtree("copy"); print(sorted(os.listdir(".")))"""
    Witness(folder, with_file("script.py", script)).check(
        [sys.executable, "-B", "-I", "script.py"],
        same=lambda name: re.sub(r"^tmp\w{8}$", "tmpXXXXXXXX", name),
        left=without("made.tar", "made.zip"),
    )


def case_iostreams(folder):
    Witness(folder, prepare, "g++").check([compiled(folder, "iostreams.cpp", "g++", "-std=c++17")])


# ---- odd.c -----------------------------------------------------------------------------------------------------------


def case_all_descriptors_closed(folder):
    odd(folder, "close_all")


def case_forks_in_threads(folder):
    odd(folder, "fork_in_threads")


def case_posix_spawn(folder):
    odd(folder, "spawn")


def case_files_without_a_name(folder):
    """A file is found by its descriptor where its path does not say what it is."""
    traces = odd(folder, "unnamed", same=lambda name: re.sub(r"^#\d+$", "#", name))
    named = {os.path.basename(path) for trace in traces for path in paths(trace).values()}
    expect_equal(bool({"fd", "stdin"} & named), False, f"nothing is booked on a number: {named}")


def case_large_numbers(folder):
    odd(folder, "large_numbers")


def case_streams_of_all_kinds(folder):
    odd(folder, "streams")


def case_errors(folder):
    odd(folder, "errors")


main(globals())
