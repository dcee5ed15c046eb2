"""test_page.py - the blocks of docs/python.md, as a reader runs them."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from harness import environment, main, one, record, traces_of

SOURCE = pathlib.Path(os.environ["DFT_TEST_SOURCE"])
PAGE = (SOURCE / "docs" / "python.md").read_text()
BLOCKS = re.findall(r"```(\w+) ?(\S*)\n(.*?)```", PAGE, re.DOTALL)
SCRIPTS = {name: text for language, name, text in BLOCKS if language == "python"}
COMMANDS = [line for language, name, text in BLOCKS if language == "sh" and not name for line in text.splitlines()]


def shell(command, folder):
    variables = {**environment(), "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    del variables["DFTRACER_ENABLE"], variables["DFTRACER_DISABLE_IO"], variables["DFTRACER_TRACE_COMPRESSION"]
    command = command.replace("dftracer ", os.environ["DFT_TEST_COMMAND"] + " ", command.startswith("dftracer "))
    done = subprocess.run(command, shell=True, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_from_the_script_to_the_trace(tmp_path):
    for name in ("make_data.py", "train.py", "train_traced.py"):
        (tmp_path / name).write_text(SCRIPTS[name])
    shell("python make_data.py", tmp_path)
    shell("python train.py", tmp_path)
    plain = (tmp_path / "data" / "weights.npy").read_bytes()
    off, on, summary = COMMANDS
    shell(off, tmp_path)
    assert not (tmp_path / "out").exists()
    shell(on, tmp_path)
    assert (tmp_path / "data" / "weights.npy").read_bytes() == plain
    trace = traces_of(tmp_path)[0]
    assert trace.path == f"{tmp_path}/out/train.pfw.gz"
    counts = {
        name: len(trace.named(name)) for name in ("train", "epoch.block", "fetch.block", "item", "forward", "step")
    }
    assert counts == {"train": 1, "epoch.block": 3, "fetch.block": 12, "item": 12, "forward": 12, "step": 12}
    item = trace.named("item")[0]
    assert any(event["args"].get("p_idx") == item["id"] for event in trace.events if event["cat"] == "POSIX")
    told = shell(summary, tmp_path)
    assert "forward" in told and "POSIX" in told


def test_which_name_counts(tmp_path):
    (tmp_path / "data").mkdir()
    call = 'log = dftracer.initialize_log("out/train.pfw", data_dir="data")\n'
    assert call in SCRIPTS["train_traced.py"]
    start = f"from dftracer.python import ai, dftracer\n{call}"
    (tmp_path / "short.py").write_text(start + "with ai.compute.step: pass\n")
    (tmp_path / "prefix.py").write_text(start.replace("train.pfw", "train") + "with ai.compute.step: pass\n")

    def files():
        return sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.pfw.gz"))

    for _ in range(2):
        shell("DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=other/x python short.py", tmp_path)
    shell("dftracer run --out traces -- python short.py", tmp_path)
    assert files() == ["out/train.pfw.gz"]
    for _ in range(2):
        shell("DFTRACER_ENABLE=1 python prefix.py", tmp_path)
    assert len(files()) == 3
    shell("dftracer run --io --out traces -- python short.py", tmp_path)
    assert len(files()) == 4 and files()[-1].startswith("traces/")


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("forms", {"backward": 2, "all_reduce": 2, "transfer": 1, "preprocess.collate": 1}),
        ("names", {"relax": 1, "exchange": 1, "sweep.iter": 3, "sweep.yield": 3}),
        ("coroutines", {"item": 3, "evaluate": 1}),
    ],
)
def test_blocks(tmp_path, block, expected):
    trace = one(SCRIPTS[block], tmp_path)
    assert {name: len(trace.named(name)) for name in expected} == expected
    assert {event["name"] for event in trace.user_events()} == set(expected)


def test_processes(tmp_path):
    start = 'if __name__ == "__main__":\n    import sys\n    from dftracer.python import dftracer\n'
    start += '    log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")\n'
    traces = record(start + SCRIPTS["processes"], tmp_path, start=False)
    assert sum(len(trace.named("preprocess")) for trace in traces) == 8
    assert all(pathlib.Path(trace.path).name == f"x-{trace.pid}.pfw" for trace in traces)


def test_block_of_the_readme(tmp_path):
    text = re.search(r"```python\n(.*?)```", (SOURCE / "README.md").read_text(), re.DOTALL)[1]
    trace = one(text, tmp_path, start=False)
    assert trace.values("forward", "step") == [0, 1]


def test_every_block_is_run():
    assert set(SCRIPTS) == {"make_data.py", "train.py", "train_traced.py", "forms", "names", "coroutines", "processes"}


if __name__ == "__main__":
    main(__file__)
