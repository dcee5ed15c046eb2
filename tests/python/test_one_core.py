"""test_one_core.py - a library of the system and the package share one core, whoever comes first."""

import os
import pathlib
import shutil
import subprocess

import pytest
from harness import main, one, record

LIBRARY = pathlib.Path(os.environ["DFT_TEST_LIBRARY"])
SOURCE = pathlib.Path(os.environ["DFT_TEST_SOURCE"])
CODE = '#include <dftracer/dft.h>\nvoid work(void) { dft_region_begin_named("in_c", "c"); dft_region_end(); }\n'


def build_user(folder):
    """A library that records, linked with a copy of the core; returns the copy."""
    copy = folder / "system"
    copy.mkdir()
    shutil.copy(LIBRARY, copy / "libdftracer_core.so.5")
    (folder / "user.c").write_text(CODE)
    subprocess.run(
        [
            "cc",
            "-shared",
            "-fPIC",
            folder / "user.c",
            f"-I{SOURCE}/c/include",
            "-o",
            folder / "libuser.so",
            copy / "libdftracer_core.so.5",
            f"-Wl,-rpath,{copy}",
        ],
        check=True,
    )
    return copy / "libdftracer_core.so.5"


@pytest.mark.parametrize("first", ["package", "library"])
def test_linked_libraries_share_the_core(tmp_path, first):
    build_user(tmp_path)
    package = "from dftracer.python import ai, dftracer"
    library = "user = ctypes.CDLL(sys.argv[1] + '/libuser.so')"
    order = [package, library] if first == "package" else [library, package]
    trace = one(
        "import ctypes, sys\n"
        + "\n".join(order)
        + """
log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
with ai.compute: user.work()
cores = {line.split()[-1] for line in open("/proc/self/maps") if "libdftracer_core" in line}
assert len(cores) == 1, cores
log.finalize()
""",
        tmp_path,
        start=False,
    )
    assert trace.named("in_c")[0]["args"]["p_idx"] == trace.named("compute")[0]["id"]


def test_a_copy_that_was_loaded_by_its_path_takes_nothing_from_the_other(tmp_path):
    copy = build_user(tmp_path)
    program = f"""
        import ctypes, sys
        from dftracer.python import ai, dftracer
        ctypes.CDLL({str(copy)!r}, mode=ctypes.RTLD_GLOBAL)
        user = ctypes.CDLL(sys.argv[1] + "/libuser.so")
        log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
        for i in range(3):
            with ai.compute: user.work()
        cores = {{line.split()[-1] for line in open("/proc/self/maps") if "libdftracer_core" in line}}
        assert len(cores) == 2, cores
        log.finalize()
        """
    traces = record(program, tmp_path, start=False, DFTRACER_LOG_FILE=str(tmp_path / "x"))
    assert [len(trace.named("compute")) for trace in traces if trace.path.endswith("/x.pfw")] == [3]
    assert sum(len(trace.named("in_c")) for trace in traces) == 3


if __name__ == "__main__":
    main(__file__)
