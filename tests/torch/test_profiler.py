"""test_profiler.py - trace_handler: what torch.profiler measured, on our clock (PYTHON_API section 10)."""

from torch_harness import COMPILER, arguments_of, main, one, run, server

server.modules += COMPILER

KEYS = {
    "device",
    "cpu_memory",
    "is_remote",
    "device_memory_usage",
    "input_size",
    "total_cpu_percent",
    "total_device_percent",
}


def of_profiler(trace):
    return [event for event in trace.events if event["cat"] == "PP"]


def test_every_entry_with_its_values(tmp_path):
    trace = one(
        """
import json, threading, torch
from torch.profiler import ProfilerActivity, profile
from dftracer.python.torch import trace_handler
kept = []
def handler(result):
    kept.extend((e.key, e.cpu_memory_usage, e.cpu_time_total) for e in result.events())
    trace_handler(result)
def work():
    print(threading.get_native_id())
    with profile(activities=[ProfilerActivity.CPU], on_trace_ready=handler, record_shapes=True, profile_memory=True):
        x = torch.randn(4, 4, requires_grad=True)
        (x @ x).sum().backward()
thread = threading.Thread(target=work); thread.start(); thread.join()
log.finalize()
print(json.dumps(kept))
""",
        tmp_path,
        overlap=True,
    )
    import json

    from harness import record

    thread, kept = record.stdout.splitlines()
    events = of_profiler(trace)
    assert [[e["name"], e["args"]["cpu_memory"]] for e in events] == [entry[:2] for entry in json.loads(kept)]
    assert all(set(arguments_of(event)) == KEYS for event in events)
    assert all(abs(event["dur"] - entry[2]) <= 1.01 for event, entry in zip(events, json.loads(kept), strict=True))
    shapes = {event["name"]: event["args"]["input_size"] for event in events}
    assert shapes["aten::mm"] == 4 and shapes["aten::randn"] == 0
    shares = [event["args"]["total_cpu_percent"] for event in events]
    assert all(0 <= share <= 100.001 for share in shares) and max(shares) > 1
    assert {event["tid"] for event in events} == {int(thread)} != {trace.pid}, "the kernel's thread id"
    assert trace.end["args"]["used.torch_profiler"] == 1


def test_times_line_up_with_regions(tmp_path):
    trace = one(
        """
import time, torch
from torch.profiler import ProfilerActivity, profile, record_function
from dftracer.python.torch import trace_handler
x = torch.randn(8, 8)
with profile(activities=[ProfilerActivity.CPU], on_trace_ready=trace_handler):
    for step in range(200):
        with ai.compute.forward(step=step), record_function(f"inside {step}"):
            torch.relu(x)
        if step % 50 == 0: time.sleep(0.05)
log.finalize()
""",
        tmp_path,
        overlap=True,
    )
    regions = {event["args"]["step"]: event for event in trace.named("forward")}
    inside = {int(e["name"].split()[1]): e for e in of_profiler(trace) if e["name"].startswith("inside")}
    assert len(inside) == len(regions) == 200
    gaps = sorted(inside[step]["ts"] - regions[step]["ts"] for step in regions)
    rests = sorted(
        regions[step]["ts"] + regions[step]["dur"] - inside[step]["ts"] - inside[step]["dur"] for step in regions
    )
    # A region that the scheduler interrupted tells nothing of the clocks: the middle one does.
    assert min(gaps[0], rests[0]) >= -50 and gaps[100] <= 50 and rests[100] <= 50, (gaps, rests)


def test_schedules_units_and_no_trace(tmp_path):
    program = """
        import torch
        from torch.profiler import ProfilerActivity, profile, schedule
        from dftracer.python import ai
        from dftracer.python.torch import trace_handler
        from dftracer.python.torch.profiler import trace_handler as second
        from dftracer.python.torch.common import trace_handler as third
        from dftracer.python.dbg.torch.profiler import trace_handler as fourth
        assert trace_handler is second is third is fourth
        plan = schedule(wait=1, warmup=1, active=2, repeat=2)
        {before}
        with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=trace_handler) as profiler:
            for step in range(9):
                torch.relu(torch.zeros(3))
                with ai.compute.derive("handled"): profiler.step()
        {after}
    """
    trace = one(program.format(before="", after="log.finalize()"), tmp_path, overlap=True, DFTRACER_TIME_METRIC="NS")
    events = of_profiler(trace)
    assert len([event for event in events if event["name"] == "aten::relu"]) == 4
    assert all(event["ts"] > 10**18 for event in events), "nanoseconds since the epoch"
    assert {(event["args"]["p_idx"], event["args"]["level"]) for event in events} == {(-1, 1)}, "not below the handler"
    for name, enable in (("off", "0"), ("not_opened", "1")):
        folder = tmp_path / name
        folder.mkdir()
        run(program.format(before="", after=""), folder, DFTRACER_ENABLE=enable)
        assert not list(folder.glob("*.pfw*"))


def test_cycles_that_are_kept_and_no_events(tmp_path):
    trace = one(
        """
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from dftracer.python.torch import trace_handler
plan = schedule(wait=0, warmup=1, active=1, repeat=3)
options = dict(schedule=plan, on_trace_ready=trace_handler, acc_events=True)
with profile(activities=[ProfilerActivity.CPU], **options) as profiler:
    for step in range(6):
        with ai.compute.forward(step=step), record_function(f"step {step}"): torch.relu(torch.zeros(3))
        profiler.step()
trace_handler(profile())                                 # was never started
log.finalize()
""",
        tmp_path,
        overlap=True,
    )
    forward = {event["args"]["step"]: event for event in trace.named("forward")}
    steps = {int(event["name"].split()[1]): event for event in of_profiler(trace) if event["name"].startswith("step ")}
    assert sorted(steps) == [1, 3, 5] and len(trace.named("step 1")) == 1
    assert all(forward[step]["ts"] - 50 <= event["ts"] for step, event in steps.items())
    assert all(event["ts"] <= forward[step]["ts"] + forward[step]["dur"] for step, event in steps.items())


def test_entries_of_any_make(tmp_path):
    """Attributes in another order, in slots, or missing; several threads, and a device."""
    trace = one(
        """
from types import SimpleNamespace as Plain
from dftracer.python.torch import trace_handler
class Slots:
    __slots__ = ("cpu_parent", "device_resource_id", "is_async", "name", "self_device_time_total", "thread",
                 "time_range", "use_device")
    def __init__(self, **given):
        for name, value in given.items(): setattr(self, name, value)
def entry(kind, name, start, end, parent=None, **more):
    given = dict(name=name, time_range=Plain(start=start, end=end), cpu_parent=parent, thread=1, is_async=False,
                 use_device="cuda", self_device_time_total=more.get("device_time_total", 0), **more)
    return kind(**dict(sorted(given.items(), reverse=len(name) % 2)))
whole = entry(Plain, "whole", 0, 100, device_resource_id=77, device_type=0, input_shapes=[[2, 3], [], [4]])
part = entry(Slots, "part", 10, 40, whole, device_resource_id=77)
late = entry(Plain, "later", 50, 60, part, device_resource_id=1, device_type=Plain(value=0), is_remote=True)
kernel = entry(Plain, "kernel", 20, 45, device_type=Plain(value=1), device_index=2, device_resource_id=7,
               device_time_total=30.0, device_memory_usage=-2**40)
others = entry(Plain, "kernel", float("nan"), 5, device_type=Plain(value=1), device_time_total=10.0)
odd = entry(Plain, 5 * "x\\ud800", 3, 4, device_resource_id="?", cpu_memory_usage=2**70)
events = [whole, part, late, kernel, others, odd, Plain()]
results = Plain(trace_start_ns=lambda: 1_700_000_000_000_000_000)
trace_handler(Plain(events=lambda: events, profiler=Plain(kineto_results=results, record_shapes=True)))
trace_handler(Plain(events=lambda: [entry(Plain, "undated", 5, 9)]))
log.finalize()
""",
        tmp_path,
        overlap=True,
    )
    whole, part, late, kernel, other, odd, nothing, undated = of_profiler(trace)
    assert [whole["tid"], part["tid"], late["tid"]] == [77, 77, 77], "a thread that only one entry told of"
    assert (whole["ts"], whole["dur"], part["ts"], part["dur"]) == (17 * 10**14, 100, 17 * 10**14 + 10, 30)
    assert whole["args"]["input_size"] == 3 and late["args"]["is_remote"] == 1 and part["args"]["is_remote"] == 0
    # 100 + 30 + 10 + 1 of all, without 30 and 10 that their parents hold already
    assert abs(whole["args"]["total_cpu_percent"] - 100 * 100 / 101) < 1e-9
    assert kernel["tid"] == 2**23 | 2 << 12 | 7 and kernel["args"]["device"] == 1 and other["tid"] != kernel["tid"]
    assert kernel["args"]["device_memory_usage"] == -(2**40) and kernel["args"]["total_cpu_percent"] == 0
    assert [kernel["args"]["total_device_percent"], other["args"]["total_device_percent"]] == [75, 25]
    assert odd["name"] == 5 * "x\\ud800" and odd["args"]["cpu_memory"] == 0 and set(arguments_of(nothing)) == KEYS
    (start,) = trace.named("start")
    assert 5 <= undated["ts"] - start["ts"] <= 5 + 1e6 and undated["dur"] == 4, "counted from when the trace was opened"


def test_an_object_in_place_of_the_native_module_gets_the_entries(tmp_path):
    run(
        """
        import torch
        from torch.profiler import ProfilerActivity, profile
        from dftracer.python import dftracer
        from dftracer.python.torch import trace_handler
        calls = []
        class Stand:
            def get_time(self): return 5
            def get_config(self, key): return "US"
            def mark_used(self, name): pass
            def log_event(self, **given): calls.append(given)
        dftracer.get_instance().logger = Stand()
        with profile(activities=[ProfilerActivity.CPU], on_trace_ready=trace_handler): torch.relu(torch.zeros(3))
        relu = [call for call in calls if call["name"] == "aten::relu"]
        assert len(relu) == 1 and relu[0]["cat"] == "PP" and relu[0]["int_args"]["device"] == (0, 0), calls
        """,
        tmp_path,
    )


if __name__ == "__main__":
    main(__file__)
