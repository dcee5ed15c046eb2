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
ITEM_NS = 20_000_000  # what an item costs
MOVING = ("accelerate", "lightning", "fabric", "transformers")  # who moves batches to the device
STEPS = {"torch": 8, "accelerate": 8, "lightning": 8, "fabric": 8, "transformers": 8, "keras": BATCHES}  # of an epoch
LAUNCHER = ("-m", "torch.distributed.run", "--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0")


def variables(**changes):
    """Tracing on, and the package found at the start of Python."""
    paths = [str(SOURCE / "python" / "dftracer" / "start"), environment()["PYTHONPATH"]]
    fixed = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "KERAS_BACKEND": "torch"}
    return environment(**{"PYTHONPATH": os.pathsep.join(paths), "DS_ACCELERATOR": "cpu", **fixed, **changes})


def launch(program, folder, *arguments, ranks=1, status=0, **changes):
    """Runs a program in the folder; returns what it printed."""
    command = [PYTHON, str(program), *map(str, arguments)]
    if ranks > 1:
        command[1:1] = [*LAUNCHER, f"--nproc-per-node={ranks}"]
    done = harness.launch_process(command, env=variables(**changes), cwd=folder, timeout=200)
    assert done.returncode == status, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def launch_exact(program, folder, *arguments, **options):
    """The same for an example, or what is made of one; each item takes ITEM_NS."""
    paths = variables()["PYTHONPATH"] + os.pathsep + str(HERE / "exact")
    return launch(program, folder, *arguments, PYTHONPATH=paths, **options)


def run_example(name, folder, *arguments, **options):
    """Runs a training of examples/06_untouched."""
    return launch_exact(EXAMPLES / f"train_{name}.py", folder, *arguments, **options)


def trainers(folder):
    """The traces of the processes that train."""
    return [trace for trace in traces_of(folder / "traces") if trace.named("forward")]


def counts(trace):
    """name -> epoch -> number of events."""
    found = collections.defaultdict(collections.Counter)
    for event in trace.user_events():
        found[event["name"]][event["args"].get("epoch")] += 1
    return {name: dict(epochs) for name, epochs in found.items()}


def check(trace, steps=BATCHES // 2, saves=1, is_moving=False):
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
        "transfer": is_moving * (BATCHES + EVALUATIONS),
    }
    found = counts(trace)
    wanted = {name: dict.fromkeys(range(EPOCHS), number) for name, number in expected.items() if number}
    assert {name: found.get(name) for name in wanted} == wanted, found
    assert not [name for name in found if name.endswith(".cut")], "each batch was used"
    if steps < BATCHES:  # two batches have the same step
        numbers = [event["args"]["step"] for event in trace.named("backward")]
        assert numbers == [number // 2 for number in range(BATCHES)] * EPOCHS


def duration_ns(traces, *names):
    """The sum of all events of these names."""
    return 1000 * sum(event["dur"] for trace in traces for name in names for event in trace.named(name))


def stolen_ns(folder):
    """What other processes stole from those that load, between their items."""
    return sum(int(path.read_text()) for path in folder.glob("stolen-*"))


def check_times(folder, traces, is_ahead=False):
    """Loading takes what items cost: in the trainer's fetches, or in its workers; `is_ahead`: they load for nothing."""
    name = "data.batch" if any(trace.named("data.batch") for trace in traces) else "fetch.iter"
    batches = sum(len(trace.named(name)) for trace in traces)
    ranks = len([trace for trace in traces if trace.named("forward")])
    assert is_ahead or batches == ranks * EPOCHS * (BATCHES + EVALUATIONS), batches
    near(duration_ns(traces, name), batches * BATCH * ITEM_NS, "loading", stolen_ns(folder))


def check_verdict(folder, traces, steps):
    """Most of the time of these trainings is the cost of their items."""
    words = [os.environ["DFT_TEST_COMMAND"], "summary", "--json", folder / "traces"]
    summary = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    verdict, training, ranks = summary["verdict"], summary["training"], len(traces)
    found = [verdict[name] for name in ("class", "is_sure", "base", "ranks", "steps")]
    assert found == ["input", True, "training loop", ranks, EPOCHS * steps], verdict
    batches = ranks * (BATCHES + EVALUATIONS)
    fetches = {row["epoch"]: row["fetches"] for row in training["by_epoch"]}
    assert fetches.pop(None, 0) == 0 and fetches == dict.fromkeys(range(EPOCHS), batches), fetches
    around = duration_ns(traces, "fetch.init", "fetch.end")  # loaders that start and end are no fetches, but waiting
    items_ns = EPOCHS * batches * BATCH * ITEM_NS
    near(training["fetch_ns"] - around, items_ns, "fetch of the summary", stolen_ns(folder))


def check_epochs(trace):
    """Epochs follow each other, and hold what they should."""
    epochs = sorted(trace.named("epoch"), key=lambda event: event["ts"])
    for one, following in zip(epochs, epochs[1:], strict=False):
        assert one["ts"] + one["dur"] == following["ts"]
    for event in trace.named("forward") + trace.named("capture") + trace.named("evaluate"):
        (own,) = [one for one in epochs if one["args"]["epoch"] == event["args"]["epoch"]]
        assert own["ts"] <= event["ts"] and event["ts"] + event["dur"] <= own["ts"] + own["dur"], (own, event)
