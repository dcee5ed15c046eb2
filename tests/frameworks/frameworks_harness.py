"""frameworks_harness.py - runs a training of a framework, and compares its traces with what the training measured.

SPDX-License-Identifier: MIT
"""

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import harness
import sizes
from harness import environment, traces_of
from preloaded import Preloaded

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
PYTHON = str(SOURCE / "build" / "frameworks" / "bin" / "python")
PAGE = (SOURCE / "docs" / "torch.md").read_text()
NAMES = {"fetch": "fetch.iter", "end": "fetch.end", "checkpoint": "capture"}  # others are the same
NEAR = 0.05


def near(recorded, true, where, stolen_ns=0):
    """Within 5 % of the truth. What other processes stole may be in what is recorded; it is told, if it matters."""
    if stolen_ns > NEAR / 2 * true:
        print(f"{where}: the machine stole {100 * stolen_ns / true:.0f} % of the time", file=sys.__stderr__)
    assert (1 - NEAR) * true <= recorded <= (1 + NEAR) * true + stolen_ns, (where, recorded, true, stolen_ns)


def block_of(name):
    """The text of a block of docs/torch.md."""
    (text,) = re.findall(rf"```python {name}\n(.*?)```", PAGE, re.DOTALL)
    return text


def run_program(text, folder, launch):
    """Runs a program's text, in the folder and with its name as the argument."""
    (folder / "program.py").write_text(text)
    variables = environment(CUDA_VISIBLE_DEVICES="", HF_HUB_OFFLINE="1")
    done = launch([PYTHON, str(folder / "program.py"), str(folder)], env=variables, cwd=folder, timeout=200)
    assert done.returncode == 0, done.stderr


def only_trace(folder):
    """The trace that a program left in the folder."""
    (trace,) = traces_of(folder / "out")
    return trace


class Training:
    """A training that has run: its traces, its summary, and what it measured itself."""

    def __init__(self, program, folder, *arguments, ranks=1, launch=None):
        self.folder = folder
        paths = os.pathsep.join([str(folder), str(HERE), environment()["PYTHONPATH"]])
        variables = environment(PYTHONPATH=paths, OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="", HF_HUB_OFFLINE="1")
        command = [PYTHON, str(HERE / program), str(folder), *map(str, arguments)]
        if ranks > 1:
            port = "--rdzv-endpoint=127.0.0.1:0"
            command[1:1] = ["-m", "torch.distributed.run", f"--nproc-per-node={ranks}", "--rdzv-backend=c10d", port]
        run = launch if launch and ranks == 1 else harness.launch_process
        done = run(command, env=variables, cwd=folder, timeout=200)
        assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
        self.stderr = done.stderr
        self.traces = traces_of(folder / "out")
        words = [os.environ["DFT_TEST_COMMAND"], "summary", "--json", folder / "out"]
        self.summary = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
        self.truths = [json.loads(path.read_text()) for path in sorted(folder.glob("truth-*.json"))]
        assert len(self.truths) == ranks

    def check_all(self, saves=1):
        """Numbers and times in all epochs, also the first and the last; `saves`: files of a checkpoint."""
        self.check("fetch", sizes.BATCHES + sizes.EVALUATIONS)
        self.check("forward", sizes.BATCHES + sizes.EVALUATIONS)
        self.check("backward", sizes.BATCHES)
        self.check("step", sizes.BATCHES // sizes.ACCUMULATION)
        self.check("checkpoint", saves)
        self.check_summary()

    def check(self, what, count):
        """One kind of work, by the events of each rank."""
        for trainer, measured in zip(self.trainers(), self.truths, strict=True):
            events = trainer.named(NAMES.get(what, what))
            for epoch, (calls, duration_ns) in measured.get(what, {}).items():
                own = [event for event in events if str(event["args"].get("epoch")) == epoch]
                assert len(own) == calls, (what, epoch, len(own), calls)
                assert calls == count or (what == "checkpoint" and measured is not self.truths[0]), (what, calls)
                near(1000 * sum(event["dur"] for event in own), duration_ns, (what, epoch))
            assert len(events) == sum(calls for calls, _ in measured.get(what, {}).values()), what

    def check_summary(self):
        """The same by the command; it counts the start and the end of loaders as fetching."""
        training = self.summary["training"]
        around = [event for one in self.trainers() for event in one.named("fetch.init") + one.named("fetch.end")]
        fetch_ns = training["fetch_ns"] - 1000 * sum(event["dur"] for event in around)
        near(fetch_ns, self.measured("fetch"), "fetch of the summary")
        near(training["compute_ns"], self.measured("compute"), "compute of the summary")
        near(training["checkpoint_ns"], self.measured("checkpoint"), "checkpoint of the summary")
        assert [row["epoch"] for row in training["by_epoch"]] == list(range(sizes.EPOCHS))
        for row in training["by_epoch"]:
            near(row["compute_ns"], self.measured("compute", row["epoch"]), ("compute by epoch", row["epoch"]))
            assert row["fetches"] == len(self.truths) * (sizes.BATCHES + sizes.EVALUATIONS)

    def measured(self, what, epoch=None):
        """Nanoseconds of all ranks."""
        sums = [one for measured in self.truths for one in measured.get(what, {}).items()]
        return sum(total for at, (_, total) in sums if epoch is None or at == str(epoch))

    def trainers(self):
        """The traces of the processes that train, by rank."""
        found = [trace for trace in self.traces if trace.named("forward")]
        return sorted(found, key=lambda trace: [event["args"]["value"] for event in trace.named("PR")])


def server(*modules):
    """Forks of an interpreter that has loaded these."""
    return Preloaded(PYTHON, *modules)


def main(file):
    """Runs the tests of a file."""
    if not os.path.exists(PYTHON):
        print("SKIP: the frameworks are not there (./dev test frameworks installs them into build/frameworks)")
        sys.exit(77)
    harness.main(file)
