"""test_communication.py - what one rank waits for in another: all-reduce in backward, and wait() of a handle."""

import collections

from torch_harness import main, record

PROGRAM = """
import os, sys, time
import torch, torch.distributed as dist, torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from dftracer.python import ai, dftracer
from dftracer.python.torch import trace
PAUSE = 0.2
def step(model, rank):
    loss = model(torch.ones(1, 4)).sum()
    if rank == 1: time.sleep(PAUSE)                   # rank 0 waits for it in its backward
    loss.backward()
def work(rank, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    log = dftracer.initialize_log(f"{folder}/rank-{rank}.pfw", None, rank)
    early = DistributedDataParallel(torch.nn.Linear(4, 2))
    with trace(early):
        late = DistributedDataParallel(torch.nn.Linear(4, 2))
        for number, model in enumerate((early, early, late)):
            ai.update(step=number)
            step(model, rank)
        with early.no_sync(): early(torch.ones(1, 4)).sum().backward()
        x = torch.ones(1)
        if rank == 1: time.sleep(PAUSE)
        handle = dist.all_reduce(x, async_op=True)
        handle.wait()
        assert x.item() == 2
        dist.all_gather_object([None, None], rank)    # is made of other collectives, each with a wait
    step(early, rank)
    assert not dist.Work.wait.__module__.startswith("dftracer")
    log.finalize()
    dist.destroy_process_group()
if __name__ == "__main__":
    mp.start_processes(work, (sys.argv[1],), nprocs=2, start_method="fork")
"""


def test_ranks_wait_for_each_other(tmp_path):
    traces = record(PROGRAM, tmp_path, start=False)
    assert len(traces) == 2
    for trace in traces:
        count = collections.Counter(event["name"] for event in trace.user_events())
        assert count == {"forward": 3, "backward": 4, "all_reduce": 3 + 1, "comm.wait": 1, "all_gather": 1}
        inside = {event["args"]["p_idx"] for event in trace.named("all_reduce")}
        assert inside == {-1, *(event["id"] for event in trace.named("backward")[:3])}
        assert trace.values("all_reduce", "step")[:3] == [0, 1, 2]
        for reduced, backward in zip(trace.named("all_reduce"), trace.named("backward")[:3], strict=False):
            assert backward["ts"] <= reduced["ts"]
            assert reduced["ts"] + reduced["dur"] <= backward["ts"] + backward["dur"]
    first, second = sorted(traces, key=lambda trace: trace.path)
    waits = [*first.named("all_reduce")[:3], *first.named("comm.wait")]
    (asynchronous,) = (event for event in second.named("all_reduce") if event["args"]["p_idx"] == -1)
    for wait, joined in zip(waits, [*second.named("backward")[:3], asynchronous], strict=True):
        assert wait["ts"] + wait["dur"] >= joined["ts"], "it ends after the other rank has begun"


if __name__ == "__main__":
    main(__file__)
