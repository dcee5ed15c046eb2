"""test_one_core.py - a library of the system and the package share one core, whoever comes first."""

import os
import pathlib
import shutil
import subprocess

import pytest
from harness import main, one

LIBRARY = pathlib.Path(os.environ["DFT_TEST_LIBRARY"])
SOURCE = pathlib.Path(os.environ["DFT_TEST_SOURCE"])
CODE = '#include <dftracer/dft.h>\nvoid work(void) { dft_region_begin_named("in_c", "c"); dft_region_end(); }\n'


@pytest.mark.parametrize("first", ["package", "library"])
def test_linked_libraries_share_the_core(tmp_path, first):
    copy = tmp_path / "system"
    copy.mkdir()
    shutil.copy(LIBRARY, copy / "libdftracer_core.so.5")
    (tmp_path / "user.c").write_text(CODE)
    subprocess.run(
        [
            "cc",
            "-shared",
            "-fPIC",
            tmp_path / "user.c",
            f"-I{SOURCE}/c/include",
            "-o",
            tmp_path / "libuser.so",
            copy / "libdftracer_core.so.5",
            f"-Wl,-rpath,{copy}",
        ],
        check=True,
    )
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


if __name__ == "__main__":
    main(__file__)
