"""test_untouched_silent.py - which programs are recorded with no line changed, and how tracing starts in them."""

import json
import os
import subprocess

import pytest
from frameworks_harness import PYTHON, SOURCE, main
from plain import LOOP, NUMBERS, START, in_each, record
from untouched import launch, variables

ANNOTATED = "from dftracer.python import ai, dftracer\n"
SILENT = {
    "switched off": ("", {"DFTRACER_ENABLE": "0"}),
    "none": ("", {"DFTRACER_FRAMEWORKS": "none"}),
    "an annotation": (ANNOTATED, {}),
    "an annotation in a function": ("def f():\n    from dftracer.python import ai\n    ai.compute(len)\nf()\n", {}),
}


@pytest.mark.parametrize("why", SILENT)
def test_silence(tmp_path, why):
    text, changes = SILENT[why]
    assert record(tmp_path, text + START + LOOP, **changes) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.py"]


def test_nothing_is_loaded_while_it_is_off(tmp_path):
    program = "import sys, torch\nassert not [name for name in sys.modules if name.startswith('dftracer.')]\n"
    program += "assert torch.save.__module__ == 'torch.serialization' and not hasattr(torch.save, '__wrapped__')\n"
    record(tmp_path, program, DFTRACER_ENABLE="0", PYTHONPATH=str(SOURCE / "python"))


OWN = ANNOTATED + "log = dftracer.initialize_log('traces/own.pfw')\n"


def test_a_program_that_opens_a_trace_keeps_its_counts(tmp_path):
    found = record(tmp_path, OWN + START + LOOP + "        with ai.compute.forward: pass\n")
    assert found == {"forward": {None: 8}}


TRACED = "from dftracer.python.torch import trace\ntracing = trace(model, optimizer, training)\n"


@pytest.mark.parametrize("program", [OWN + START + TRACED + LOOP, START + TRACED + OWN + LOOP])
def test_a_program_that_calls_trace_keeps_its_counts(tmp_path, program):
    found = record(tmp_path, program + "tracing.undo()\n")
    assert "epoch" not in found and {name: found.get(name) for name in NUMBERS if name != "epoch"} == {
        name: {None: 8} for name in NUMBERS if name != "epoch"
    }


def test_trace_doubles_nothing(tmp_path):
    found = record(tmp_path, OWN + START + TRACED + LOOP, DFTRACER_FRAMEWORKS="torch")
    assert {name: found.get(name) for name in NUMBERS} == in_each(NUMBERS)


def test_unless_the_setting_says_otherwise(tmp_path):
    found = record(tmp_path, OWN + START + LOOP, DFTRACER_FRAMEWORKS="torch")
    assert {name: found[name] for name in NUMBERS} == in_each(NUMBERS)


def test_a_program_may_join_later(tmp_path):
    program = START + LOOP + "def mine():\n    from dftracer.python import ai, dftracer\n"
    program += "    log = dftracer.initialize_log('elsewhere.pfw')\n    with ai.compute.forward: pass\nmine()\n"
    found = record(tmp_path, program + "model(samples)\n")
    assert found["forward"] == {0: 4, 1: 5} and found["epoch"] == {0: 1, 1: 1}, "its own one, and no more of ours"
    assert "dftracer" not in record.done.stderr and not list(tmp_path.glob("elsewhere*"))


def test_the_name_of_the_trace(tmp_path):
    record(tmp_path, START + LOOP)
    (path,) = (tmp_path / "traces").glob("*.pfw")
    assert path.name.startswith("program-")
    launch(tmp_path / "program.py", tmp_path, DFTRACER_LOG_FILE="elsewhere/given.pfw")
    assert [path.name for path in (tmp_path / "elsewhere").glob("*.pfw")] == ["given.pfw"]


def test_an_unknown_name_is_reported(tmp_path):
    record(tmp_path, START + LOOP, DFTRACER_FRAMEWORKS="torhc")
    assert record.done.stderr.count("torhc") == 1 and "there are" in record.done.stderr


def test_a_failing_patch_does_not_break_the_training(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import dftracer.python.frameworks.torch as ours\ndel ours.loaders\n")
    paths = variables()["PYTHONPATH"] + os.pathsep + str(tmp_path)
    assert record(tmp_path, START + LOOP + "print('done')\n", PYTHONPATH=paths) is None
    assert record.done.stdout == "done\n"
    (line,) = record.done.stderr.splitlines()
    assert line.startswith("dftracer: torch is not traced: NameError"), line


def test_a_trace_that_cannot_be_opened_does_not_break_the_training(tmp_path):
    gone = "import os\nos.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n"
    record(tmp_path, START + gone + LOOP + "print('done')\n")
    assert record.done.stdout == "done\n"
    assert record.done.stderr.count("dftracer: this program is not recorded: FileNotFoundError") == 1
    assert "Traceback" not in record.done.stderr


def test_another_sitecustomize_runs_as_well(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.mine = __file__\n")
    paths = variables()["PYTHONPATH"] + os.pathsep + str(tmp_path)
    program = "import sitecustomize, sys\nassert mine == sitecustomize.__file__ and sys.path[0] == sys.argv[1]\n"
    found = record(tmp_path, program + START + LOOP, tmp_path, PYTHONPATH=paths)
    assert {name: found[name] for name in NUMBERS} == in_each(NUMBERS)


def test_the_command_needs_no_more(tmp_path):
    (tmp_path / "program.py").write_text(START + LOOP)
    plain = {key: value for key, value in variables().items() if key != "DFTRACER_ENABLE"}
    plain["PYTHONPATH"] = os.pathsep.join(plain["PYTHONPATH"].split(os.pathsep)[1:])
    command = [os.environ["DFT_TEST_COMMAND"], "run", "--", PYTHON, "program.py"]
    subprocess.run(command, env=plain, cwd=tmp_path, check=True, capture_output=True)
    summary = subprocess.run([command[0], "summary", "--json", "traces"], cwd=tmp_path, check=True, capture_output=True)
    training = json.loads(summary.stdout)["training"]
    assert [row["fetches"] for row in training["by_epoch"]] == [4, 4]


if __name__ == "__main__":
    main(__file__)
