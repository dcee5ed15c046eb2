"""What dftracer.h promises besides its macros: when recording starts, whose names it leaves alone, odd arguments."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests"))
import trace

import programs


def events(folder):
    return [event for one in trace.read_folder(folder, overlap=True) for event in one.user_events()]


def names(folder):
    return [event["name"] for event in events(folder) if event["ph"] == "X"]


def recording_starts_with_the_initialise_call(scratch):
    program = programs.build_text(scratch, "start.c", """
        #include <dftracer/dftracer.h>
        static void region(void) { DFTRACER_C_FUNCTION_START(); DFTRACER_C_FUNCTION_END(); }
        int main(int argc, char **argv) {
          region();
          DFTRACER_C_METADATA(early, "early", "yes");
          DFTRACER_C_MARK_USED("early");
          log_event("early", "cat", get_time(), 1);
          finalize_region(initialize_region("early", "cat", DF_DATA_EVENT));
          if (get_time() != 0) return 1;
          if (argc > 1) DFTRACER_C_INIT(argv[1], NULL, NULL);
          region();
          DFTRACER_C_FINI();
          region();
          return 0;
        }""")  # fmt: skip
    programs.trace(program, f"{scratch}/never")
    assert not os.listdir(f"{scratch}/never")
    programs.trace(program, f"{scratch}/env", f"{scratch}/call/mine.pfw")
    assert not os.listdir(f"{scratch}/env"), "the call's log file comes before the environment's"
    assert os.path.exists(f"{scratch}/call/mine.pfw.gz")
    assert [event["name"] for event in events(f"{scratch}/call")] == ["region"]


def a_second_initialise_goes_on_and_a_later_one_opens_anew(scratch):
    program = programs.build_text(scratch, "again.c", """
        #include <dftracer/dftracer.h>
        static void region(void) { DFTRACER_C_FUNCTION_START(); DFTRACER_C_FUNCTION_END(); }
        int main(int argc, char **argv) {
          if (argc < 2) return 1;
          DFTRACER_C_INIT_NO_BIND(argv[1], NULL, NULL);
          region();
          DFTRACER_C_INIT_NO_BIND(argv[2], NULL, NULL);
          region();
          DFTRACER_C_FINI();
          DFTRACER_C_FINI();
          DFTRACER_C_INIT(argv[2], "", NULL);
          region();
          return 0; /* without an end: the library completes the trace */
        }""")  # fmt: skip
    programs.trace(program, f"{scratch}/again", f"{scratch}/one/t.pfw", f"{scratch}/two/t.pfw")
    assert names(f"{scratch}/one") == ["region"] * 2 and names(f"{scratch}/two") == ["region"]


def a_program_keeps_its_own_functions(scratch):
    """In another file, and in a library that is searched after ours."""
    own = """
        int finalize(int x) { return x + 1; }
        double get_time(void) { return 0.5; }
        int log_event(void) { return 3; }
        int mark_used(void) { return 4; }
        int initialize_main(void) { return 5; }
        int own_functions(void) { return finalize(1) == 2 && get_time() == 0.5 && log_event() == 3 &&
                                         mark_used() == 4 && initialize_main() == 5; }"""
    with open(f"{scratch}/own.c", "w", encoding="ascii") as file:
        file.write(own)
    programs.run("gcc", "-shared", "-fPIC", f"{scratch}/own.c", "-o", f"{scratch}/libown.so")
    program = programs.build_text(scratch, "host.c", """
        #include <dftracer/dft.h>
        int own_functions(void);
        int finalize(int);
        double get_time(void);
        int main(void) {
          dft_start(NULL);
          dft_instant("here", "host");
          dft_stop();
          return own_functions() && finalize(2) == 3 && get_time() == 0.5 ? 0 : 1;
        }""", "-L", scratch, "-lown", f"-Wl,-rpath,{scratch}")  # fmt: skip
    programs.trace(program, f"{scratch}/host")
    assert names(f"{scratch}/host") == ["here"]
    beside = programs.build_text(scratch, "beside.c", """
        #include <dftracer/dftracer.h>
        int own_functions(void);
        int main(void) {
          DFTRACER_C_INIT(NULL, NULL, NULL);
          DFTRACER_C_REGION_START(R);
          DFTRACER_C_REGION_END(R);
          DFTRACER_C_FINI();
          return own_functions() ? 0 : 1;
        }""", "-L", scratch, "-lown", f"-Wl,-rpath,{scratch}")  # fmt: skip
    programs.trace(beside, f"{scratch}/beside")
    assert names(f"{scratch}/beside") == ["R"]


def in_cpp_its_own_are_preferred(scratch):
    for compiler in programs.compilers(".cpp"):
        program = programs.build_text(scratch, "own.cpp", """
            #include <dftracer/dftracer.h>
            double get_time() { return 2.5; }
            int main() { return get_time() == 2.5 ? 0 : 1; }""", compiler=compiler)  # fmt: skip
        programs.run(program)
        program = programs.build_text(scratch, "ours.cpp", """
            #include <dftracer/dftracer.h>
            int main() {
              DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
              TimeResolution start = get_time();
              log_event("logged", "cat", start, 7);
              return start > 0 ? 0 : 1;
            }""", compiler=compiler)  # fmt: skip
        programs.trace(program, f"{scratch}/{compiler}")
        assert [event["dur"] for event in events(f"{scratch}/{compiler}")] == [7]
    own = programs.build_text(scratch, "short.c", """
        #define DFTRACER_NO_SHORT_NAMES
        #include <dftracer/dftracer.h>
        static double get_time(void) { return 2.5; }
        int main(void) { return get_time() == 2.5 ? 0 : 1; }""")  # fmt: skip
    programs.run(own)


def odd_arguments_harm_nobody(scratch):
    program = programs.build_text(scratch, "odd.c", """
        #include <dftracer/dftracer.h>
        int main(void) {
          static char longest[100000];
          memset(longest, 'x', sizeof longest - 1);
          DFTRACER_C_INIT(NULL, NULL, NULL);
          DFTRACER_C_REGION_START(odd);
          DFTRACER_C_REGION_UPDATE_STR(odd, NULL, "v");
          DFTRACER_C_REGION_UPDATE_STR(odd, "none", NULL);
          DFTRACER_C_REGION_UPDATE_STR(odd, "quote", "a\\"b\\\\c\\n\\xff");
          DFTRACER_C_REGION_UPDATE_STR(odd, "long", longest);
          DFTRACER_C_REGION_UPDATE_INT(odd, longest, 1);
          DFTRACER_C_REGION_UPDATE_INT(odd, "wide", 1LL << 40);
          DFTRACER_C_REGION_END(odd);
          DFTRACER_C_REGION_UPDATE_INT(odd, "late", 1);
          DFTRACER_C_REGION_END(odd);
          finalize_region(NULL);
          update_metadata_string(NULL, "k", "v");
          finalize_region(initialize_region(NULL, NULL, DF_DATA_EVENT));
          finalize_region((struct DFTracerData *)&longest);
          initialize_region(NULL, NULL, DF_METADATA_EVENT);
          set_app_metadata_string(NULL, NULL);
          mark_used(NULL);
          DFTRACER_C_FINI();
          return 0;
        }""")  # fmt: skip
    programs.trace(program, f"{scratch}/odd")
    odd = [event for event in events(f"{scratch}/odd") if event["name"] == "odd"]
    assert len(odd) == 1 and odd[0]["args"]["wide"] == 1 << 40 and "late" not in odd[0]["args"], odd
    assert odd[0]["args"]["quote"].startswith('a"b\\c\n') and len(odd[0]["args"]["long"]) == 65536


def cpp_numbers_keep_their_type(scratch):
    program = programs.build_text(scratch, "types.cpp", """
        #include <dftracer/dftracer.h>
        #include <atomic>
        #include <utility>
        int main() {
          DFTRACER_CPP_INIT(nullptr, nullptr, nullptr);
          std::atomic<int> shared(9);
          DFTracer first("numbers", "cat", DF_DATA_EVENT);
          first.update("size", sizeof(int));
          first.update("big", 18446744073709551615ull);
          first.update("real", 3.25);
          first.update("small", 0.5f);
          first.update("long", -5L);
          first.update("char", 'a');
          first.update("flag", true);
          first.update("shared", shared);
          first.update("zero", 0);
          first.update("none", nullptr);
          DFTracer second(std::move(first));
          first.update("lost", 1);
          first.finalize();
          second.update("moved", 1);
          second.finalize();
          second.update("late", 1);
          return 0;
        }""")  # fmt: skip
    programs.trace(program, f"{scratch}/types")
    args = events(f"{scratch}/types")[0]["args"]
    expected = {"size": 4, "big": 2**64 - 1, "real": 3.25, "small": 0.5, "long": -5, "char": 97, "flag": 1, "shared": 9,
                "zero": 0, "moved": 1}  # fmt: skip
    assert expected.items() <= args.items() and not {"lost", "late"} & args.keys(), args


def every_setting_has_its_name_as_text():
    header = (programs.INCLUDES[1] / "dftracer/names.h").read_text()
    found = dict(re.findall(r'#define (DFTRACER_\w+) "(\w+)"', header))
    assert all(name == text for name, text in found.items()), found
    listed = programs.run(os.environ["DFT_TEST_COMMAND"], "config", "--markdown")
    settings = set(re.findall(r"^\| `(DFTRACER_\w+)`", listed, re.MULTILINE))
    assert len(settings) > 15 and settings <= found.keys(), settings - found.keys()


with tempfile.TemporaryDirectory() as folder:
    recording_starts_with_the_initialise_call(folder)
    a_second_initialise_goes_on_and_a_later_one_opens_anew(folder)
    a_program_keeps_its_own_functions(folder)
    in_cpp_its_own_are_preferred(folder)
    odd_arguments_harm_nobody(folder)
    cpp_numbers_keep_their_type(folder)
every_setting_has_its_name_as_text()
