"""test_io.py - initialize_log alone records the process's own I/O: plain files, NumPy, h5py."""

import pytest
from harness import main, one, record

PROGRAM = """
import os, sys
from dftracer.python import ai, dftracer
folder = sys.argv[1]
os.makedirs(folder + "/data"), os.makedirs(folder + "/elsewhere")
log = dftracer.initialize_log(folder + "/x.pfw", {data_dir}, -1)
import numpy, h5py
os.chdir(folder)
with ai.data.item:
    with open("data/plain.bin", "wb") as file: file.write(b"x" * 10000)
    with open(folder + "/data/plain.bin", "rb") as file: assert len(file.read()) == 10000
with open("elsewhere/other", "w") as file: file.write("y")
numpy.save("data/a.npy", numpy.arange(1000))
assert numpy.load("data/a.npy").sum() == 499500
with h5py.File("data/b.h5", "w") as file: file["d"] = numpy.ones(100)
with h5py.File("data/b.h5") as file: assert file["d"][:].sum() == 100
log.finalize()
"""


def files_of(trace):
    names = {event["args"]["value"]: event["args"]["name"] for event in trace.named("FH")}
    events = [event for event in trace.events if event["cat"] in ("POSIX", "STDIO")]
    return events, {names[event["args"]["fhash"]] for event in events if "fhash" in event["args"]}


@pytest.mark.parametrize("data_dir", ["folder + '/data'", "'data'", "'all'"])
def test_in_place(tmp_path, data_dir):
    enter = "os.chdir(folder)\n" if data_dir == "'data'" else ""
    program = PROGRAM.replace("log = dftracer", enter + "log = dftracer")
    trace = one(program.format(data_dir=data_dir), tmp_path, start=False, DFTRACER_DISABLE_IO="0")
    events, files = files_of(trace)
    for name in ("plain.bin", "a.npy", "b.h5"):
        assert f"{tmp_path}/data/{name}" in files, (name, sorted(files))
    assert (f"{tmp_path}/elsewhere/other" in files) is (data_dir == "'all'")
    written = [event for event in events if event["name"] == "write" and event["args"]["ret"] == 10000]
    item = trace.named("item")[0]
    assert written and written[0]["args"]["p_idx"] == item["id"]  # inside the region that did it


def test_all_in_the_environment_counts_before_the_argument(tmp_path):
    changes = {"DFTRACER_DISABLE_IO": "0", "DFTRACER_DATA_DIR": "all"}
    trace = one(PROGRAM.format(data_dir="folder + '/data'"), tmp_path, start=False, **changes)
    assert {f"{tmp_path}/elsewhere/other", f"{tmp_path}/data/a.npy"} <= files_of(trace)[1]


@pytest.mark.parametrize(
    "changes", [{"DFTRACER_DISABLE_IO": "1"}, {"DFTRACER_INIT": "PRELOAD", "DFTRACER_DISABLE_IO": "0"}]
)
def test_not_when_told_so(tmp_path, changes):
    trace = one(PROGRAM.format(data_dir="'all'"), tmp_path, start=False, **changes)
    assert files_of(trace)[0] == [] and trace.named("item")


def test_without_a_data_dir_no_io_is_recorded(tmp_path):
    traces = record(PROGRAM.format(data_dir="None"), tmp_path, start=False, DFTRACER_DISABLE_IO="0")
    assert files_of(traces[0])[0] == []


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_record_their_own(tmp_path, method):
    traces = record(
        """
        import multiprocessing, os, sys
        from dftracer.python import dftracer
        def work(number):
            with open(f"data/{number}.txt", "w") as file: file.write("x" * 500)
        if __name__ == "__main__":
            os.chdir(sys.argv[1]); os.mkdir("data")
            log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", "data")
            with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool:
                pool.map(work, range(6), chunksize=1)
                pool.close(); pool.join()
            log.finalize()
        """,
        tmp_path,
        method,
        start=False,
        DFTRACER_DISABLE_IO="0",
    )
    files = set().union(*(files_of(trace)[1] for trace in traces))
    assert {f"{tmp_path}/data/{number}.txt" for number in range(6)} <= files


if __name__ == "__main__":
    main(__file__)
