"""untouched.py - runs trainings that know nothing of tracing, with the start folder as `dftracer run` sets it.

SPDX-License-Identifier: MIT
"""

import collections
import json
import os
import subprocess

import harness
from frameworks_harness import HERE, PYTHON, SOURCE, environment, near, traces_of

EXAMPLES = SOURCE / "examples" / "06_untouched"
EPOCHS, BATCHES, EVALUATIONS, BATCH = 3, 16, 4, 2  # of the examples, on each rank
STEPS = {"torch": 8, "accelerate": 8, "lightning": 8, "fabric": 8, "transformers": 8, "keras": BATCHES}  # of an epoch
LAUNCHER = ("-m", "torch.distributed.run", "--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0")


def variables(**changes):
    """Tracing on, and the package found at the start of Python."""
    paths = [str(SOURCE / "python" / "dftracer" / "start"), environment()["PYTHONPATH"]]
    fixed = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "KERAS_BACKEND": "torch"}
    return environment(**{"PYTHONPATH": os.pathsep.join(paths), "DS_ACCELERATOR": "cpu", **fixed, **changes})


def launch(program, folder, *arguments, ranks=1, status=0, is_measured=True, **changes):
    """Runs a program in the folder; returns what it printed."""
    command = [PYTHON, str(program), *map(str, arguments)]
    if is_measured:
        command[1:1] = [str(HERE / "measured.py")]
    if ranks > 1:
        command[1:1] = [*LAUNCHER, f"--nproc-per-node={ranks}"]
    done = harness.launch_process(command, env=variables(**changes), cwd=folder, timeout=200)
    assert done.returncode == status, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def run_example(name, folder, *arguments, **options):
    """Runs a training of examples/06_untouched."""
    return launch(EXAMPLES / f"train_{name}.py", folder, *arguments, **options)


def trainers(folder):
    """The traces of the processes that train."""
    return [trace for trace in traces_of(folder / "traces") if trace.named("forward")]


def counts(trace):
    """name -> epoch -> number of events."""
    found = collections.defaultdict(collections.Counter)
    for event in trace.user_events():
        found[event["name"]][event["args"].get("epoch")] += 1
    return {name: dict(epochs) for name, epochs in found.items()}


def check(trace, steps=BATCHES // 2, saves=1):
    """Every number of a training of one of the examples, in each epoch."""
    expected = {
        "epoch": 1,
        "evaluate": 1,
        "fetch.iter": BATCHES + EVALUATIONS,
        "fetch.block": BATCHES + EVALUATIONS,
        "forward": BATCHES + EVALUATIONS,
        "backward": BATCHES,
        "step": steps,
        "capture": saves,
    }
    found = counts(trace)
    wanted = {name: dict.fromkeys(range(EPOCHS), number) for name, number in expected.items() if number}
    assert {name: found.get(name) for name in wanted} == wanted, found
    if steps < BATCHES:  # two batches have the same step
        numbers = [event["args"]["step"] for event in trace.named("backward")]
        assert numbers == [number // 2 for number in range(BATCHES)] * EPOCHS


def check_times(folder, traces, others=0):
    """Items sleep, so loading them takes what they slept: in the trainer's fetches, or in its workers."""
    slept = [int(line) for path in folder.glob("slept-*") for line in path.read_text().splitlines()]
    batches = [event for trace in traces for event in trace.named("data.batch")]
    names = ("fetch.iter", "fetch.iter.cut")
    loading = batches or [event for trace in traces for name in names for event in trace.named(name)]
    ranks = len([trace for trace in traces if trace.named("forward")])
    assert len(loading) * BATCH == len(slept) == ranks * EPOCHS * (BATCHES + EVALUATIONS) * BATCH + others * BATCH
    near(1000 * sum(event["dur"] for event in loading), sum(slept), "loading")


def check_verdict(folder, steps, ranks=1, others=0):
    """Most of the time of these trainings is the sleep of their items; `others`: batches that it only looks at."""
    words = [os.environ["DFT_TEST_COMMAND"], "summary", "--json", folder / "traces"]
    summary = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    verdict = summary["verdict"]
    found = [verdict[name] for name in ("class", "is_sure", "base", "ranks", "steps")]
    assert found == ["input", True, "training loop", ranks, EPOCHS * steps], verdict
    fetches = [row["fetches"] for row in summary["training"]["by_epoch"]]
    assert [fetches[0] - others, *fetches[1:]] == [ranks * (BATCHES + EVALUATIONS)] * EPOCHS, fetches


def check_epochs(trace):
    """Epochs follow each other, and hold what they should."""
    epochs = sorted(trace.named("epoch"), key=lambda event: event["ts"])
    for one, following in zip(epochs, epochs[1:], strict=False):
        assert one["ts"] + one["dur"] == following["ts"]
    for event in trace.named("forward") + trace.named("capture") + trace.named("evaluate"):
        (own,) = [one for one in epochs if one["args"]["epoch"] == event["args"]["epoch"]]
        assert own["ts"] <= event["ts"] and event["ts"] + event["dur"] <= own["ts"] + own["dur"], (own, event)
