"""test_types.py - the package is typed: mypy in its strict mode, pyright, and stubs that match the native module.

basedpyright is pyright with its node inside; in the mode `basic` it says what pyright and Pylance say.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from harness import PYTHONPATH, environment, main, run

SOURCE = pathlib.Path(os.environ["DFT_TEST_SOURCE"])


def check(*command, cwd):
    variables = {**environment(), "MYPYPATH": str(SOURCE / "python"), "PYTHONPATH": PYTHONPATH}
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)], env=variables, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


MYPY = ("mypy", "--config-file", SOURCE / "pyproject.toml", "--cache-dir", os.devnull)
EXAMPLES = [SOURCE / "examples" / name / "train.py" for name in ("04_training", "05_torch")]


def test_package_and_example_are_strict(tmp_path):
    check(*MYPY, SOURCE / "python" / "dftracer", cwd=tmp_path)
    for example in EXAMPLES:
        check(*MYPY, "--allow-subclassing-any", example, cwd=tmp_path)  # torch is not there


# Lines with a comment are wrong, and a type checker says so with this text in it; all others are right.
USES = """
from dftracer.logger import ai as older
from dftracer.python import Dynamo, ai, compute, dft_fn, dftracer
from dftracer.python.torch import Tracing, trace

log: dftracer = dftracer.initialize_log("x.pfw", data_dir="~/data")
with ai.compute.forward(step=1) as block, dft_fn("c", name="n") as other:
    block.update(args={"loss": 1}).flush()
    other.update(epoch=1).flush()

@ai.compute.forward
def doubled(x: int) -> int:
    return 2 * x

@compute.backward.init
def halved(x: int) -> float:
    return x / 2

count: int = doubled(1)
half: str = halved(1)  # float
for step, name in ai.dataloader.fetch.iter(enumerate(["a"])):
    ai.update(step=step + 1, epoch=len(name))
    step.lower()  # lower
ai.data.io.read.derive("block").start()
ai.checkpoint.io.reed  # reed
doubled("text")  # int
ai.compute.forwrd  # forwrd
older.computer  # computer
ai.update(loss=1)  # loss
ai.compute.forward(loss=1)  # __call__
Dynamo(nam="x")  # nam
tracing: Tracing = trace()
"""
WRONG = {number: line.partition("# ")[2] for number, line in enumerate(USES.splitlines(), 1) if "# " in line}


def lines_of_mypy(file):
    variables = {**environment(), "MYPYPATH": str(SOURCE / "python")}
    words = [sys.executable, "-m", *map(str, MYPY), file.name]
    done = subprocess.run(words, cwd=file.parent, capture_output=True, text=True, check=False, env=variables)
    lines = [line.split(":", 3) for line in done.stdout.splitlines() if ": error:" in line]
    return {int(number): text for _, number, _, text in lines}


def lines_of_pyright(file):
    settings = {"typeCheckingMode": "basic", "extraPaths": [str(SOURCE / "python")], "include": [file.name]}
    (file.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    words = [sys.executable, "-m", "basedpyright", "--outputjson"]
    done = subprocess.run(words, cwd=file.parent, capture_output=True, text=True, check=False)
    found = [one for one in json.loads(done.stdout)["generalDiagnostics"] if one["severity"] == "error"]
    return {one["range"]["start"]["line"] + 1: one["message"] for one in found}


@pytest.mark.parametrize("checker", [lines_of_mypy, lines_of_pyright])
def test_type_checkers_know_the_tree(tmp_path, checker):
    (tmp_path / "uses.py").write_text(USES)
    found = checker(tmp_path / "uses.py")
    assert found.keys() == WRONG.keys(), found
    for number, text in WRONG.items():
        assert text in found[number], (number, found[number])


def test_stubs_say_what_the_native_module_has(tmp_path):
    allowed = tmp_path / "allowed"
    # What the interpreter puts there, and what is Python to a type checker but made by C.
    allowed.write_text(
        r"""
        dftracer\.dftracer\.(Function|Loop)(\..*)?
        dftracer\.dftracer\..*\.__(get|set)state__
        dftracer\.dftracer\..*\.__a(enter|exit)__
        .*\.__class_getitem__
        """.replace(" ", "")
    )
    check(
        "mypy.stubtest",
        "dftracer.dftracer",
        "--ignore-missing-stub",
        "--ignore-disjoint-bases",
        "--allowlist",
        allowed,
        "--ignore-unused-allowlist",
        cwd=tmp_path,
    )


def test_a_call_of_the_native_module_is_known_everywhere(tmp_path):
    """In the stub, and in what stands in for the module: there with the same result as with tracing off."""
    program = """
        import ast, inspect, pathlib, sys
        import dftracer.dftracer as native
        from dftracer.python import NoOpProfiler, ProfilerProtocol
        calls = [name for name, one in vars(native).items() if inspect.isbuiltin(one)]
        stub = ast.parse(pathlib.Path(sys.argv[2]).read_text()).body
        missing = set(calls) - {one.name for one in stub if isinstance(one, ast.FunctionDef)}
        assert not missing, f"dftracer.pyi: {missing}"
        calls = [name for name in calls if not name.startswith("_")]
        missing = set(calls) - set(vars(ProfilerProtocol))
        assert not missing, f"values.ProfilerProtocol: {missing}"
        for name in calls:
            parameters = inspect.signature(getattr(native, name)).parameters.values()
            value = "unknown" if name == "get_config" else 1
            needed = {one.name: value for one in parameters if one.default is one.empty}
            given, other = getattr(native, name)(**needed), getattr(NoOpProfiler(), name)(**needed)
            assert given == other or name == "enter_event", f"noop.RESULTS: {name} returns {given!r}"
        """
    run(program, tmp_path, SOURCE / "python" / "dftracer" / "dftracer.pyi", DFTRACER_ENABLE="0")


if __name__ == "__main__":
    main(__file__)
