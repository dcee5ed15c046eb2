"""test_languages.py - CPython with NumPy, mmap and HDF5, Fortran and MPI-IO do what they did, and every byte is seen.
SPDX-License-Identifier: MIT
"""

import importlib.util
import os
import shutil
import subprocess
import sys

from io_harness import SOURCE, Skip, events_by_path, expect, expect_equal, main
from witness import Witness

PYTHON = [sys.executable, "-B", "-I"]


def python(folder, script, *modules, **options):
    for module in modules:
        if not importlib.util.find_spec(module):
            raise Skip(f"no {module} here")
    return Witness(folder, lambda data: None).check([*PYTHON, "-c", script], **options)


def case_numpy(folder):
    python(
        folder,
        """import numpy as np
a = np.arange(100000, dtype=np.float64)
np.save("a.npy", a); np.savez("b.npz", x=a, y=a[:10]); a.tofile("c.bin"); np.savetxt("d.txt", a[:100])
print(np.load("a.npy").sum(), np.load("b.npz")["y"].sum(), np.fromfile("c.bin")[7], np.loadtxt("d.txt").sum())
print(np.load("a.npy", mmap_mode="r")[5])""",
        "numpy",
    )


def case_mmap(folder):
    (trace,) = python(
        folder,
        """import mmap, os
with open("m.bin", "wb+") as f:
    f.write(bytes(1 << 16)); f.flush()
    m = mmap.mmap(f.fileno(), 0)
    m[100:105] = b"hello"; m.flush(); m.madvise(mmap.MADV_SEQUENTIAL); print(m[100:105]); m.close()
a = mmap.mmap(-1, 4096); a.madvise(mmap.MADV_NORMAL); a.close()
os.unlink("m.bin")""",
    )
    ((path, events),) = events_by_path(trace).items()
    names = [event["name"] for event in events]
    expect(path.endswith("/data/m.bin"), path)
    for call in ("mmap", "msync", "madvise", "munmap", "unlink"):
        expect_equal(names.count(call), 1, f"{call} of the file, not of other memory")


def case_h5py(folder):
    python(
        folder,
        """import h5py, numpy as np
with h5py.File("a.h5", "w") as f:
    f.create_dataset("x", data=np.arange(10000), chunks=(1000,), compression="gzip")
    f.create_dataset("y", data=np.ones(100))
with h5py.File("a.h5", "r+") as f:
    f["y"][:5] = 7; print(f["x"][:].sum(), f["y"][:].sum())""",
        "h5py",
        left=lambda data: sorted(os.listdir(data)),
    )


def case_subprocess_and_fork(folder):
    """The child of a vfork runs in its parent's memory; what is known of the parent's descriptors must stay."""
    traces = python(
        folder,
        """import os, subprocess, sys
with open("kept.txt", "w") as kept:
    kept.write("before\\n"); kept.flush()
    for i in range(5):
        with open(f"out{i}.txt", "w") as out:
            subprocess.run(["cat", sys.executable], stdout=subprocess.DEVNULL, cwd="/", check=True)
            subprocess.run(["dd", "if=/dev/zero", "count=1"], stdout=out, stderr=subprocess.DEVNULL, check=True)
    kept.write("after\\n"); kept.flush()
    child = os.fork()
    if child == 0:
        kept.write("child\\n"); kept.flush(); open("forked.txt", "w").write("forked\\n"); os._exit(3)
    print(os.waitpid(child, 0)[1], os.getcwd() == os.path.realpath("."))
with open("relative.txt", "w") as file: file.write("still here\\n")
print(open("kept.txt").read())""",
    )
    expect(len(traces) >= 7, f"{len(traces)} traces: the program, its child, and five times dd")


def case_threads(folder):
    python(
        folder,
        """import threading
def work(n):
    for i in range(50):
        with open(f"t{n}", "ab") as f: f.write(bytes(1000 + n))
        with open(f"t{n}", "rb") as f: f.read()
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]; print("done")""",
    )


def case_fortran(folder):
    compiler = shutil.which("gfortran")
    if not compiler:
        raise Skip("no gfortran here")
    program = os.path.join(folder, "rows")
    subprocess.run([compiler, f"{SOURCE}/tests/intercept/programs/rows.f90", "-o", program, "-J", folder], check=True)
    Witness(folder, lambda data: None).check([program])


def case_mpi_io(folder):
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        raise Skip("no MPI here")
    program = os.path.join(folder, "ranks")
    subprocess.run(["mpicc", f"{SOURCE}/tests/intercept/programs/ranks.c", "-o", program], check=True)
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", program]
    os.environ.update(
        OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl="self,vader", OMPI_MCA_orte_tmpdir_base="/tmp"
    )
    traces = Witness(folder, lambda data: None).check(
        command, left=lambda data: {"shared.dat"} & set(os.listdir(data)), only=lambda name: name == "shared.dat"
    )
    ranks = [trace for trace in traces if any("shared.dat" in path for path in events_by_path(trace))]
    expect_equal(len(ranks), 3, "a trace for each rank")


main(globals())
