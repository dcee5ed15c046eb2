"""test_profiler_document.py - the blocks of pytorch_profiler.rst, as they stand there."""

from torch_harness import arguments_of, main, run_each, traces_of

BASIC = """
import torch
from torch.profiler import profile, schedule, ProfilerActivity
from dftracer.python import dftracer
from dftracer.python.torch import trace_handler
model, input_data = torch.nn.Linear(10, 2), torch.randn(8, 10)

# Initialize DFTracer logger
df_logger = dftracer.initialize_log("profiler_trace.pfw", None, -1)

# Define profiler schedule
profiler_schedule = schedule(
    wait=1,
    warmup=1,
    active=2,
    repeat=1,
)

# Run profiler with trace_handler
with profile(
    activities=[ProfilerActivity.CPU],
    schedule=profiler_schedule,
    on_trace_ready=trace_handler,
    profile_memory=True,
    with_stack=True,
) as p:
    for step in range(4):
        # Your training code here
        model(input_data)
        p.step()

df_logger.finalize()
"""

TRAINING = """
import torch
import torch.nn as nn
from torch.profiler import profile, schedule, ProfilerActivity, record_function
from dftracer.python import dftracer
from dftracer.python import dft_fn as Profile
from dftracer.python.torch import trace_handler

# Initialize logger
df_logger = dftracer.initialize_log("training.pfw", None, -1)

# Model setup
model = nn.Linear(10, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

# Create DFTracer profile for additional tracing
df_test = Profile("training")

@df_test.log
def training_step(inputs, labels):
    optimizer.zero_grad()

    with record_function("forward"):
        outputs = model(inputs)

    with record_function("loss"):
        loss = criterion(outputs, labels)

    loss.backward()
    optimizer.step()
    return loss.item()

# Profiler schedule
profiler_schedule = schedule(wait=1, warmup=1, active=2, repeat=1)

with profile(
    activities=[ProfilerActivity.CPU],
    schedule=profiler_schedule,
    on_trace_ready=trace_handler,
    profile_memory=True,
) as p:
    for step in range(4):
        inputs = torch.randn(8, 10)
        labels = torch.randint(0, 2, (8,))
        loss = training_step(inputs, labels)
        p.step()

df_logger.finalize()
"""

COMBINED = """
import torch
steps, model = 3, torch.nn.Linear(10, 2)
with open("items", "wb") as file: file.write(bytes(400))
from dftracer.python import dftracer, ai
from dftracer.python.torch import trace_handler
from torch.profiler import profile, ProfilerActivity

df_logger = dftracer.initialize_log("combined.pfw", None, -1)

# Use AI decorators for I/O tracing
@ai.data.item
def load_data(idx):
    # Your data loading code
    with open("items", "rb") as file:
        data = torch.frombuffer(bytearray(file.read(40)), dtype=torch.float32)
    return data

# Use PyTorch profiler for compute tracing
with profile(
    activities=[ProfilerActivity.CPU],
    on_trace_ready=trace_handler,
) as p:
    for step in range(steps):
        data = load_data(step)
        output = model(data)
        p.step()

df_logger.finalize()
"""


def of_profiler(trace, name):
    return [event for event in trace.named(name) if event["cat"] == "PP"]


def test_blocks(tmp_path):
    programs = {"basic": BASIC, "training": TRAINING, "combined": COMBINED}
    run_each(programs, tmp_path, DFTRACER_DATA_DIR="all", DFTRACER_DISABLE_IO="0")
    check_basic(*traces_of(tmp_path / "basic", overlap=True))
    check_training(*traces_of(tmp_path / "training", overlap=True))
    check_combined(*traces_of(tmp_path / "combined", overlap=True))


def check_basic(trace):
    linear = of_profiler(trace, "aten::linear")
    assert len(linear) == 2, "two active steps"
    assert {"device", "cpu_memory", "device_memory_usage"} <= set(arguments_of(linear[0]))


def check_training(trace):
    assert len(trace.named("training_step")) == 4
    assert len(of_profiler(trace, "forward")) == len(of_profiler(trace, "loss")) == 2
    steps = trace.named("training_step")[2:]
    for entry, step in zip(of_profiler(trace, "forward"), steps, strict=True):
        assert step["ts"] - 50 <= entry["ts"] <= entry["ts"] + entry["dur"] <= step["ts"] + step["dur"] + 50


def check_combined(trace):
    items = {event["id"] for event in trace.named("item")}
    reads = [event for event in trace.named("read") if event["cat"] == "POSIX" and event["args"]["p_idx"] in items]
    assert len(items) == 3 and len(reads) >= 3
    assert len(of_profiler(trace, "aten::linear")) == 3


if __name__ == "__main__":
    main(__file__)
