"""test_versions.py - the native module built for every other Python of this machine."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from harness import environment, lines_of, main

SOURCE = pathlib.Path(os.environ["DFT_TEST_SOURCE"])
LIBRARY = pathlib.Path(os.environ["DFT_TEST_LIBRARY"])
HERE = pathlib.Path(__file__).parent
FACTS = """
import os, sys, sysconfig
found = os.path.exists(sysconfig.get_path("include") + "/Python.h")
if found and sys.implementation.name == "cpython":
    version = "%d.%d%s" % (*sys.version_info[:2], sys.abiflags)
    print(version, sysconfig.get_path("include"), sysconfig.get_config_var("EXT_SUFFIX"))
"""


def interpreters():
    """One interpreter with headers for each version from 3.9 on, but for the one that runs this; "t": without a GIL.

    DFT_TEST_PYTHONS names more of them, with ":" in between.
    """
    places = [
        os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv")) + "/versions/*/bin/python3",
        "/usr/bin/python3.*",
        *filter(None, os.environ.get("DFT_TEST_PYTHONS", "").split(":")),
    ]
    found = {}
    for python in sorted(path for place in places for path in glob.glob(place)):
        done = subprocess.run([python, "-c", FACTS], capture_output=True, text=True, check=False)
        facts = done.stdout.split() if done.returncode == 0 else []
        if len(facts) == 3 and tuple(map(int, facts[0].rstrip("tm").split("."))) >= (3, 9):
            found.setdefault(facts[0], (python, *facts[1:]))
    found.pop("{}.{}".format(*sys.version_info[:2]), None)
    return found


FOUND = interpreters()


@pytest.mark.skipif(not FOUND, reason="there is no other Python with headers here")
@pytest.mark.parametrize("version", sorted(FOUND))
def test_other_pythons(tmp_path, version):
    python, include, suffix = FOUND[version]
    module = tmp_path / "path" / "dftracer"
    module.mkdir(parents=True)
    core = tmp_path / "libdftracer_core.so.5"
    shutil.copy(LIBRARY, core)
    command = [
        "cc",
        "-std=gnu11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-missing-field-initializers",
        "-D_GNU_SOURCE",
        "-Wno-cast-function-type",
        "-fPIC",
        "-shared",
        "-fvisibility=hidden",
        f"-I{include}",
        f"-I{SOURCE}/c/include",
        *sorted((SOURCE / "python" / "src").glob("*.c")),
        core,
        f"-Wl,-rpath,{tmp_path}",
        "-o",
        module / f"dftracer{suffix}",
    ]
    subprocess.run(command, check=True)
    data = tmp_path / "data"
    data.mkdir()
    path = f"{SOURCE}/python:{module.parent}"
    subprocess.run(
        [python, HERE / "scenario.py", data, "normal"], env={**environment(), "PYTHONPATH": path}, check=True
    )
    assert lines_of(data) == 76
    variables = {**os.environ, "DFT_TEST_PYTHON": python, "DFT_TEST_PYTHONPATH": path, "PYTHONPATH": ""}
    names = ("fn", "callables", "overlaps", "uses", "absent", "reentrancy", "threads")
    cases = [HERE / f"test_{name}.py" for name in names]
    chosen = ("-k", "not flat and not document and not other_libraries")  # they have no NumPy
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *chosen, *cases],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


if __name__ == "__main__":
    main(__file__)
