"""test_convert.py - dftracer convert to HDF5: the ranks of a job, spools, the layout `table`, virtual files.

Every event and argument of the JSON lines is there, and dftracer.trace.read sees the same in all of them.
SPDX-License-Identifier: MIT
"""

import glob
import os
import signal
import subprocess
import sys

import h5lines
import h5py
import h5trace
import numpy as np
from harness import COMMAND, Skip, environment, expect, expect_equal, main, recover, seeded, untraced

SOURCE = os.environ["DFT_TEST_SOURCE"]
RECORD = os.path.join(SOURCE, "tests", "hdf5", "test_equivalence.py")
STEADY = os.path.join(os.path.dirname(os.environ["DFT_TEST_PROGRAMS"]), "faults", "steady")
RANKS = 3
SPOOL_EVENTS = 20000  # more than 1 MiB of steady's
TIMES = "0,7,1000000,1727286231145121"  # the reader's times are nanoseconds of 64 bits


def record_job(folder, events, sinks="jsonl,hdf5"):
    rng = seeded()
    for rank in range(RANKS):
        subprocess.run([sys.executable, RECORD, "record", str(rng.randrange(1 << 30)), str(events), TIMES], check=True,
                       env=environment(folder, SINK=sinks, RANK=rank), timeout=100)


def convert(*arguments, status=0):
    done = subprocess.run([COMMAND, "convert", *arguments], env=untraced(), capture_output=True, text=True, timeout=100,
                          check=False)
    expect_equal(done.returncode, status, f"convert {arguments}: {done.stdout}{done.stderr}")
    return done.stderr


def lines_of(folder):
    return [line for name in sorted(glob.glob(os.path.join(folder, "*.pfw.gz"))) for line in h5lines.json_lines(name)]


def compare_all(lines, path):
    rows = h5trace.read(path)
    expect_equal(len(rows), len(lines), path)
    for line, row in zip(lines, rows, strict=True):
        h5lines.compare(line, row)
    return rows


def case_the_ranks_of_a_job_in_one_file(folder):
    record_job(folder, 600)
    job = os.path.join(folder, "job.h5")
    convert(folder, "-o", job)
    rows = compare_all(lines_of(folder), job)
    with h5py.File(job) as file:
        rank, process = file["events/rank"][:], file["events/process"][:]
        expect_equal(file["processes/rank"][:].tolist(), list(range(RANKS)), "ranks")
        expect(np.array_equal(rank, file["processes/rank"][:][process]), "rank of each event")
        pids = file["processes/pid"][:]
        expect_equal([row["pid"] for row in rows], pids[process].tolist(), "pids")
    expect_equal([name for name in os.listdir(folder) if name.startswith(".")], [], "left over")


def case_ranks_that_were_recorded_as_tables(folder):
    """Named one by one, or by their folder; the new file may lie there, too, and be made again."""
    record_job(folder, 600)
    parts = sorted(glob.glob(os.path.join(folder, "trace-*.h5")))
    job = os.path.join(folder, "job.h5")
    convert(*parts, "-o", job)
    lines = lines_of(folder)
    compare_all(lines, job)
    with h5py.File(job) as file:
        expect_equal(file["processes/rank"][:].tolist(), list(range(RANKS)), "ranks")
        expect_equal(file["processes/source"].asstr()[:].tolist(), parts, "sources")
        expect(np.array_equal(file["events/rank"][:], file["events/process"][:]), "rank of each event")
    message = convert(*parts, *glob.glob(os.path.join(folder, "*.pfw.gz")), "-o", job, status=2)
    expect("convert them separately" in message, message)
    message = convert(job, "-o", os.path.join(folder, "again.h5"), status=1)
    expect("only files of one process" in message, message)
    for trace in glob.glob(os.path.join(folder, "*.pfw.gz")):
        os.unlink(trace)
    os.unlink(job)
    for _ in range(2):
        convert(folder, "-o", job)
        with h5py.File(job) as file:
            expect_equal(int(file.attrs["events"]), len(lines), "events")
    expect_equal(sorted(os.listdir(folder)), sorted(["job.h5", *map(os.path.basename, parts)]), "files")


def case_tables_of_many_chunks(folder):
    subprocess.run([STEADY, "40000"], env=environment(folder, SINK="hdf5"), check=False, timeout=100)
    (part,) = glob.glob(os.path.join(folder, "trace-*.h5"))
    job = os.path.join(folder, "job.h5")
    convert(part, "-o", job)
    with h5py.File(part) as one, h5py.File(job) as two:
        expect(len(one["events/id"]) > 2 * 16384, "more than a chunk")
        for name in ("events/id", "events/ts", "args/int/value", "args/string/event", "texts/bytes"):
            expect(np.array_equal(one[name][:], two[name][:]), name)


def case_a_virtual_file_shows_the_same(folder):
    record_job(folder, 600)
    together = os.path.join(folder, "together.h5")
    convert(*sorted(glob.glob(os.path.join(folder, "trace-*.h5"))), "-o", together, "--to", "hdf5-links")
    compare_all(lines_of(folder), together)
    parts = glob.glob(os.path.join(folder, "trace-*.h5"))
    expect(os.path.getsize(together) < sum(map(os.path.getsize, parts)), "a copy")
    message = convert(together, "-o", os.path.join(folder, "again.h5"), "--to", "hdf5-links", status=1)
    expect("only files of one process" in message, message)


def case_tables_hold_the_same_rows(folder):
    """More than a chunk of rows; read by PyTables."""
    import tables
    record_job(folder, 6000, "jsonl")
    columns, rows = os.path.join(folder, "columns.h5"), os.path.join(folder, "rows.h5")
    convert(folder, "-o", columns)
    convert(folder, "-o", rows, "--to", "hdf5-table")
    with h5py.File(columns) as one, tables.open_file(rows) as two:
        names = one["names"][:]
        expect(len(one["events/id"]) > 16384, "more than a chunk")
        for path in ("events", "args/int", "args/uint", "args/double", "args/bool", "args/string"):
            table = two.get_node("/" + path)
            expect(isinstance(table, tables.Table), f"{path} is a {type(table)}")
            data = table.read()
            for name in data.dtype.names:
                expected = one[path][name][:]
                if name in ("name", "cat", "key"):
                    expected = names[expected]
                expect(np.array_equal(data[name].view("u8") if data[name].dtype == "f8" else data[name],
                                      expected.view("u8") if expected.dtype == "f8" else expected), f"{path}/{name}")
        expect_equal(len(two.root.events.read_where("name == b'end'")), RANKS, "a question to PyTables")
        expected = one["events/dur"][:].tolist()
    import pandas
    expect_equal(pandas.read_hdf(rows, "events")["dur"].tolist(), expected, "the table of pandas")


def case_a_spool_of_a_dead_process(folder):
    """Before anybody has recovered it."""
    script = ("import ctypes, os, signal; core = ctypes.CDLL(os.environ['DFT_TEST_LIBRARY'])\n"
              "size = ctypes.c_size_t\n"
              "for i in range(500): core.dft_instant_n(b'tick', size(4), b'app', size(3), None, 0)\n"
              "os.kill(os.getpid(), signal.SIGKILL)")
    subprocess.run([sys.executable, "-c", script], env=environment(folder), check=False)
    expect_equal(glob.glob(os.path.join(folder, "*.pfw.gz")), [], "nothing was published")
    convert(folder, "-o", os.path.join(folder, "dead.h5"))
    rows = h5trace.read(os.path.join(folder, "dead.h5"))
    expect_equal(sum(row["name"] == "tick" for row in rows), 500, "events of the spool")


def case_a_spool_with_segments_before_it(folder):
    """Of a process with the sink hdf5, which died: lines of every kind of event, and what a recovery makes of it."""
    done = subprocess.run([sys.executable, RECORD, "record-and-die", "7", "6000", TIMES], check=False, timeout=100,
                          env=environment(folder, SINK="hdf5:segment=100000", SPOOL_LIMIT="1M"))
    expect_equal(done.returncode, -signal.SIGKILL, "status")
    expect(len(glob.glob(os.path.join(folder, ".dftracer", "*.0-hdf5-0*"))) >= 2, "segments")
    convert(folder, "-o", os.path.join(folder, "dead.h5"))
    recover(folder)
    (published,) = glob.glob(os.path.join(folder, "trace-*.h5"))
    shown, stored = h5trace.read(os.path.join(folder, "dead.h5")), h5trace.read(published)
    expect_equal(len(shown), len(stored), "events")
    for line, row in zip(shown, stored, strict=True):
        h5lines.compare(line, row)


def numbers_of(path):
    """The argument n of all events that have ended."""
    with h5py.File(path) as file:
        names = file["names"][:].tolist()
        event, key, value = (file["args/int"][name][:] for name in ("event", "key", "value"))
    if b"n" not in names:
        return np.array([])
    is_open = np.isin(event, event[key == names.index(b"open")]) if b"open" in names else np.zeros(len(event), bool)
    return value[(key == names.index(b"n")) & ~is_open]


def case_a_process_that_goes_on_recording(folder):
    """It writes, completes and gives back parts of segments meanwhile. Of what is in its spool some may be missing."""
    process = subprocess.Popen([STEADY, "1500000"],
                               env=environment(folder, SINK="hdf5:segment=200000", SPOOL_LIMIT="1M"))
    job, counts = os.path.join(folder, "job.h5"), []
    try:
        while process.poll() is None:
            if not glob.glob(os.path.join(folder, ".dftracer", "*.spool")):
                continue
            done = subprocess.run([COMMAND, "convert", folder, "-o", job], env=untraced(), capture_output=True,
                                  text=True, timeout=100, check=False)
            if done.returncode:  # it has just published its trace, or not begun
                reasons = ("no trace", "hdf5", "No such file", "the last line is not complete")
                expect(any(reason in done.stderr for reason in reasons), done.stderr)
                continue
            numbers = np.sort(numbers_of(job))
            expect(len(np.unique(numbers)) == len(numbers), f"{len(numbers)} numbers, some of them twice")
            sure = numbers[: max(0, len(numbers) - SPOOL_EVENTS)]
            expect(np.array_equal(sure, np.arange(1, len(sure) + 1)), f"{len(numbers)} numbers, some are missing")
            counts.append(len(numbers))
    finally:
        process.kill()
        process.wait()
    print(f"events at each look: {counts}")
    expect(len(set(counts)) >= 3, "looks at different times")


def case_a_name_that_ends_in_h5_is_used_as_it_is(folder):
    run = os.path.join(folder, "run.h5")
    subprocess.run([sys.executable, RECORD, "record", "1", "10", TIMES], check=True, timeout=100,
                   env=environment(folder, SINK="jsonl,hdf5", LOG_FILE=run))
    expect_equal(sorted(os.listdir(folder)), ["run.h5", "run.pfw.gz"], "files")
    compare_all(lines_of(folder), run)


def case_what_cannot_be_done_is_told(folder):
    message = convert(os.path.join(folder, "nothing"), "-o", os.path.join(folder, "x.h5"), status=1)
    expect("nothing" in message, message)
    record_job(folder, 10, "jsonl")
    message = convert(folder, "-o", os.path.join(folder, "no", "such", "x.h5"), status=1)
    expect("x.h5" in message, message)
    traces = glob.glob(os.path.join(folder, "*.gz"))
    message = convert(*traces, "-o", os.path.join(folder, "x.h5"), "--to", "hdf5-links", status=1)
    expect(".pfw.gz" in message, message)
    expect_equal([name for name in os.listdir(folder) if not name.endswith(".pfw.gz")], [], "left over")


def reader():
    for place in os.environ.get("DFT_TEST_PYTHONPATH", "").split(":"):
        sys.path.insert(0, place)
    try:
        from dftracer.trace import read
    except ImportError as error:
        raise Skip(f"dftracer.trace: {error}") from error
    return read


def case_read_sees_the_same_in_every_form(folder):
    read = reader()
    record_job(folder, 600)
    job, rows = os.path.join(folder, "job.h5"), os.path.join(folder, "rows.h5")
    together = os.path.join(folder, "together.h5")
    parts = sorted(glob.glob(os.path.join(folder, "trace-*.h5")))
    convert(folder, "-o", job)
    convert(folder, "-o", rows, "--to", "hdf5-table")
    convert(*parts, "-o", together, "--to", "hdf5-links")
    keys = ["n", "value", "größe"]
    frame = read(folder, args=keys).pandas()
    lines = lines_of(folder)
    expect_equal(len(frame), len(lines), "rows")
    expect_equal(frame["name"].tolist(), [line["name"] for line in lines], "names")
    expect_equal(frame["start_ns"].tolist(), [line.get("ts", 0) * 1000 for line in lines], "times")
    expect_equal(frame["dur_ns"].tolist(), [line.get("dur", 0) * 1000 for line in lines], "durations")
    expect_equal(frame["n"].isna().tolist(), ["n" not in line["args"] for line in lines], "where the argument is")
    expect_equal(sorted(frame["rank"].unique().tolist()), list(range(RANKS)), "ranks")
    complete = sum(line["ph"] == "X" for line in lines)
    expect(0 < complete < len(lines), complete)
    expect_equal((len(frame[frame.phase == "X"]), len(frame.query("phase == 'X'"))), (complete, complete), "phase X")
    for path in (job, rows, together, parts):
        other = read(path, args=keys).pandas()
        for column in frame.columns:
            if column in keys:  # lines have no room for NaN: it is a text there
                continue
            expect(other[column].astype(str).tolist() == frame[column].astype(str).tolist(), f"{path}: {column}")
        expect_equal(other["n"].isna().tolist(), frame["n"].isna().tolist(), f"{path}: where the argument is")
    expect_equal(read(job).arrow().num_rows, len(lines), "rows of the Arrow table")
    expect_equal(read(job).numpy()["name"][0], "HH", "a text in an array")
    expect_equal(int((read(job).numpy()["phase"] == "X").sum()), complete, "phase X in an array")
    expect_equal(read(job).arrow()["phase"].to_pylist().count("X"), complete, "phase X in an Arrow table")
    try:
        read(os.path.join(folder, "no-such-trace"))
    except FileNotFoundError as error:
        expect("no-such-trace" in str(error), error)
    else:
        expect(False, "nothing to read was not told")


def case_read_finds_the_tables_of_a_folder(folder):
    read = reader()
    record_job(folder, 60, "hdf5")
    parts = sorted(glob.glob(os.path.join(folder, "trace-*.h5")))
    expect_equal(read(folder).numpy()["id"].tolist(), read(parts).numpy()["id"].tolist(), "events")
    convert(*parts, "-o", os.path.join(folder, "together.h5"), "--to", "hdf5-links")
    try:
        read(folder)
    except ValueError as error:
        expect("together.h5 holds a whole job" in str(error), error)
    else:
        expect(False, "every event was read twice")


main(globals())
