"""test_original_layer.py - the pure Python layer of the original, pydftracer 2.0.6, runs on our native module."""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest
from harness import environment, lines_of, main, traces_of

SCENARIO = pathlib.Path(__file__).with_name("scenario.py")
LINES = {"normal": 76, "metadata": 76, "dataloader": 61, "device": 70, "compute": 52, "checkpoint": 73, "all": 0}
PROGRAM = """
import sys
from dftracer.python import dft_fn, dftracer
import dftracer.python as package
assert "layer" in package.__file__
log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", None, -1)
d = dft_fn("c", epoch=1)
with dft_fn("c", name="block", step=2) as f: f.update(args={"a": 1, "b": "text", "c": 0.5})
@d.log
def logged(x, epoch=3): return x
logged(1)
for _ in d.iter(range(3)): pass
log.log_metadata_event("k", "v")
log.finalize()
"""


@pytest.fixture(scope="module")
def layer(tmp_path_factory):
    """The package as it is on the index, unpacked."""
    folder = tmp_path_factory.mktemp("layer")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, "pydftracer==2.0.6"]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("pydftracer 2.0.6 cannot be downloaded here")
    zipfile.ZipFile(next(folder.glob("*.whl"))).extractall(folder)
    return folder


def run_on_ours(layer, script, folder, *arguments):
    native = pathlib.Path(os.environ["DFT_TEST_BUILD"]) / "python"
    variables = {**environment(DFTRACER_INC_METADATA="1"), "PYTHONPATH": f"{layer}:{native}"}
    done = subprocess.run(
        [sys.executable, script, folder, *arguments],
        env=variables,
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("case", LINES)
def test_scenario_has_the_same_lines(layer, tmp_path, case):
    run_on_ours(layer, SCENARIO, tmp_path, case)
    assert lines_of(tmp_path) == LINES[case]


def test_blocks_functions_and_loops(layer, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    run_on_ours(layer, script, tmp_path)
    trace = traces_of(tmp_path, overlap=True, dangling=True)[0]  # that layer pushes levels it never pops
    block = trace.named("block")[0]["args"]
    assert (block["step"], block["a"], block["b"], block["c"]) == (2, 1, "text", 0.5)
    assert len(trace.named("logged")) == 1 and len(trace.named("loop.iter")) == 3


if __name__ == "__main__":
    main(__file__)
