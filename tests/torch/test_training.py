"""test_training.py - dftracer.python.torch.trace: a training recorded without a change to its loop, and undone."""

import collections
import os
import subprocess

from torch_harness import COMPILER, PYTHON, main, one, record, run, server

server.modules += COMPILER

START = """
import io, torch
from torch.utils.data import DataLoader, TensorDataset
from dftracer.python.torch import trace
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
loader = DataLoader(TensorDataset(torch.randn(16, 4)), batch_size=4)
def state():
    return (type(loader), "zero_grad" in vars(optimizer), model._compiled_call_impl, model.zero_grad,
            vars(optimizer).get("step"),
            torch.save, torch.load, torch.autograd.backward, torch.distributed.all_reduce)
def loop():
    for (x,) in loader:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        schedule.step()
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    torch.load(file)
"""


def counts(trace):
    return collections.Counter(event["name"] for event in trace.user_events())


def test_everything_is_recorded_and_undone(tmp_path):
    trace = one(
        START
        + """
before = state()
tracing = trace(model, [optimizer], loader)
with trace():                                     # a second one changes nothing, and takes nothing away
    pass
loop()
try: model(torch.randn(3))
except RuntimeError: pass
else: raise AssertionError
tracing.undo(); tracing.undo()
assert state() == before
loop()
with trace(model): model(torch.randn(1, 4))
assert state() == before
log.finalize()
""",
        tmp_path,
    )
    assert counts(trace) == {
        "forward": 6,
        "backward": 4,
        "step": 4,
        "compute.zero_grad": 4,
        "fetch.init": 1,
        "fetch.iter": 4,
        "fetch.block": 4,
        "fetch.end": 1,
        "capture": 1,
        "restart": 1,
    }
    blocks = {event["id"] for event in trace.named("fetch.block")}
    assert all(event["p_idx"] in blocks for event in (e["args"] for e in trace.named("backward")))


def test_programs_of_other_kinds(tmp_path):
    """Closures, mixed precision, several loaders, streams, what fails, copies, and a training that is traced twice."""
    trace = one(
        START
        + """
import copy, pickle
from torch.utils.data import IterableDataset
class Stream(IterableDataset):
    def __iter__(self): return iter(torch.randn(6, 4))
stream = DataLoader(Stream(), batch_size=2)
lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=2)
scaler = torch.amp.GradScaler("cpu")
before = state()
def closure():
    lbfgs.zero_grad()
    loss = model(torch.ones(1, 4)).square().sum()
    loss.backward()
    return loss
def fail(): raise KeyError
def expect_failure(error, use):
    try: use()
    except error: return
    raise AssertionError
def leave_early():
    for _ in loader: raise ValueError
class Own:
    def __iter__(self): self.left = 3; return self
    def __next__(self):
        if not self.left: raise StopIteration
        self.left -= 1
own = Own()
late = torch.optim.Adam(model.parameters())
first = trace(model, [optimizer, lbfgs, late], [loader, stream, own])
second = trace([model], optimizer, loader)                         # records nothing twice
calls = lbfgs.step(closure)
for x in stream:
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cpu", dtype=torch.bfloat16): loss = model(x).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer); scaler.update(); schedule.step()
torch.autograd.backward(model(torch.ones(1, 4)).sum())
expect_failure(ValueError, leave_early)
expect_failure(KeyError, lambda: optimizer.step(fail))
with ai.compute.derive("after"): optimizer.step()
assert type(pickle.loads(pickle.dumps(loader))) is DataLoader
assert len(list(pickle.loads(pickle.dumps(loader)))) == len(list(copy.copy(loader))) == 4
copy.deepcopy(optimizer).step()
late_schedule = torch.optim.lr_scheduler.StepLR(late, 1)           # makes a step of its own of the traced one
late.step(); late_schedule.step()
assert list(own) == [None] * 3                                     # is its own iterator
first.undo()                                                      # the other one still records
list(loader)
second.undo()
assert state() == before and type(stream) is DataLoader and type(own) is Own
list(loader)
late.step()
log.finalize()
""",
        tmp_path,
    )
    got = counts(trace)
    evaluations = got["backward"] - 4
    assert evaluations >= 2, "calls of the closure"
    assert got["forward"] == evaluations + 4 and got["compute.zero_grad"] == evaluations + 3
    assert got["fetch.iter"] == got["fetch.block"] == 3 + 4 + 3 + 4, "a copy of a loader has the same dataset"
    assert got["fetch.iter.cut"] == got["fetch.block.cut"] == 1 and got["fetch.init"] == got["fetch.end"] == 5
    assert got["step"] == 1 + 3 + 1 + 1 + 1 and got["compute.after"] == 1, "copies of optimizers are not traced"
    failed, inside, after = trace.named("step")[-3], trace.named("step")[-2], trace.named("compute.after")[0]
    assert inside["args"]["p_idx"] == after["id"], "not inside of the one that failed"
    assert failed["args"]["level"] == after["args"]["level"] and not any("open" in e["args"] for e in trace.events)


def test_interrupts_pickles_and_what_is_forgotten(tmp_path):
    trace = one(
        START
        + """
import gc, pickle, weakref
gc.collect()
gc.disable()
class Interrupted(torch.nn.Module):
    def forward(self, x): raise KeyboardInterrupt
class Kept(DataLoader):
    def __getstate__(self): return {"kept": 1}
    def __setstate__(self, state): vars(self).update(state)
    def __len__(self): return 7
interrupted, kept = Interrupted(), Kept([1, 2])
trace([interrupted, model], optimizer, [loader, kept])              # nobody will undo it
try: interrupted(1)
except KeyboardInterrupt: pass
with ai.compute.derive("after"): model(torch.ones(1, 4))
assert pickle.loads(pickle.dumps(torch.load)) is torch.load
copied = pickle.loads(pickle.dumps(kept))
assert type(copied) is Kept and vars(copied) == {"kept": 1}
with trace(model): model(torch.ones(1, 4))                          # not twice
iterator = iter(kept)
assert next(iterator) is not None and iterator._num_yielded == 1
gone = [weakref.ref(one) for one in (interrupted, model, optimizer, loader, kept)]
del interrupted, model, optimizer, loader, kept, schedule, copied, iterator
assert not any(one() for one in gone)
log.finalize()
""",
        tmp_path,
    )
    first, second, third = trace.named("forward")
    (after,) = trace.named("compute.after")
    assert first["args"]["p_idx"] == after["args"]["p_idx"] == third["args"]["p_idx"] == -1
    assert second["args"]["p_idx"] == after["id"]


def test_what_cannot_be_recorded_is_told(tmp_path):
    done = run(
        START
        + """
import sys, logging
lines = []
logging.getLogger("DFTRACER").addHandler(type("Lines", (logging.Handler,), {"emit": lambda _, it: lines.append(it)})())
with trace(optimizer, model, [iter([1]), (1, 2)]): loop()
assert len(lines) == 3 and all("is not recorded" in one.getMessage() for one in lines), lines  # one for the loaders
print("went on")
""",
        tmp_path,
    )
    assert done == "went on\n"


def test_a_model_saved_whole_loads_without_the_package(tmp_path):
    trace = one(
        START
        + """
import copy, sys
tracing = trace(model)
torch.save(model, sys.argv[1] + "/whole")
torch.load(sys.argv[1] + "/whole", weights_only=False)(torch.randn(1, 4))  # records nothing
copy.deepcopy(model)(torch.randn(1, 4))                           # neither
torch.jit.script(model)(torch.randn(1, 4))
model(torch.randn(1, 4))
with torch.serialization.safe_globals([torch.nn.Linear]):
    torch.load(sys.argv[1] + "/whole", weights_only=True)
""",
        tmp_path,
    )
    assert counts(trace)["forward"] == 1
    load = "import sys, torch; print(torch.load(sys.argv[1], weights_only=False)(torch.ones(1, 4)).shape)"
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    words = [PYTHON, "-c", load, tmp_path / "whole"]
    done = subprocess.run(words, env=alone, capture_output=True, text=True, check=True)
    assert done.stdout == "torch.Size([1, 2])\n", done


def test_compiled_models(tmp_path):
    """No graph is cut: what is around the compiled is recorded, and nothing in it."""
    trace = one(
        START
        + """
x = torch.randn(1, 4)
def both(x): return model(x) + compiled(x)
compiled = torch.compile(model, backend="eager", fullgraph=True)
with trace(model): torch.compile(model, backend="eager", fullgraph=True)(x)
with trace([model, compiled]), ai.compute.derive("around"): compiled(x)
class Own(torch.nn.Module):
    def forward(self, x): return x.sum()
compiled = Own()
compiled.compile(backend="eager", fullgraph=True)
with trace([model, compiled]), ai.compute.derive("by itself"):
    torch.compile(both, backend="eager", fullgraph=True)(x)
    compiled(x)
log.finalize()
""",
        tmp_path,
    )
    parents = [event["args"]["p_idx"] for event in trace.named("forward")]
    assert parents == [trace.named(name)[0]["id"] for name in ("compute.around", "compute.by itself")]


def test_compiling_is_no_part_of_forward_and_backward(tmp_path):
    """A backend that sleeps: the truth is how long, and how often it was called."""
    trace = one(
        START
        + """
import time
from torch._dynamo.backends.common import aot_autograd
def slow(graph, inputs):
    time.sleep(0.3)
    return graph.forward
def both():
    return torch.compile(torch.nn.Linear(4, 2), backend=aot_autograd(fw_compiler=slow, bw_compiler=slow))
compiled = both()
with trace(compiled):
    for _ in range(3): compiled(torch.randn(1, 4)).sum().backward()
    torch._dynamo.reset()                              # drops all callbacks
    compiled(torch.randn(1, 4))
both()(torch.randn(1, 4))
log.finalize()
""",
        tmp_path,
    )
    compiles, forwards = trace.named("compile"), trace.named("forward")
    assert len(forwards) == 4 and len(trace.named("backward")) == 3 and {e["cat"] for e in compiles} == {"dynamo"}
    assert sum(event["dur"] for event in compiles) >= 3 * 300_000
    for event in (*forwards, *trace.named("backward")):
        for compiled in compiles:
            assert compiled["ts"] + compiled["dur"] <= event["ts"] or event["ts"] + event["dur"] <= compiled["ts"]


def test_off_changes_nothing(tmp_path):
    program = START + "before = state()\ntrace(model, optimizer, loader)\nassert state() == before\nloop()\n"
    run(program, tmp_path, DFTRACER_ENABLE="0")
    assert not list(tmp_path.glob("*.pfw*"))


def test_collectives_of_two_processes(tmp_path):
    traces = record(
        """
import os, sys
import torch, torch.distributed as dist, torch.multiprocessing as mp
from dftracer.python import dftracer
from dftracer.python.torch import trace
def work(rank, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    log = dftracer.initialize_log(f"{folder}/rank-{rank}.pfw", None, rank)
    x = torch.ones(4)
    with trace():
        dist.all_reduce(x); dist.broadcast(x, 0); dist.barrier(); dist.reduce(x, 0)
        dist.all_gather([torch.zeros(4), torch.zeros(4)], x)
        dist.scatter(x, [torch.ones(4), torch.ones(4)] if rank == 0 else None, 0)
        dist.gather(x, [torch.zeros(4), torch.zeros(4)] if rank == 0 else None, 0)
        (dist.send if rank == 0 else dist.recv)(x, 1 - rank)
        dist.all_to_all_single(torch.zeros(4), x)
    dist.all_reduce(x)
    assert x.tolist()[0] > 0
    log.finalize()
    dist.destroy_process_group()
if __name__ == "__main__":
    mp.start_processes(work, (sys.argv[1],), nprocs=2, start_method="fork")
""",
        tmp_path,
        start=False,
    )
    assert len(traces) == 2
    both = {"all_reduce": 1, "bcast": 1, "barrier": 1, "reduce": 1, "all_gather": 1, "scatter": 1, "gather": 1,
            "all_to_all": 1}
    for trace in traces:
        rank = int(trace.path.split("rank-")[1].split(".")[0])
        assert counts(trace) == {**both, ("receive" if rank else "send"): 1}
        assert {event["cat"] for event in trace.user_events()} == {"comm"}


if __name__ == "__main__":
    main(__file__)
