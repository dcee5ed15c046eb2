"""test_example.py - examples/05_torch: learns, on two ranks, and its trace has every category of the tree `ai`."""

import collections
import subprocess

from torch_harness import PYTHON, SOURCE, environment, main, traces_of

EXAMPLE = SOURCE / "examples" / "05_torch" / "train.py"
CATEGORIES = {"checkpoint", "comm", "compute", "data", "dataloader", "device", "other", "pipeline"}
FILES, IMAGES, EPOCHS, BATCHES, TEST_BATCHES = 24, 32, 2, 6, 2


def test_two_ranks(tmp_path):
    launch = (PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    done = subprocess.run(
        [*launch, EXAMPLE, tmp_path],
        env=environment(OMP_NUM_THREADS="1", DFTRACER_DISABLE_IO="0", WORKERS="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "epoch 1" in done.stdout and "right in 100%" in done.stdout, done.stdout
    traces = traces_of(tmp_path / "trace")
    ranks = [trace for trace in traces if trace.named("train")]
    workers = [trace for trace in traces if trace not in ranks]
    assert len(ranks) == 2 and len(workers) == 2 * 2, "one for each of two loaders"
    for trace in ranks:
        check_rank(trace, is_first=trace.path.endswith("train-0.pfw"))
    assert {event["cat"] for trace in traces for event in trace.user_events()} - {"POSIX", "STDIO"} == CATEGORIES
    check_workers(workers)


def check_rank(trace, is_first):
    counts = collections.Counter(event["name"] for event in trace.user_events())
    steps = EPOCHS * BATCHES
    everything = steps + EPOCHS * TEST_BATCHES
    expected = {
        "backward": steps,
        "step": steps,
        "compute.zero_grad": steps,
        "all_reduce": steps,
        "forward": everything,
        "fetch.iter": everything,
        "fetch.block": everything,
        "transfer": everything,
        "epoch.block": EPOCHS,
        "evaluate": EPOCHS,
        "other.log": EPOCHS,
        "capture": EPOCHS if is_first else 0,
        "restart": 1,
        "preprocess.generate": (FILES + 4) // 2,
    }
    assert {name: counts[name] for name in expected} == expected
    backward = trace.named("backward")[-1]["args"]
    assert (backward["epoch"], backward["step"]) == (EPOCHS - 1, BATCHES - 1)


def check_workers(workers):
    items = [event for trace in workers for event in trace.named("item")]
    assert len(items) == EPOCHS * (FILES * IMAGES + 2 * 4 * IMAGES), "those of the test on both ranks"
    for trace in workers:
        assert trace.named("thread_name")[0]["args"]["name"] == "DataLoader worker 0"
        inside = {event["id"] for event in trace.named("item")}
        reads = [event for event in trace.named("read") if event["args"]["p_idx"] in inside]
        assert {event["args"]["ret"] for event in reads} >= {32 * 32 + 1}


if __name__ == "__main__":
    main(__file__)
