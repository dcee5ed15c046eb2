"""test_host.py - programs that use HDF5 themselves are not disturbed by a trace in HDF5.

Whatever their HDF5 is: Debian's serial one (that of h5join itself), Debian's parallel one, the one in h5py's wheel.
SPDX-License-Identifier: MIT
"""

import os
import shutil
import subprocess
import sys

import h5py
import h5trace
import numpy as np

sys.path.insert(0, os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "faults"))

from harness import Skip, environment, expect, expect_equal, main

SOURCE = os.environ["DFT_TEST_SOURCE"]
LIBRARY = os.environ["DFT_TEST_LIBRARY"]


def build(folder, compiler, name):
    if not shutil.which(compiler):
        raise Skip(f"there is no {compiler}")
    program = os.path.join(folder, name)
    done = subprocess.run([compiler, "-O1", os.path.join(SOURCE, "tests", "hdf5", "host", name + ".c"), "-o", program,
                           "-I" + os.path.join(SOURCE, "c", "include"), LIBRARY,
                           "-Wl,-rpath," + os.path.dirname(LIBRARY)], cwd=folder, capture_output=True, text=True,
                          check=False)
    expect_equal(done.returncode, 0, done.stdout + done.stderr)
    return program


def run(arguments, folder, **settings):
    done = subprocess.run(arguments, env=environment(folder, SINK="hdf5", **settings), capture_output=True, text=True,
                          timeout=100, check=False)
    expect_equal((done.returncode, done.stdout, done.stderr), (0, "", ""), " ".join(arguments))


def case_a_program_with_the_same_hdf5(folder):
    program = build(folder, "h5cc", "serial")
    data = os.path.join(folder, "data.hdf5")
    run([program, data], folder)
    (trace,) = h5trace.read_folder(folder)
    expect_equal(len(trace.user_events()), 100000, "events")
    with h5py.File(data) as file:
        for name in ("before", "after"):
            expect(np.array_equal(file[name][:], np.arange(100000) * 3), name)


def case_an_mpi_program_with_parallel_hdf5(folder):
    if not shutil.which("mpirun"):
        raise Skip("there is no mpirun")
    program = build(folder, "h5pcc", "parallel")
    data = os.path.join(folder, "data.hdf5")
    run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", program, data], folder)
    traces = h5trace.read_folder(folder)
    expect_equal([len(trace.user_events()) for trace in traces], [1, 1], "events of the ranks")
    ranks = []
    for trace in traces:
        with h5py.File(trace.path) as file:
            ranks.append(int(file.attrs["rank"]))
    expect_equal(sorted(ranks), [0, 1], "ranks")
    with h5py.File(data) as file:
        for name in ("before", "after"):
            expect(np.array_equal(file[name][:], np.arange(20000)), name)


def use_h5py(library, path):
    """In the traced process: h5py's own HDF5 at work, also in a thread while the trace is being completed."""
    import ctypes
    import threading
    core = ctypes.CDLL(library)
    values = np.arange(50000)
    busy, turns = True, []

    def work():
        while busy:
            with h5py.File(path, "w") as file:
                file.create_dataset("x", data=values, chunks=(1000,), compression="gzip")
            with h5py.File(path) as file:
                assert np.array_equal(file["x"][:], values)
            turns.append(1)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    for number in range(5):
        assert core.dft_start(None) == 0
        for _ in range(2000):
            core.dft_instant_n(b"step", ctypes.c_size_t(4), b"host", ctypes.c_size_t(4), None, 0)
        while len(turns) < 3 * (number + 1):
            pass
        assert core.dft_stop() == 0
    busy = False
    thread.join()
    with open("/proc/self/maps") as maps:
        loaded = {line.split()[-1] for line in maps if "libhdf5" in line}
    assert len(loaded) <= 2 and all("h5py" in name for name in loaded), loaded  # only the wheel's


def case_h5py_with_another_hdf5(folder):
    path = os.path.join(folder, "data.hdf5")
    run([sys.executable, __file__, "use_h5py", LIBRARY, path], folder)
    traces = h5trace.read_folder(folder)
    expect_equal([len(trace.user_events()) for trace in traces], [2000] * 5, "events")
    print(f"h5py has HDF5 {h5py.version.hdf5_version}")


if sys.argv[1:2] == ["use_h5py"]:
    use_h5py(*sys.argv[2:])
else:
    main(globals())
