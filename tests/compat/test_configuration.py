"""The YAML file of DFTRACER_CONFIGURATION, the order of what counts, and variables that have no effect."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests"))
import trace

import programs

COMMAND = os.environ["DFT_TEST_COMMAND"]

DOCUMENTED = """
enable: True        # as in the original's manual
profiler:
  init: PRELOAD
  log_file: LOG
  data_dirs: ./data:/scratch
  log_level: DEBUG
  compression: False
gotcha:
  priority: 1
features:
  metadata: False
  core_affinity: True
  io:
    enable: True
    posix: False
    stdio: True
  tid: False
"""


def config(text, scratch, **variables):
    """What the settings are with this file, and what was said."""
    file = Path(scratch) / "conf.yaml"
    file.write_text(text)
    environment = dict(os.environ, DFTRACER_CONFIGURATION=str(file))
    environment |= {f"DFTRACER_{key}": value for key, value in variables.items()}
    done = subprocess.run([COMMAND, "config"], env=environment, capture_output=True, text=True, check=True)
    found = dict(re.findall(r"^DFTRACER_(\w+)=(.*?)(?:   \(set\))?$", done.stdout, re.MULTILINE))
    return found, done.stderr


def the_documented_keys_are_understood(scratch):
    found, said = config(DOCUMENTED, scratch)
    expected = {"ENABLE": "1", "INIT": "PRELOAD", "DATA_DIR": "./data:/scratch", "LOG_LEVEL": "DEBUG",
                "LOG_FILE": "LOG", "TRACE_COMPRESSION": "0", "INC_METADATA": "0", "SET_CORE_AFFINITY": "1",
                "DISABLE_IO": "0", "DISABLE_POSIX": "1", "DISABLE_STDIO": "0", "DISABLE_TIDS": "1"}  # fmt: skip
    assert expected.items() <= found.items() and not said, (found, said)
    newer, said = config(DOCUMENTED.replace("profiler:", "tracer:"), scratch)
    assert newer == found and not said


def the_file_of_the_documentation_is_right(scratch):
    page = (programs.SOURCE / "docs/configuration.md").read_text()
    found, said = config(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1], scratch)
    expected = {"ENABLE": "1", "DATA_DIR": "/data:/scratch", "LOG_LEVEL": "WARN", "DISABLE_STDIO": "1",
                "DISABLE_IO": "0", "SPOOL_LIMIT": "16M", "TIME_METRIC": "US"}  # fmt: skip
    assert expected.items() <= found.items() and not said, (found, said)


def every_setting_may_stand_in_the_file(scratch):
    found, said = config("tracer: {data_dirs: [/a, /b c], time_metric: ns}\n"
                         'internal: {spool_limit: 8M, sink: ["null", memory], rank: 3}\n', scratch)  # fmt: skip
    expected = {"DATA_DIR": "/a:/b c", "TIME_METRIC": "NS", "SPOOL_LIMIT": "8M", "SINK": "null,memory", "RANK": "3"}
    assert expected.items() <= found.items() and not said, (found, said)


def the_environment_comes_before_the_file(scratch):
    found, said = config(DOCUMENTED, scratch, INIT="HYBRID", DISABLE_POSIX="0", LOG_FILE="")
    assert (found["INIT"], found["DISABLE_POSIX"], found["LOG_FILE"]) == ("HYBRID", "0", "LOG") and not said
    found, said = config("tracer: {init: PRELOAD}", scratch, INIT="SOMETHING")
    assert found["INIT"] == "PRELOAD" and "using PRELOAD" in said, said


def arguments_come_before_the_environment(scratch):
    program = programs.build_text(scratch, "order.c", """
        #include <dftracer/dftracer.h>
        int main(int argc, char **argv) {
          DFTRACER_C_INIT(argc > 1 ? argv[1] : NULL, NULL, NULL);
          DFTRACER_C_REGION_START(R);
          DFTRACER_C_REGION_END(R);
          return 0;
        }""")  # fmt: skip
    file = Path(scratch) / "order.yaml"
    file.write_text(f"enable: on\ntracer:\n  log_file: {scratch}/from_file/t.pfw\n  compression: off\n")
    environment = dict(os.environ, DFTRACER_CONFIGURATION=str(file))
    programs.run(program, env=environment)
    programs.run(program, env=dict(environment, DFTRACER_LOG_FILE=f"{scratch}/from_environment/t.pfw"))
    programs.run(program, f"{scratch}/from_call/t.pfw",
                 env=dict(environment, DFTRACER_LOG_FILE=f"{scratch}/nowhere/t.pfw"))  # fmt: skip
    for name in ("from_file", "from_environment", "from_call"):
        assert os.listdir(f"{scratch}/{name}") == ["t.pfw"]
        assert [len(one.named("R")) for one in trace.read_folder(f"{scratch}/{name}")] == [1]
    assert not os.path.exists(f"{scratch}/nowhere")
    programs.run(program, env=dict(environment, DFTRACER_ENABLE="0", DFTRACER_LOG_FILE=f"{scratch}/nowhere/t.pfw"))
    assert not os.path.exists(f"{scratch}/nowhere")


def what_is_wrong_is_said_once_and_the_rest_is_used(scratch):
    for text, part in (("tracer: {lag_file: x, log_file: y, too: z}", "unknown setting tracer.lag_file"),
                       ("tracer: {init: SOMETIMES, log_file: y}", 'tracer.init: "SOMETIMES" is not allowed'),
                       ("tracer: {log_file: y}\n  wrong: [", "line 2")):  # fmt: skip
        found, said = config(text, scratch)
        assert found["LOG_FILE"] == "y" and part in said and said.count("\n") == 1, (text, said)
    wrong = ["enable: maybe", "tracer:", "  log_file: y", "  data_dir:", "  - a", "  time_metric: YEARS"]
    wrong += ["tracker: {a: 1}"]
    found, said = config("\n".join([*wrong, "features: ["]), scratch)
    for part in ('line 1: enable: "maybe" is not allowed; line 6: tracer.time_metric: "YEARS" is not allowed; line 7: ',
                 "line 7: unknown setting tracker.a; line 9: ", "; the rest of the file is used\n"):  # fmt: skip
        assert part in said and said.count("\n") == 1, said
    assert found["LOG_FILE"] == "y" and found["DATA_DIR"] == "a", found
    _, said = config("\n".join(f"wrong{i}: 1" for i in range(100)), scratch)
    assert "line 9: unknown setting wrong8;" in said and " more errors;" in said and len(said) < 1024, said
    for path, part in ((f"{scratch}/none", "No such file"), (scratch, "Is a directory")):
        done = subprocess.run([COMMAND, "config"], env=dict(os.environ, DFTRACER_CONFIGURATION=path),
                              capture_output=True, text=True, check=True)  # fmt: skip
        assert part in done.stderr and done.stderr.count("\n") == 1, done.stderr
    big = Path(scratch) / "big.yaml"
    big.write_text("# " + "x" * (1 << 20))
    done = subprocess.run([COMMAND, "config"], env=dict(os.environ, DFTRACER_CONFIGURATION=str(big)),
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert "File too large" in done.stderr, done.stderr


def libyaml_is_loaded_only_then(scratch):
    program = programs.build_text(scratch, "maps.c", """
        #include <dftracer/dftracer.h>
        #include <stdio.h>
        int main(void) {
          char line[4096];
          FILE *maps = fopen("/proc/self/maps", "r");
          DFTRACER_C_INIT(NULL, NULL, NULL);
          DFTRACER_C_FINI();
          while (maps && fgets(line, sizeof line, maps)) {
            if (strstr(line, "yaml")) return 1;
          }
          return 0;
        }""")  # fmt: skip
    programs.trace(program, f"{scratch}/maps")


def without_libyaml_it_says_so(scratch):
    fake = Path(scratch) / "fake"
    fake.mkdir()
    (fake / "libyaml-0.so.2").touch()
    found, said = config("enable: true", scratch, **{"LOG_FILE": "x"})
    assert found["ENABLE"] == "1" and not said
    environment = dict(os.environ, DFTRACER_CONFIGURATION=f"{scratch}/conf.yaml", LD_LIBRARY_PATH=str(fake))
    done = subprocess.run([COMMAND, "config"], env=environment, capture_output=True, text=True, check=True)
    assert "DFTRACER_ENABLE=0" in done.stdout and "libyaml-0-2" in done.stderr, done.stderr


def variables_without_effect_are_accepted(scratch):
    silent = {"WRITE_BUFFER_SIZE": "10", "BIND_SIGNALS": "1", "GOTCHA_PRIORITY": "2", "LIBUV_THREADS": "4",
              "TRACE_INTERVAL_MS": "500", "ENABLE_AGGREGATION": "0", "AGGREGATION_TYPE": "FULL",
              "AGGREGATION_FILE": "/x", "TRACE_ALL_FILES": "0", "TRACE_TIDS": "1"}  # fmt: skip
    _, said = config("", scratch, ENABLE="1", **silent)
    assert not said, said
    loud = {"ENABLE_AGGREGATION": "1", "TRACE_ALL_FILES": "1", "TRACE_TIDS": "0"}
    _, said = config("", scratch, ENABLE="1", **(silent | loud))
    assert said.count("\n") == 1 and all(f"DFTRACER_{name} (" in said for name in loud), said
    _, said = config("", scratch, ENABLE="0", **loud)
    assert not said, "nothing is traced, and something is said of the trace"
    _, said = config("features: {aggregation: {enable: true, type: FULL, inclusion: [a, b]}}\n"
                     "internal: {bind_signals: true, write_buffer_size: 10, throw_error: false}\n", scratch,
                     ENABLE="1")  # fmt: skip
    assert said.count("\n") == 1 and "DFTRACER_ENABLE_AGGREGATION (" in said, said


with tempfile.TemporaryDirectory() as folder:
    the_documented_keys_are_understood(folder)
    the_file_of_the_documentation_is_right(folder)
    every_setting_may_stand_in_the_file(folder)
    the_environment_comes_before_the_file(folder)
    arguments_come_before_the_environment(folder)
    what_is_wrong_is_said_once_and_the_rest_is_used(folder)
    libyaml_is_loaded_only_then(folder)
    without_libyaml_it_says_so(folder)
    variables_without_effect_are_accepted(folder)
