"""test_loaded.py - programs with libraries that interfere: sanitizers, allocators, other preloads; and real programs.

A real program's file operations are recorded through the preload. dd acknowledges each block by the length of its file.
SPDX-License-Identifier: MIT
"""

import glob
import os
import shutil
import signal
import subprocess
import sys
import time

from harness import (
    Skip,
    act,
    compile_to,
    environment,
    expect,
    expect_equal,
    main,
    read_folder,
    recover,
    run,
    seeded,
    table,
    trials,
    untraced,
)
from oracle import judge, same_host, tally

PRELOAD = os.environ["DFT_TEST_PRELOAD"]
SOURCE = os.environ["DFT_TEST_SOURCE"]
LIBRARY = os.environ["DFT_TEST_LIBRARY"]
BUILD = os.environ["DFT_TEST_BUILD"]
BLOCKS = 2000

OTHER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
static int calls;
ssize_t write(int fd, const void *data, size_t len) {
  ssize_t (*next)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  calls++;
  return next(fd, data, len);
}
int open64(const char *path, int flags, ...) {
  int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
  return next(path, flags, 0666);
}
"""


def jemalloc():
    found = glob.glob("/usr/lib/*/libjemalloc.so.2") + glob.glob("/usr/lib*/libjemalloc.so.2")
    if not found:
        raise Skip("libjemalloc2 is not installed")
    return found[0]


def preload(folder, which):
    """The value of LD_PRELOAD with these libraries, in this order."""
    files = {"ours": PRELOAD}
    if "jemalloc" in which:
        files["jemalloc"] = jemalloc()
    if "other" in which:
        files["other"] = compile_to(f"{folder}/other.so", OTHER, "-shared", "-fPIC")
    return ":".join(files[name] for name in which.split())


# ---- actor, which records by calls -----------------------------------------------------------------------------------

ACTIONS = (
    "events 6000 return 7",
    "threads 4 3000 return 7",
    "events 1000 children 5 100 exit return 7",
    "events 6000 kill",
    "events 3000 exec events 3000 exit 7",
)


def act_with(folder, which):
    for number, words in enumerate(ACTIONS):
        inner = f"{folder}/{number}"
        os.mkdir(inner)
        act(inner, words, in_flight=0, extra={"LD_PRELOAD": preload(folder, which)})


def case_a_host_with_the_address_sanitizer(folder):
    sanitized(folder, "-fsanitize=address")


def case_a_host_with_the_thread_sanitizer(folder):
    sanitized(folder, "-fsanitize=thread")


def case_a_host_with_the_undefined_behaviour_sanitizer(folder):
    sanitized(folder, "-fsanitize=undefined")


def sanitized(folder, option):
    """actor built so; sanitizers of older compilers need an address space without randomisation."""
    with open(f"{SOURCE}/tests/faults/actor.c") as file:
        source = file.read()
    os.mkdir(f"{folder}/bin")
    paths = [f"-I{SOURCE}/c/include", f"-I{BUILD}/c/include", f"-I{SOURCE}/tests/faults", LIBRARY, "-pthread"]
    paths.append(f"-Wl,-rpath,{os.path.dirname(LIBRARY)}")
    compile_to(f"{folder}/bin/actor", source, option, "-g", *paths)
    before = ("setarch", "-R") if run(["setarch", "-R", "true"], None).returncode == 0 else ()
    for number, words in enumerate(ACTIONS):
        inner = f"{folder}/{number}"
        os.mkdir(inner)
        act(inner, words, in_flight=0, before=before, binary=f"{folder}/bin/actor",
            extra={"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "report_bugs=0"})


# ---- Real programs ---------------------------------------------------------------------------------------------------


def dd(target):
    return ["dd", "if=/dev/zero", f"of={target}", "bs=512", f"count={BLOCKS}", "status=none"]


def writes(folder, target):
    """How often the traces say that the file was written."""
    count = 0
    for trace in read_folder(folder, dangling=True, small=True):
        files = {event["args"]["value"]: event["args"]["name"] for event in trace.named("FH")}
        count += sum(files.get(event["args"].get("fhash")) == target for event in trace.named("write"))
    return count


def dd_with(folder, which):
    env = {**environment(f"{folder}/out"), "LD_PRELOAD": preload(folder, which)}
    target = f"{folder}/target"
    traced, plain = run(dd(target), env), run(dd(f"{folder}/plain"), untraced())
    tally.trials += 1
    same_host(traced, plain, 0, f"dd with {which}")
    count = writes(f"{folder}/out", target)
    judge({"": list(range(1, count + 1))}, {"": BLOCKS}, 0, f"dd with {which}")


def case_dd_killed(folder):
    """Each block that is in the file was recorded; the last one may be in flight."""
    rng = seeded()
    for number in range(trials(5, 60)):
        out, target = f"{folder}/{number}", f"{folder}/target{number}"
        command = ["dd", "if=/dev/zero", f"of={target}", "bs=512", "count=10000000", "status=none"]
        process = subprocess.Popen(command, env={**environment(out), "LD_PRELOAD": PRELOAD})
        while not os.path.exists(target) or os.path.getsize(target) == 0:
            expect_equal(process.poll(), None, "dd has ended")
            time.sleep(0.0005)
        time.sleep(rng.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.wait()
        tally.trials += 1
        tally.kills += 1
        recover(out)
        blocks, count = os.path.getsize(target) // 512, writes(out, target)
        judge({"": list(range(1, count + 1))}, {"": blocks - 1}, 1, f"dd killed after {blocks} blocks")
        os.unlink(target)
        shutil.rmtree(out)


REAL = {
    "sh": "for i in 1 2 3 4 5; do echo $i >file$i; cat file$i; done; exit 3",
    "a pipe": "seq 20000 >a; sort -r a | head -n 3 | tr 1 x",
    "tar": "mkdir d; seq 1000 >d/a; tar cf t.tar d; tar xf t.tar -O d/a | cksum",
    "gzip": "seq 10000 >a; gzip -k a; gunzip -c a.gz | cksum",
    "find and xargs": "mkdir d; touch d/a d/b d/c; find d -type f | sort | xargs -n 1 ls",
    "python": f"{sys.executable} -c 'import json, os; print(json.dumps([1]), os.getppid() > 0)'",
    "perl": "perl -e 'open(F, \">\", \"x\"); print F 1..50; close F; print -s \"x\", \"\\n\"; exit 5'",
    "awk": "seq 100 >a; awk '{ s += $1 } END { print s }' a",
    "sqlite": "sqlite3 db 'create table t (n); insert into t values (1), (2); select sum(n) from t'",
    "git": "git init -q r && cd r && echo x >f && git add f && git -c user.name=n -c user.email=e commit -qm m",
    "make": "printf 'all: a b\\na b:\\n\\techo $@ >$@\\n' >Makefile; make -j2 -s; cat a b",
    "a compiler": "echo 'int main(void) { return 4; }' >m.c; cc m.c -o m; ./m",
    "a failing program": "cat /nowhere/at/all; exit 9",
    "background processes": "for i in 1 2 3 4; do (seq 1000 >f$i; exit $i) & done; wait; cksum f1 f2 f3 f4",
    "rsync": "mkdir s; seq 500 >s/a; rsync -a s/ t/; cksum t/a",
    "zip": "seq 500 >a; zip -q z.zip a; unzip -p z.zip a | cksum",
    "xz": "seq 500 >a; xz -k a; xz -dc a.xz | cksum",
    "a timeout": "timeout 0.2 sleep 5; echo $?",
}
AROUND = ("ours", "ours jemalloc", "jemalloc ours", "ours other", "other ours")


def real_program(folder, script):
    """The same status, stdout and stderr with ours alone, and with others before and after it. Traces can be read."""
    results = {}
    for which in ("", *(AROUND if trials(0, 1) else AROUND[:1])):
        try:
            env = {**environment(f"{folder}/out"), "LD_PRELOAD": preload(folder, which)} if which else untraced()
        except Skip:
            continue
        os.makedirs(f"{folder}/work")
        results[which] = run(["sh", "-c", script], {**env, "LC_ALL": "C"}, cwd=f"{folder}/work")
        shutil.rmtree(f"{folder}/work")
        tally.trials += 1
        if results[""].returncode == 127:
            raise Skip(f"not installed: {results[''].stderr.strip()}")
        same_host(results[which], results[""], 0, f"{script} with {which}")
    expect(read_folder(f"{folder}/out", overlap=True, dangling=True), "traces")


table(globals(), {f"actor with {which}": (which,) for which in AROUND}, act_with)
table(globals(), {f"dd with {which}": (which,) for which in AROUND}, dd_with)
table(globals(), {f"the real program {name}": (script,) for name, script in REAL.items()}, real_program)
main(globals())
