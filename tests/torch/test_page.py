"""test_page.py - the blocks of docs/torch.md, and the README's lines for PyTorch, as a reader runs them."""

import collections
import json
import os
import pathlib
import re
import subprocess

from torch_harness import PYTHON, SOURCE, environment, main, names_of, run_each, traces_of

PAGE = (SOURCE / "docs" / "torch.md").read_text()
BLOCKS = re.findall(r"```(\w+) ?(\S*)\n(.*?)```", PAGE, re.DOTALL)
SCRIPTS = {name.removesuffix(".py"): text for language, name, text in BLOCKS if language == "python" and name}
for name in ("trace_lightning", "trace_transformers", "accelerated"):  # tests/frameworks runs them
    del SCRIPTS[name]
(README,) = re.findall(r"^```python lines\n(.*?)^```$", (SOURCE / "README.md").read_text(), re.MULTILINE | re.DOTALL)
MODEL = """
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(torch.randn(8, 4), batch_size=2)
"""
LOOP = """
for samples in loader:
    model(samples).sum().backward()
    optimizer.step()
"""
(MERGE,) = (text for language, name, text in BLOCKS if (language, name) == ("sh", "merge"))


def counts_of(trace):
    return collections.Counter(event["name"] for event in trace.user_events())


def test_blocks(tmp_path):
    workers = {"workers": SCRIPTS["workers"]}  # they end with their process
    run_each(workers, tmp_path)
    others = {name: text for name, text in SCRIPTS.items() if name not in workers}
    run_each({**others, "readme": MODEL + README + LOOP}, tmp_path)  # the last one ends with the process
    traces = {name: traces_of(tmp_path / name / "out", overlap=True) for name in (*SCRIPTS, "readme")}
    assert set(SCRIPTS) == {"train", "epochs", "workers", "profiled", "exported", "compiled", "ranks"}
    check_train(*traces["train"])
    check_epochs(*traces["epochs"])
    check_workers(traces["workers"])
    check_readme(*traces["readme"])
    check_profiled(*traces["profiled"])
    check_compiled(*traces["compiled"])
    check_merge(tmp_path / "exported")
    (rank,) = traces["ranks"]
    assert counts_of(rank) == {"forward": 1} and pathlib.Path(rank.path).name.startswith("train-0.")
    assert not [block for block in BLOCKS if block[0] == "python" and not block[1]], "each one is run"


def check_train(trace):
    four = dict.fromkeys(("forward", "backward", "step", "compute.zero_grad", "fetch.iter", "fetch.block"), 4)
    assert counts_of(trace) == {**four, "fetch.init": 1, "fetch.end": 1, "capture": 1}


def check_epochs(trace):
    at = [(event["args"]["epoch"], event["args"]["step"]) for event in trace.named("backward")]
    assert at == [(epoch, step) for epoch in range(2) for step in range(4)]


def check_readme(trace):
    assert README.count("\n") == 4
    assert counts_of(trace).items() >= {"forward": 4, "backward": 4, "step": 4, "fetch.iter": 4}.items()


def check_workers(traces):
    workers = [trace for trace in traces if trace.named("item")]
    names = sorted(trace.named("thread_name")[0]["args"]["name"] for trace in workers)
    assert names == ["DataLoader worker 0", "DataLoader worker 1"]
    assert sum(len(trace.named("item")) for trace in workers) == 16


def check_profiled(trace):
    linear = [event for event in trace.named("aten::linear") if event["cat"] == "PP"]
    assert len(linear) == 2 and {event["tid"] for event in linear} == {trace.pid}
    for entry, region in zip(linear, trace.named("forward")[2:], strict=True):
        assert region["ts"] - 50 <= entry["ts"] <= region["ts"] + region["dur"] + 50


def check_compiled(trace):
    names = names_of(trace, "dynamo")
    assert {"function.mm.default", "function.threshold_backward.default", "function.addmm.default"} <= set(names)
    (linear,) = trace.named("function.linear")
    assert linear["args"]["shape"] == "4x2" and linear["args"]["dtype"] == "float32"


def check_merge(folder):
    words = MERGE.split()
    path = f"{pathlib.Path(os.environ['DFT_TEST_COMMAND']).parent}:{os.environ['PATH']}"
    command = [PYTHON, "-m", f"dftracer.{words[0]}", *words[1:]]
    subprocess.run(command, cwd=folder, env={**environment(), "PATH": path}, check=True)
    names = {event.get("name") for event in json.loads((folder / "combined.json").read_text())["traceEvents"]}
    assert {"forward", "aten::linear"} <= names


if __name__ == "__main__":
    main(__file__)
