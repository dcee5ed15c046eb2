"""test_package.py - the wheel: built, repaired, installed into an empty environment on a path with a space."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from harness import main, traces_of

SOURCE = pathlib.Path(os.environ.get("DFT_TEST_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
HAS_FORTRAN = shutil.which("gfortran") is not None
PROGRAM = """
import sys
from dftracer.python import ai, dftracer
log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
with ai.compute.forward: pass
log.finalize()
"""


def call(*command, **options):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("DFTRACER_", "PYTHON"))}
    kept.update(options.pop("environment", {}))
    done = subprocess.run([*map(str, command)], env=kept, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The repaired wheel."""
    folder = tmp_path_factory.mktemp("wheels")
    wheels = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder)
    call(*wheels, f"-Cbuild-dir={folder}/build", SOURCE, environment={"CMAKE_BUILD_PARALLEL_LEVEL": "2"})
    call(*wheels, SOURCE / "python" / "pydftracer")
    raw = next(folder.glob("dftracer-*.whl"))
    bin_folder = pathlib.Path(sys.executable).parent
    call(
        bin_folder / "auditwheel",
        "repair",
        "--exclude",
        "libhdf5*",
        "-w",
        folder / "repaired",
        raw,
        environment={"PATH": f"{bin_folder}:{os.environ['PATH']}"},
    )
    return next((folder / "repaired").glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """An interpreter that has nothing but our two wheels."""
    folder = tmp_path_factory.mktemp("a place") / "with a space"
    call(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    call(python, "-m", "pip", "install", "-q", "--no-index", wheel, *wheel.parent.parent.glob("pydftracer-*.whl"))
    return python


def test_wheel_holds_everything_once(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "dftracer/__init__.py" not in names
    for name in (
        "dftracer/lib/libdftracer_preload.so",
        "dftracer/lib/libdftracer_nvtx.so",
        "dftracer/lib/libdftracer_core.so.5",
        "dftracer/include/dftracer/dft.h",
        "dftracer/include/dftracer/dftracer.h",
        "dftracer/lib/cmake/dftracer/dftracerConfig.cmake",
        "dftracer/bin/dftracer",
        "dftracer/python/py.typed",
        "dftracer/python/common.py",
        "dftracer/start/sitecustomize.py",
        "dftracer.pth",
        "dftracer/share/dftracer/fortran/dftracer.f90",
    ):
        assert name in names, name
    assert len([name for name in names if re.match(r"dftracer/dftracer\..*\.so$", name)]) == 1
    assert "manylinux" in wheel.name


def test_installed_package_traces(python, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    call(python, script, tmp_path, environment={"DFTRACER_ENABLE": "1"})
    assert len(traces_of(tmp_path)[0].named("forward")) == 1
    command = python.parent / "dftracer"
    assert "5.0.0" in call(command, "--version")
    assert "pydftracer 5.0.0" in re.sub(r" +", " ", call(python, "-m", "pip", "list"))
    call(python, "-m", "pip", "check")


STARTED = """
import sys
print(*(name for name in sys.modules if name.startswith("dftracer")), *(type(one).__name__ for one in sys.meta_path))
"""
FACTORIES = """
from importlib.metadata import entry_points
for name in ("lightning.pytorch", "lightning.fabric", "pytorch_lightning", "lightning_fabric"):
    (point,) = entry_points(group=name + ".callbacks_factory")
    assert point.load()() == []
import sys
assert "dftracer.python" not in sys.modules
"""


@pytest.mark.parametrize("value", ["", "0", "off"])
def test_while_tracing_is_off_the_package_does_not_start(python, value):
    loaded = call(python, "-c", STARTED, environment={"DFTRACER_ENABLE": value}).split()
    assert "_Finder" not in loaded and "dftracer.python" not in loaded
    assert ("dftracer.start" in loaded) == (value == "off"), "it decides about rare words"
    call(python, "-c", FACTORIES, environment={"DFTRACER_ENABLE": value})


def test_it_starts_without_a_line(python):
    loaded = call(python, "-c", STARTED, environment={"DFTRACER_ENABLE": "1"}).split()
    assert "dftracer.start" in loaded and "_Finder" in loaded and "dftracer.python" not in loaded


TORCH = SOURCE / "build" / "torch" / "bin" / "python"


def check_training(folder):
    (trace,) = [trace for trace in traces_of(folder / "traces") if trace.named("forward")]
    assert [len(trace.named(name)) for name in ("epoch", "evaluate", "fetch.iter", "backward")] == [3, 3, 60, 48]


@pytest.mark.skipif(not TORCH.exists(), reason="torch is not there (./dev test torch installs it into build/torch)")
def test_a_training_is_traced_without_a_line(python, wheel, tmp_path):
    """By the .pth file in an environment, and by dftracer run where Python reads none: in a folder of PYTHONPATH."""
    program = SOURCE / "examples" / "06_untouched" / "train_torch.py"
    (base,) = call(TORCH, "-c", "import site; print(*site.getsitepackages())").split()
    (tmp_path / "pth").mkdir()
    variables = {"DFTRACER_ENABLE": "1", "PYTHONPATH": base, "OMP_NUM_THREADS": "1"}
    call(python, program, environment=variables, cwd=tmp_path / "pth")
    check_training(tmp_path / "pth")
    target = tmp_path / "target"
    call(TORCH, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", target, wheel)
    (tmp_path / "run").mkdir()
    command = (target / "dftracer" / "bin" / "dftracer", "run", "--", TORCH, program)
    call(*command, environment={"PYTHONPATH": str(target), "OMP_NUM_THREADS": "1"}, cwd=tmp_path / "run")
    check_training(tmp_path / "run")


TYPED = """
from dftracer.logger import ai as old_ai
from dftracer.python import ai, dft_fn, dftracer
import dftracer.dftracer as native

@ai.compute.forward
def forward(x: int) -> int: return x
@dft_fn("c").log
def logged(x: int) -> str: return str(x)
log: dftracer = dftracer.initialize_log("x.pfw")
numbers: list[int] = [forward(item) + len(logged(item)) for item in old_ai.data.item.iter(range(native.get_time()))]
forward("text")
"""


def test_installed_package_is_typed(python, tmp_path):
    (tmp_path / "typed.py").write_text(TYPED)
    mypy = (sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "--python-executable", python)
    done = subprocess.run([*mypy, "typed.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and 'incompatible type "str"; expected "int"' in lines[0], done.stdout


READ = """
import sys
from dftracer.trace import read
folder, table = sys.argv[1:]
arrays = read(folder, args=["epoch"]).numpy()
assert list(arrays["name"]).count("forward") == 1 and "end" in arrays["name"], arrays["name"]
assert arrays["epoch"][list(arrays["name"]).index("forward")] == 3
assert read(folder + "/x.pfw.gz").numpy()["id"].tolist() == arrays["id"].tolist()
for path in (folder, table):
    frame, rows = read(path, args=["epoch"]).pandas(), read(path, args=["epoch"]).arrow()
    assert frame["name"].tolist() == rows["name"].to_pylist() == arrays["name"].tolist(), path
    assert frame["epoch"].sum() == 3 and frame["dur_ns"].tolist() == rows["dur_ns"].to_pylist()
"""
MISSING = """
import sys
folder, table = sys.argv[1:]
def told(use):
    try: use()
    except ImportError as error: return str(error)
    raise AssertionError("nothing is missing")
try: from dftracer.trace import read
except ImportError as error: sys.exit(print(error))
print(told(lambda: read(table)), told(read(folder).pandas), told(read(folder).arrow), sep="\\n")
"""


def packages(folder, *names):
    """A folder for PYTHONPATH that holds these packages of the environment that runs the tests, and no others."""
    folder.mkdir()
    site = pathlib.Path(pytest.__file__).parent.parent
    for name in names:
        for found in (site / name, site / f"{name}.libs", site / f"{name}.py"):
            if found.exists():
                (folder / found.name).symlink_to(found)
    return {"PYTHONPATH": str(folder)}


def test_installed_package_reads_traces(python, tmp_path):
    """Lines, a folder and an HDF5 file; what is missing is named."""
    (tmp_path / "program.py").write_text(PROGRAM.replace("forward:", "forward(epoch=3):"))
    call(python, tmp_path / "program.py", tmp_path / "out", environment={"DFTRACER_ENABLE": "1"})
    table = tmp_path / "job.h5"
    call(python.parent / "dftracer", "convert", tmp_path / "out", "-o", table)
    everything = ("numpy", "pandas", "dateutil", "pytz", "tzdata", "six", "h5py", "pyarrow")
    call(python, "-c", READ, tmp_path / "out", table, environment=packages(tmp_path / "all", *everything))
    for names, wanted in (((), ["numpy"]), (("numpy",), ["h5py", "pandas", "pyarrow"])):
        found = packages(tmp_path / f"only {len(names)}", *names)
        lines = call(python, "-c", MISSING, tmp_path / "out", table, environment=found).splitlines()
        assert len(lines) == len(wanted), lines
        for line, name in zip(lines, wanted, strict=True):
            assert line.startswith(f"{name} is needed") and f"pip install {name}" in line, line


def test_merge_trace_is_installed(python, tmp_path):
    """The script of that name, by its own file name, from another folder."""
    (tmp_path / "program.py").write_text(PROGRAM)
    call(python, tmp_path / "program.py", tmp_path, environment={"DFTRACER_ENABLE": "1"})
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 5, "dur": 2}
    torchs = {"baseTimeNanoseconds": 1, "traceEvents": [event]}
    (tmp_path / "torch-0.json").write_text(json.dumps(torchs))
    files = ("--file-list", "torch-0.json", "x.pfw", "--output", "combined.json")
    call(python.parent / "merge_trace", *files, cwd=tmp_path)
    names = {event["name"] for event in json.loads((tmp_path / "combined.json").read_text())["traceEvents"]}
    assert {"aten::add", "forward"} <= names


def test_config_says_where_things_are(python, tmp_path):
    preload, nvtx, cmake, includes, libs = call(
        python, "-m", "dftracer.config", "--preload", "--nvtx", "--cmake", "--includes", "--libs"
    ).splitlines()
    site = call(python, "-c", "import site; print(site.getsitepackages()[0])").strip()
    assert preload == f"{site}/dftracer/lib/libdftracer_preload.so"
    assert nvtx == f"{site}/dftracer/lib/libdftracer_nvtx.so"
    assert f"{site}/dftracer/lib/libdftracer_core.so.5" in call("ldd", nvtx)
    run = (python.parent / "dftracer", "run", "-q", "--nvtx", "--out", tmp_path / "none", "--")
    assert call(*run, "printenv", "NVTX_INJECTION64_PATH").strip() == nvtx
    (tmp_path / "lib").symlink_to(libs)  # LD_PRELOAD takes no space
    (tmp_path / "data").mkdir()
    call(
        "cp",
        "/etc/passwd",
        tmp_path / "data" / "copied",
        environment={
            "LD_PRELOAD": f"{tmp_path}/lib/{pathlib.Path(preload).name}",
            "DFTRACER_ENABLE": "1",
            "DFTRACER_INIT": "PRELOAD",
            "DFTRACER_DATA_DIR": str(tmp_path / "data"),
            "DFTRACER_LOG_FILE": f"{tmp_path}/pre",
        },
    )
    (copied,) = traces_of(tmp_path)
    assert "/pre-" in copied.path and any(event["cat"] == "POSIX" for event in copied.events)
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.22)\nproject(x C {'Fortran' if HAS_FORTRAN else ''})\n"
        "find_package(dftracer REQUIRED)\nadd_executable(x x.c)\ntarget_link_libraries(x dftracer::dftracer)\n"
        + ("add_executable(f f.f90)\ntarget_link_libraries(f dftracer::fortran)\n" if HAS_FORTRAN else "")
    )
    (tmp_path / "f.f90").write_text(
        'program f\n  use dftracer\n  call dft_region_begin("f", "c")\n  call dft_region_end()\nend program\n'
    )
    (tmp_path / "x.c").write_text(
        '#include <dftracer/dft.h>\nint main(void) { dft_region_begin_named("c", "c"); dft_region_end(); return 0; }\n'
    )
    call("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-Ddftracer_DIR={cmake}")
    call("cmake", "--build", tmp_path / "build")
    for name, event in (("x", "c"), ("f", "f")) if HAS_FORTRAN else (("x", "c"),):
        call(tmp_path / "build" / name, environment={"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": f"{tmp_path}/c"})
        assert any(trace.named(event) for trace in traces_of(tmp_path)), event
    call(
        "cc",
        tmp_path / "x.c",
        f"-I{includes}",
        f"-L{libs}",
        "-ldftracer_core",
        f"-Wl,-rpath,{libs}",
        "-o",
        tmp_path / "y",
    )
    call(tmp_path / "y")


def test_without_its_native_module_it_knows_its_version_and_why(python):
    (module,) = python.parent.parent.glob("lib/python*/site-packages/dftracer/dftracer.*.so")
    hidden = module.with_name("hidden")
    module.rename(hidden)
    try:
        code = "import sys; sys.stderr = sys.stdout; from dftracer.python import ai, __version__; print(__version__)"
        variables = {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_LEVEL": "INFO"}
        told, version = call(python, "-c", code, environment=variables).splitlines()
    finally:
        hidden.rename(module)
    assert version == "5.0.0" and "not available: No module named 'dftracer.dftracer'" in told


def test_client_layers_of_the_original_are_not_pulled_over_ours(python):
    code = "import importlib.metadata as m; print(m.version('pydftracer'), m.requires('pydftracer'))"
    assert call(python, "-c", code).startswith("5.0.0 ['dftracer>=5.0.0'")


if __name__ == "__main__":
    main(__file__)
