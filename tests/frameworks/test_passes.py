"""test_passes.py - what a loop over a loader is: an epoch or an evaluation; and when an epoch ends.

SPDX-License-Identifier: MIT
"""

import os
import subprocess

import pytest
from frameworks_harness import main, traces_of
from plain import LOOP, NUMBERS, START, in_each, record
from untouched import counts, launch

EVALUATED = {"evaluate": 1, "fetch.iter": 6, "forward": 6}
VALIDATION = "    for samples in evaluation: model(samples).sum().item()\n"
PASSES = {
    "training in evaluation mode": ("model.eval()\n" + LOOP, {**NUMBERS, "evaluate": None}),
    "mode set in each epoch": (
        LOOP.replace("2):\n", "2):\n    model.eval()\n") + "    model.train()\n",
        {**NUMBERS, "evaluate": None},
    ),
    "evaluation in training mode": (LOOP + VALIDATION, {**NUMBERS, **EVALUATED}),
    "evaluation in training mode of one batch": (
        LOOP + VALIDATION.replace("in evaluation", "in DataLoader(torch.randn(2, 4), 2)"),
        {**NUMBERS, "evaluate": 1, "fetch.iter": 5, "forward": 5},
    ),
    "evaluation of the training set": (
        LOOP + VALIDATION.replace("in evaluation", "in training"),
        {"epoch": 1, "evaluate": 1, "backward": 4, "step": 4},
    ),
    "a teacher first": (
        "teacher = nn.Linear(4, 1).eval()\n"
        + LOOP.replace(" in training:\n", " in training:\n        with torch.no_grad(): teacher(samples)\n"),
        {**NUMBERS, "forward": 8, "evaluate": None},
    ),
    "losses of several batches": (
        """
for epoch in range(2):
    total = 0
    for number, samples in enumerate(training):
        total = total + model(samples).sum()
        if number % 2: total.backward(); optimizer.step(); total = 0
""",
        {"epoch": 1, "fetch.iter": 4, "forward": 4, "backward": 2, "step": 2, "evaluate": None},
    ),
    "two trainings": (
        """
for epoch in range(2):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for samples in DataLoader(torch.randn(8, 4), batch_size=2):
        model(samples).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
""",
        NUMBERS,
    ),
    "a new set in each epoch": (
        """
for epoch in range(2):
    for samples in DataLoader(torch.randn(8, 4), batch_size=2):
        optimizer.zero_grad()
        model(samples).sum().backward()
        optimizer.step()
""",
        NUMBERS,
    ),
}


@pytest.mark.parametrize("what", PASSES)
def test_passes(tmp_path, what):
    program, numbers = PASSES[what]
    found = record(tmp_path, START + program)
    expected = in_each({name: number for name, number in numbers.items() if number})
    assert {name: found.get(name) for name in numbers} == {**dict.fromkeys(numbers), **expected}, found
    for evaluation in record.trace.named("evaluate"):
        assert not [one for one in record.trace.named("backward") if is_in(one, evaluation)]


def is_in(event, other):
    return other["ts"] <= event["ts"] and event["ts"] + event["dur"] <= other["ts"] + other["dur"]


def test_an_epoch_ends_before_a_pause(tmp_path):
    save = "torch.save(model.state_dict(), 'w')\n"
    pause = "import time; time.sleep(1.5)\n"
    record(tmp_path, START + LOOP + "    " + save + pause + LOOP + pause + save)
    epochs, saves = record.trace.named("epoch"), record.trace.named("capture")
    assert [one["args"]["epoch"] for one in epochs] == [0, 1, 2, 3]
    assert is_in(saves[0], epochs[0]) and is_in(saves[1], epochs[1]), "they follow at once"
    assert not any(is_in(saves[2], epoch) for epoch in epochs), "it follows a pause"
    for before, after in ((epochs[1], epochs[2]), (epochs[3], saves[2])):
        assert after["ts"] - before["ts"] - before["dur"] >= 1500000, "the pause is in no epoch"
    assert epochs[0]["ts"] + epochs[0]["dur"] == epochs[1]["ts"]


def test_a_kill_keeps_the_fetch(tmp_path):
    """Each fetch is in the trace once the program has its batch, wherever it is killed."""
    kill = "__import__('os').kill(__import__('os').getpid(), 9)"
    places = {
        "the first fetch": LOOP.replace("        model(", f"        {kill}\n        model("),
        "the fetch": LOOP.replace("        model(", f"        if epoch: {kill}\n        model("),
        "the forward": LOOP.replace("model(samples).sum()", f"(model(samples).sum() + (0 if not epoch else {kill}))"),
        "the step": LOOP + f"        if epoch: {kill}\n",
    }
    for where, program in places.items():
        folder = tmp_path / where.replace(" ", "")
        folder.mkdir()
        (folder / "program.py").write_text(START + program)
        launch(folder / "program.py", folder, status=-9)
        subprocess.run([os.environ["DFT_TEST_COMMAND"], "recover", folder / "traces"], check=True, capture_output=True)
        (trace,) = traces_of(folder / "traces")
        assert counts(trace)["fetch.iter"] == ({0: 1} if where == "the first fetch" else {0: 4, 1: 1}), where


if __name__ == "__main__":
    main(__file__)
