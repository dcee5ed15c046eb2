"""test_types.py - the package is typed: mypy in its strict mode, and stubs that say what the native module has."""

import os
import pathlib
import subprocess
import sys

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


def test_wrong_uses_are_found(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from dftracer.python import ai\n\n@ai.compute.forward\ndef f(x: int) -> int:\n    return x\n\nf('text')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", *map(str, MYPY), wrong],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**environment(), "MYPYPATH": str(SOURCE / "python")},
    )
    assert done.returncode == 1 and 'incompatible type "str"; expected "int"' in done.stdout, done.stdout


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
