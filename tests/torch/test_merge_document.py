"""test_merge_document.py - the steps of torch_profiler_and_dftracer.md on two ranks: torch's trace, ours, and both."""

import json
import os
import pathlib
import subprocess

from torch_harness import PYTHON, environment, main, run

RANKS = """
import sys
import torch, torch.distributed as dist, torch.multiprocessing as mp
from dftracer.python import ai

class args: trace_dir, data = sys.argv[1] + "/miniGPT_trace", sys.argv[1] + "/data"
world_size = 2
model, inputs = torch.nn.Linear(64, 64), torch.randn(32, 64)

def work(rank):
    dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}/meet", rank=rank, world_size=2)
    from torch.profiler import profile, record_function, ProfilerActivity
    from dftracer.logger import dftracer as PerfTrace, dft_fn as Profile
    PerfTrace.initialize_log(logfile=f"{args.trace_dir}/trace-{rank}-of-{world_size}.pfw", \\
        data_dir=f"{args.data}", \\
        process_id=rank)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        with record_function("model_inference"):
            with ai.compute.forward:
                output = model(inputs)
        dist.all_reduce(output)
    prof.export_chrome_trace(f"{args.trace_dir}/torch-trace-{rank}-of-{world_size}.json")
    PerfTrace.get_instance().finalize()
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.start_processes(work, nprocs=2, start_method="fork")
"""

MERGE = (
    "merge_trace --file-list ./miniGPT_trace/torch-trace-{0}-of-2.json ./miniGPT_trace/trace-{0}-of-2.pfw "
    "--output combine-trace-{0}-of-2.json"
)


def merge_trace(command, folder):
    """Runs the script as an installation would, with the dftracer command of this build."""
    words = [PYTHON, "-m", "dftracer.merge_trace", *command.split()[1:]]
    path = f"{pathlib.Path(os.environ['DFT_TEST_COMMAND']).parent}:{os.environ['PATH']}"
    variables = {**environment(), "PATH": path}
    return subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def one(events, name):
    (event,) = [event for event in events if event.get("ph") == "X" and event["name"] == name]
    return event


def is_within(inner, outer, slack_us=50):
    end = inner["ts"] + inner["dur"]
    return outer["ts"] - slack_us <= inner["ts"] <= end <= outer["ts"] + outer["dur"] + slack_us


def test_document_on_two_ranks(tmp_path):
    run(RANKS, tmp_path, DFTRACER_TRACE_COMPRESSION="1")  # as where nobody says otherwise: .pfw stands for .pfw.gz
    starts = []
    for rank in range(2):
        done = merge_trace(MERGE.format(rank), tmp_path)
        assert done.returncode == 0, done.stderr
        events = json.loads((tmp_path / f"combine-trace-{rank}-of-2.json").read_text())["traceEvents"]
        ours, torchs, inner = one(events, "forward"), one(events, "model_inference"), one(events, "aten::addmm")
        assert is_within(ours, torchs) and is_within(inner, ours), (torchs, ours, inner)
        assert ours["pid"] == torchs["pid"] == inner["pid"], "threads of one process"
        assert any(event.get("name") == "gloo:all_reduce" for event in events), "torch's threads are there"
        starts.append(ours["ts"])
    assert abs(starts[0] - starts[1]) < 60e6, "times of the epoch, the same for both"


def test_mistakes_are_told(tmp_path):
    (tmp_path / "a.json").write_text("nonsense")
    for command, status, words in (
        ("merge_trace --output x.json", 2, "--file-list"),
        ("merge_trace --file-list missing.pfw --output x.json", 1, "missing.pfw"),
        ("merge_trace --file-list a.json --output x.json", 1, "a.json"),
    ):
        done = merge_trace(command, tmp_path)
        assert done.returncode == status and words in done.stderr, (done.returncode, done.stderr)
        assert "Traceback" not in done.stderr


if __name__ == "__main__":
    main(__file__)
