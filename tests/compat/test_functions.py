"""Programs built with -finstrument-functions: every function is an event of category FUNC with its symbol's name."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests"))
import trace

import normal
import programs

FLAGS = "-finstrument-functions"

PROGRAM = """
#include <dftracer/dftracer.h>
#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>
int library_call(int);
static jmp_buf back;
static int leaf(int n) { usleep(300); return n + 1; }
static void thrown(int n) { usleep(300); if (n) longjmp(back, 1); }
static void between(int n) { thrown(n); usleep(300); }
static int jumps(int n) { if (!setjmp(back)) between(n); usleep(300); return leaf(n); }
static int again(int n) { usleep(300); return n ? again(n - 1) : 0; }
static void *worker(void *argument) { usleep(300); leaf(*(int *)argument); return NULL; }
int main(void) {
  pthread_t thread;
  int number = 3;
  DFTRACER_C_INIT_NO_BIND(NULL, NULL, NULL);
  again(1);
  DFTRACER_C_REGION_START(MINE);
  DFTRACER_C_REGION_UPDATE_INT(MINE, "number", number);
  leaf(library_call(1));
  DFTRACER_C_REGION_END(MINE);
  for (int i = 0; i < 3; i++) jumps(1);
  pthread_create(&thread, NULL, worker, &number);
  pthread_join(thread, NULL);
  usleep(300);
  DFTRACER_C_FINI();
  return 0;
}
"""
LIBRARY = """
#include <unistd.h>
int library_call(int n);
static int hidden(int n) { usleep(300); return n; }
int library_call(int n) { usleep(300); return hidden(n); }
"""
EXPECTED = """process
thread
main FUNC open=1
  again FUNC
    again FUNC
  MINE C_APP number=3
    library_call FUNC
      hidden FUNC
    leaf FUNC
"""


def build(folder, compiler):
    library = Path(folder) / "libpart.so"
    (Path(folder) / "part.c").write_text(LIBRARY)
    programs.run(compiler, "-shared", "-fPIC", FLAGS, Path(folder) / "part.c", "-o", library)
    return programs.build_text(folder, "program.c", PROGRAM, FLAGS, "-O1", "-L", folder, "-lpart",
                               f"-Wl,-rpath,{folder}", compiler=compiler), library  # fmt: skip


def functions(folder):
    return [event for one in trace.read_folder(folder) for event in one.user_events() if event["cat"] == "FUNC"]


def every_function_has_its_name(program, traces):
    programs.trace(program, traces)
    found = normal.folder(traces)
    assert found.startswith(EXPECTED), found
    assert "thread\nworker FUNC\n  leaf FUNC\n" in found, found
    names = [event["name"] for event in functions(traces)]
    # What a long jump leaves behind ends with the function that it jumped to.
    for name in ("jumps", "between", "thrown"):
        assert names.count(name) == 3, names
    assert names.count("leaf") == 5 and names.count("main") == 1
    assert not [name for name in names if name.startswith(("dft_", "dftracer_", "finalize", "update_"))], names
    levels = {event["name"]: event["args"]["level"] for event in functions(traces)}
    assert levels["jumps"] == levels["main"] + 1, "frames pile up"


def without_symbols_the_address_is_told(program, library, traces):
    """The library still exports one of its functions; the program has nothing left."""
    programs.run("strip", program)
    programs.run("strip", library)
    programs.trace(program, traces)
    names = {event["name"] for event in functions(traces)}
    assert "library_call" in names and "hidden" not in names
    assert any(name.startswith("program.program+0x") for name in names), names
    assert any(name.startswith("libpart.so+0x") for name in names), names


def a_recovery_knows_them_too(scratch):
    program = programs.build_text(scratch, "dies.c", """
        #include <signal.h>
        #include <unistd.h>
        static void inner(void) { usleep(10); }
        static void dies(void) { inner(); kill(getpid(), SIGKILL); }
        int main(void) { dies(); return 0; }""", FLAGS)  # fmt: skip
    traces = f"{scratch}/dead"
    os.makedirs(traces)
    environment = dict(os.environ, DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=f"{traces}/trace")
    assert subprocess.run([program], env=environment, check=False).returncode == -signal.SIGKILL
    programs.run(os.environ["DFT_TEST_COMMAND"], "recover", traces)
    found = {event["name"]: event["args"].get("open") for event in functions(traces)}
    assert found == {"inner": None, "dies": 1, "main": 1}, found


def a_file_that_changed_names_nothing(scratch):
    """The functions of another program at these addresses are not those that ran."""
    program = programs.build_text(scratch, "changes.c", """
        #include <signal.h>
        #include <unistd.h>
        static void inner(void) { usleep(10); }
        int main(void) { inner(); kill(getpid(), SIGKILL); return 0; }""", FLAGS)  # fmt: skip
    traces = f"{scratch}/changed"
    os.makedirs(traces)
    environment = dict(os.environ, DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=f"{traces}/trace")
    subprocess.run([program], env=environment, check=False)
    program.rename(f"{program}.old")
    programs.run("cp", f"{program}.old", program)
    programs.run(os.environ["DFT_TEST_COMMAND"], "recover", traces)
    assert all(event["name"].startswith("changes.program+0x") for event in functions(traces))


def it_may_be_left_out_and_paused(program, scratch):
    programs.trace(program, f"{scratch}/muted", CATEGORIES="C_APP")
    assert not functions(f"{scratch}/muted") and len(trace.read_folder(f"{scratch}/muted")) == 1
    paused = programs.build_text(scratch, "paused.c", """
        #include <dftracer/dft.h>
        static void recorded(void) {}
        static void unseen(void) { recorded(); }
        int main(void) {
          recorded();
          dft_pause();
          for (int i = 0; i < 100; i++) unseen();
          dft_resume();
          recorded();
          return 0;
        }""", FLAGS)  # fmt: skip
    programs.trace(paused, f"{scratch}/paused")
    found = [(event["name"], event["args"]["level"]) for event in functions(f"{scratch}/paused")]
    assert found == [("recorded", 2), ("recorded", 2), ("main", 1)], found


def in_cpp_an_exception_ends_them(scratch):
    for compiler in programs.compilers(".cpp"):
        program = programs.build_text(scratch, "throws.cpp", """
            static void inner() { throw 1; }
            static int outer() { try { inner(); } catch (int n) { return n; } return 0; }
            int main() { for (int i = 0; i < 3; i++) outer(); return 0; }""", FLAGS, compiler=compiler)  # fmt: skip
        programs.trace(program, f"{scratch}/{compiler}")
        found = [(event["name"], event["args"]["level"]) for event in functions(f"{scratch}/{compiler}")]
        assert sorted(found) == sorted([("_ZL5innerv", 3), ("_ZL5outerv", 2)] * 3 + [("main", 1)]), found


def the_hooks_of_others_are_called_as_before(scratch):
    (Path(scratch) / "hooks.c").write_text("""
        int hook_calls;
        void __cyg_profile_func_enter(void *f, void *c) { (void)f; (void)c; hook_calls++; }
        void __cyg_profile_func_exit(void *f, void *c) { (void)f; (void)c; hook_calls += 100; }""")
    programs.run("gcc", "-shared", "-fPIC", f"{scratch}/hooks.c", "-o", f"{scratch}/libhooks.so")
    program = programs.build_text(scratch, "hooked.c", """
        extern int hook_calls;
        static void work(void) {}
        int main(void) { work(); work(); return hook_calls == 203 ? 0 : 1; }""", FLAGS, "-L", scratch, "-lhooks",
        f"-Wl,-rpath,{scratch}")  # fmt: skip
    programs.trace(program, f"{scratch}/hooked")
    assert len(functions(f"{scratch}/hooked")) == 3
    programs.trace(program, f"{scratch}/hooked-off", enable="0")


for name in programs.compilers(".c"):
    with tempfile.TemporaryDirectory() as folder:
        executable, shared = build(folder, name)
        every_function_has_its_name(executable, f"{folder}/traces")
        it_may_be_left_out_and_paused(executable, folder)
        without_symbols_the_address_is_told(executable, shared, f"{folder}/stripped")
with tempfile.TemporaryDirectory() as folder:
    a_recovery_knows_them_too(folder)
    a_file_that_changed_names_nothing(folder)
    in_cpp_an_exception_ends_them(folder)
    the_hooks_of_others_are_called_as_before(folder)
