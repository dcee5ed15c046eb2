"""test_notebook.py - trainings in a notebook that know nothing of tracing: a kernel of Jupyter runs the cells."""

import os
import subprocess

from frameworks_harness import HERE, main
from plain import LOOP, NUMBERS, START, in_each
from untouched import counts, launch, traces_of

SLOW = LOOP + "        if epoch == 1: print('interrupt me', flush=True) or __import__('time').sleep(60)\n"
ERROR = "model(torch.ones(9, 9))\n"


def run_cells(folder, *cells, **changes):
    """Returns how the cells ended, and the trace."""
    done = launch(HERE / "kernel.py", folder, *cells, IPYTHONDIR=str(folder / "ipython"), **changes)
    assert "dftracer" not in done.stderr
    ends = [line for line in done.stdout.splitlines() if line.split(" ")[0] in ("ok", "error")]
    return ends, traces_of(folder / "traces") if (folder / "traces").exists() else []


def test_cells(tmp_path):
    ends, (trace,) = run_cells(tmp_path, START, LOOP, LOOP, SLOW, ERROR, LOOP)
    assert ends == ["ok ", "ok ", "ok ", "error KeyboardInterrupt", "error RuntimeError", "ok "]
    assert trace.path.startswith(str(tmp_path / "traces" / "notebook-")) and trace.end
    found = counts(trace)
    whole = [0, 1, 2, 3, 4, 6, 7]  # the interrupted cell has one whole epoch, and a batch of the next one
    for name, number in NUMBERS.items():
        assert [found[name][epoch] for epoch in whole] == [number] * len(whole), name
    assert found["forward"][5] >= 1 and found["backward"][5] == found["step"][5] == 1 and found["epoch"][5] == 1
    assert found["fetch.block.cut"] == {5: 1}


def test_a_kernel_that_is_killed(tmp_path):
    ends, traces = run_cells(tmp_path, START, LOOP, "print('kill me')")
    assert ends == ["ok "] * 3 and not traces
    subprocess.run([os.environ["DFT_TEST_COMMAND"], "recover", tmp_path / "traces"], check=True, capture_output=True)
    (trace,) = traces_of(tmp_path / "traces")
    found = counts(trace)
    names = [name for name in NUMBERS if name != "epoch"]  # the last one did not end
    assert {name: found[name] for name in names} == in_each({name: NUMBERS[name] for name in names})
    assert found["epoch"] == {0: 1}


def test_a_notebook_without_tracing(tmp_path):
    ends, traces = run_cells(tmp_path, START, LOOP, DFTRACER_ENABLE="0")
    assert ends == ["ok ", "ok "] and not traces


if __name__ == "__main__":
    main(__file__)
