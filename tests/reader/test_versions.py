"""This version reads traces, spools and sinks of 5.0: exactly the events that sample.c of tests/data/5.0 recorded."""

import glob
import json
import lzma
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import oracle

DATA = os.path.join(os.environ["DFT_TEST_SOURCE"], "tests", "data", "5.0")
BOOT = os.path.join("/proc", "sys", "kernel", "random", "boot_id")
PID_NAMESPACE_AT, PID_AT, BOOT_AT, HOST_AT, FOLDER_AT, BASE_AT = 24, 40, 48, 88, 160, 4512  # in the header of layout 4


def command(*arguments):
    done = subprocess.run([os.environ["DFT_TEST_COMMAND"], *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return done.stdout


def is_same(actual, expected, what):
    assert actual == expected, f"{what}\n  actual    {str(actual)[:500]}\n  expected  {str(expected)[:500]}"


def check_events(path, steps):
    """Everything that sample.c records, each event once, with its arguments."""
    events = [json.loads(line) for line in command("cat", path).splitlines()]
    ids = [event["id"] for event in events]
    is_same(len(ids), len(set(ids)), f"{path}: ids")
    by_name = {}
    for event in events:
        by_name.setdefault(event["name"], []).append(event)
    host = by_name["HH"][0]["args"]["value"]
    (everything,) = by_name["everything"]
    is_same(
        everything["args"],
        {
            "hhash": host,
            "p_idx": -1,
            "level": 1,
            "int": -7,
            "double": 0.25,
            "string": 'café "quoted"\n',
        },
        "arguments of everything",
    )
    (now,) = by_name["now"]
    is_same(now["args"], {"hhash": host, "p_idx": everything["id"], "level": 2}, "arguments of now")
    (level,) = by_name["level"]
    is_same((level["ph"], level["args"]), ("C", {"arg.level": 2.5}), "the counter")
    notes = [event["args"]["value"] for event in by_name["CM"] if event["args"]["name"] == "note"]
    is_same(notes, ["a sample"], "the metadata")
    numbers = {}
    for event in by_name["step"]:
        numbers.setdefault(event["tid"], []).append(event["args"]["n"])
        is_same((event["cat"], event["ph"], event["args"]["level"]), ("test", "X", 1), "a step")
    expected = [list(range(1, steps + 1)), list(range(steps + 1, 2 * steps + 1))]
    is_same(sorted(map(sorted, numbers.values())), expected, "numbers of the two threads")
    is_same(by_name["start"][0]["args"]["version"], "5.0.0", "who wrote it")
    return by_name


def published_traces_are_read(_):
    for name in ("trace.pfw", "trace.pfw.gz"):
        by_name = check_events(os.path.join(DATA, name), 100)
        is_same(by_name["end"][0]["args"]["num_events"], 202, "events")
        _, problems = oracle.run(3, os.path.join(DATA, name))
        is_same(problems, [], "problems")
        command("validate", os.path.join(DATA, name))


def put(data, at, text):
    data[at : at + len(text) + 1] = text.encode() + b"\0"


def restore(name, out, spool_path=None):
    """The folder of a killed process, as if it had run on this node."""
    with lzma.open(os.path.join(DATA, f"{name}.spool.xz")) as file:
        data = bytearray(file.read())
    base = data[BASE_AT : data.index(0, BASE_AT)].decode()
    put(data, HOST_AT, os.uname().nodename)
    with open(BOOT) as file:
        put(data, BOOT_AT, file.read().strip())
    struct.pack_into("=Q", data, PID_NAMESPACE_AT, os.stat("/proc/self/ns/pid").st_ino)
    struct.pack_into("=I", data, PID_AT, 0x7FFFFFFF)  # no process can have it
    put(data, FOLDER_AT, out)
    inner = os.path.join(out, ".dftracer")
    os.makedirs(inner)
    claim = os.path.join(inner, f"{base}.spool")
    shutil.copy(os.path.join(DATA, f"{name}.0-jsonl"), os.path.join(inner, f"{base}.0-jsonl"))
    with open(spool_path or claim, "wb") as file:
        file.write(data)
    return claim


def check_recovered(out):
    """Before the recovery and after it."""
    check_events(out, 3500)
    command("recover", out)
    (path,) = glob.glob(f"{out}/*.pfw.gz")
    by_name = check_events(path, 3500)
    (region,) = by_name["open"]
    is_same((region["args"]["why"], region["args"]["open"]), ("killed", 1), "the open region")
    end = by_name["end"][0]["args"]
    is_same((end["num_events"], end["recovered"]), (7003, 1), "the end")
    is_same(os.listdir(out), [os.path.basename(path)], "left over")


def a_spool_is_read_and_recovered(folder):
    out = os.path.join(folder, "out")
    restore("killed", out)
    check_recovered(out)


def a_spool_elsewhere_is_found_by_its_pointer(folder):
    out, spool_path = os.path.join(folder, "out"), os.path.join(folder, "elsewhere.spool")
    claim = restore("elsewhere", out, spool_path)
    with open(os.path.join(DATA, "elsewhere.pointer")) as file:
        lines = file.read().splitlines()
    start = "dftracer spool at "
    assert lines[0].startswith(start + "/"), lines
    with open(BOOT) as file:
        lines = [start + spool_path, os.uname().nodename, file.read().strip()]
    with open(claim, "w") as file:
        file.write("\n".join(lines) + "\n")
    check_recovered(out)


def a_sink_works(folder):
    sink = oracle.program("sink_of_5_0.so")
    environment = dict(os.environ, DFTRACER_ENABLE="1", DFTRACER_LOG_FILE=f"{folder}/trace", DFTRACER_SINK=sink)
    done = subprocess.run(
        [oracle.program("recorder"), "50"], env=environment, input="\n", capture_output=True, text=True, check=False
    )
    is_same((done.returncode, done.stderr), (0, ""), "the program")
    (path,) = glob.glob(f"{folder}/*.list")
    with open(path) as file:
        lines = file.read().splitlines()
    assert lines[-1].startswith("end ") and len(lines) > 50, lines[:5]


def main():
    for case in (
        published_traces_are_read,
        a_spool_is_read_and_recovered,
        a_spool_elsewhere_is_found_by_its_pointer,
        a_sink_works,
    ):
        with tempfile.TemporaryDirectory(prefix="dft-versions-") as folder:
            case(folder)
        print(f"{case.__name__}: ok")


if __name__ == "__main__":
    sys.exit(main())
