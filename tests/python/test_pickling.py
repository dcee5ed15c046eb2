"""test_pickling.py - decorated functions reach other processes by name, and by value where plain functions do."""

import subprocess
import sys
import zipfile

import pytest
from harness import main, record, run

BY_VALUE = """
import cloudpickle, subprocess
factor = 3
log_fn = dft_fn("c", epoch=1)
@log_fn.log
def logged(x, step=2): return x * factor
@ai.compute.forward
def recursive(x): return recursive(x - 1) + 1 if x else 0
recursive.mark = "kept"
@ai.comm.send
async def waits(x): return x
def make():
    @ai.compute.backward(step=5)
    def inner(x): return logged(x) + factor
    return inner
class Model:
    @log_fn.log_init
    def __init__(self): self.x = 1
    @ai.compute.step
    def method(self, x): return self.x + x
given = (logged, recursive, waits, make(), Model(), Model().method)
with open(sys.argv[1] + "/pickled", "wb") as file: file.write(cloudpickle.dumps(given))
subprocess.run([sys.executable, "-c", '''
import cloudpickle, sys
logged, recursive, waits, inner, model, method = cloudpickle.loads(open(sys.argv[1] + "/pickled", "rb").read())
assert (logged(2), recursive(3), inner(2), model.method(1), method(4)) == (6, 3, 9, 2, 5)
assert recursive.mark == "kept" and recursive.__name__ == "recursive"
try: waits(7).send(None)
except StopIteration as end: assert end.value == 7
''', sys.argv[1]], check=True)
sys.path.insert(0, sys.argv[1])
import library
assert cloudpickle.loads(cloudpickle.dumps(library.known)) is library.known
"""


@pytest.fixture(scope="module")
def cloudpickle(tmp_path_factory):
    """The package as it is on the index, unpacked."""
    folder = tmp_path_factory.mktemp("cloudpickle")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, "cloudpickle"]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("cloudpickle cannot be downloaded here")
    zipfile.ZipFile(next(folder.glob("*.whl"))).extractall(folder)
    return folder


def test_by_value(cloudpickle, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(cloudpickle))
    (tmp_path / "library.py").write_text("from dftracer.python import ai\n@ai.data.item\ndef known(): pass\n")
    record(BY_VALUE, tmp_path, DFTRACER_ENABLE="0")
    (child,) = (trace for trace in record(BY_VALUE, tmp_path) if not trace.path.endswith("/x.pfw"))
    names = [event["name"] for event in child.user_events()]
    assert sorted(names) == sorted(["logged", *["forward"] * 4, "logged", "backward", "step", "step", "send"])
    assert child.values("logged", "epoch") == [1, 1] and child.values("backward", "step") == [5]


def test_by_name(tmp_path):
    (tmp_path / "library.py").write_text(
        "from dftracer.python import ai, dft_fn\n@ai.data.item\ndef known(x): return x\n"
        "class Model:\n    @dft_fn('c').log\n    def method(self): return 1\n"
    )
    run(
        """
        import copy, multiprocessing, pickle, sys
        from dftracer.python import ai
        import library
        @ai.compute.forward
        def own(x): return x
        def local():
            @ai.compute.forward
            def inner(): pass
            return inner
        if __name__ == "__main__":
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                for function in (own, library.known, library.Model.method):
                    assert pickle.loads(pickle.dumps(function, protocol)) is function is copy.deepcopy(function)
            for pickler in (pickle.dumps, pickle._dumps):
                try: pickler(local())
                except (AttributeError, pickle.PicklingError): pass
                else: raise AssertionError
            with multiprocessing.get_context("spawn").Pool(1) as pool: assert pool.map(own, [1, 2]) == [1, 2]
        """,
        tmp_path,
    )


if __name__ == "__main__":
    main(__file__)
