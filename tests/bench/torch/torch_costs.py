"""torch_costs.py - what the operations of a compiled graph, and entries of torch.profiler, take to be recorded.

    python torch_costs.py ROUNDS FOLDER

Lines of samples, microseconds of the thread's CPU: `plain` and `recorded` an operation of a graph, `entry` an entry
of the profiler beyond what torch's own events() takes.
SPDX-License-Identifier: MIT
"""

import sys
from time import thread_time_ns

import torch
from dftracer.python import create_backend, dftracer
from dftracer.python.torch import trace_handler
from torch.profiler import ProfilerActivity, profile

rounds, folder = int(sys.argv[1]), sys.argv[2]
OPERATIONS, CALLS, ENTRIES = 100, 50, 20_000


def chain(x):
    for _ in range(OPERATIONS):
        x = x + 1
    return x


def operation(function, x):
    begin = thread_time_ns()
    for _ in range(CALLS):
        function(x)
    return (thread_time_ns() - begin) / (CALLS * OPERATIONS * 1e3)


def entry(x):
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        for _ in range(ENTRIES):
            x = x + 1
    count = len(profiler.events())  # made at the first call, and kept
    begin = thread_time_ns()
    trace_handler(profiler)
    return (thread_time_ns() - begin) / (count * 1e3)


log = dftracer.initialize_log(f"{folder}/torch", None, -1)
torch.set_num_threads(1)
x = torch.zeros(1)
functions = {
    "plain": torch.compile(chain, backend="eager"),
    "recorded": torch.compile(chain, backend=create_backend(autograd=False)),
}
with torch.no_grad():
    for function in functions.values():
        operation(function, x)
    for _ in range(rounds):
        for name, function in functions.items():
            print(name, operation(function, x))
    for _ in range(max(rounds // 4, 3)):
        print("entry", entry(x))
log.finalize()
