"""test_dynamo.py - dftracer.python.dynamo: the operations of compiled functions (PYTHON_API section 9)."""

from torch_harness import COMPILER, arguments_of, main, names_of, one, run, run_fresh, server

server.modules += COMPILER

MODEL = """
import torch
from dftracer.python import Dynamo, create_backend, dftracer_dynamo_backend, dynamo
torch.manual_seed(0)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 16, 3, 1)
        self.fc = torch.nn.Linear(16 * 15 * 15, 10)
    def forward(self, x):
        x = torch.nn.functional.max_pool2d(torch.nn.functional.relu(self.conv(x)), 2)
        return self.fc(x.view(x.size(0), -1))
def gradients(model):
    return [one.grad.clone() for one in model.parameters()]
def same(a, b):
    return all(torch.equal(one, other) for one, other in zip(a, b))
"""
FORWARD = [
    "function.convolution.default",
    "function.relu.default",
    "function.detach.default",
    "function.max_pool2d_with_indices.default",
    "function.getitem",
    "function.getitem",
    "function.view.default",
    "function.t.default",
    "function.addmm.default",
]


def test_forward_and_backward_graphs_give_eager_values(tmp_path):
    trace = one(
        MODEL
        + """
model, x = Model(), torch.randn(1, 3, 32, 32)
expected = model(x); expected.sum().backward(); eager = gradients(model); model.zero_grad()
compiled = torch.compile(model, backend=dftracer_dynamo_backend)
got = compiled(x); got.sum().backward()
assert torch.equal(got, expected) and same(gradients(model), eager)
got = compiled(x)                                        # the second call compiles nothing
assert len(dynamo.call_stack) == len(set(id(one) for one in dynamo.call_stack))
assert dynamo.count_parameters(model.conv) == 448 and dynamo.count_parameters(None) is None
before = len(dynamo.call_stack)
compiled(x)
assert len(dynamo.call_stack) == before > 9
dynamo.reset()
assert dynamo.call_stack == []
log.finalize()
""",
        tmp_path,
    )
    names = names_of(trace, "dynamo")
    assert names[:9] == FORWARD
    assert names[-9:] == names[-18:-9] == FORWARD
    backward = names[9:-18]
    assert "function.convolution_backward.default" in backward and "function.threshold_backward.default" in backward
    for event in trace.events:
        if event["cat"] == "dynamo":
            assert arguments_of(event) == {"grad_enabled": 0}
    assert trace.end["args"]["used.dynamo"] == 1


def test_captured_graph_with_methods_and_modules(tmp_path):
    trace = one(
        MODEL
        + """
backend = create_backend(autograd=False)
model, x = Model(), torch.randn(1, 3, 32, 32)
expected = model(x)
compiled = torch.compile(model, backend=backend)
assert torch.equal(compiled(x), expected)
with torch.no_grad():
    assert torch.equal(compiled(x), expected)
inner = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Sequential(torch.nn.ReLU()))
graph = torch.fx.symbolic_trace(inner)                   # a graph that calls modules
y, before = torch.randn(2, 4), str(graph.graph)
assert torch.equal(create_backend(autograd=False)(graph, [y])(y), inner(y))
assert str(graph.graph) == before, "a graph is not changed"
log.finalize()
""",
        tmp_path,
    )
    names = names_of(trace, "dynamo")
    once = ["function.conv2d", "function.relu", "function.max_pool2d", "method.view", "function.linear"]
    assert names == [*once, *once, "0.Linear_0", "1.0.ReLU_1_0"]
    events = sorted((event for event in trace.events if event["cat"] == "dynamo"), key=lambda event: event["ts"])
    assert [event["args"]["grad_enabled"] for event in events] == [1] * 5 + [0] * 5 + [1] * 2


def test_decorator_switches_values_and_shapes(tmp_path):
    trace = one(
        MODEL
        + """
quiet, own = Dynamo(enable=False), Dynamo(name="own", epoch=3, shapes=True)
def double(x): return x * 2
assert quiet.compile(double) is double and quiet.compile()(double) is double
x = torch.ones(2, 3)
assert torch.equal(torch.compile(double, backend=create_backend(enable=False))(x), double(x))
@own.compile(autograd=False)
def triple(x): return x * 3
assert torch.equal(triple(x), x * 3)
own.update(step=7)
triple(x)
own.disable(); triple(x); own.enable(); triple(x)
late = Dynamo(enable=False)
halve = torch.compile(lambda x: x / 2, backend=late.backend(autograd=False))
halve(x); late.enable(); halve(x)                        # compiled while it was off
log.finalize()
""",
        tmp_path,
    )
    events = [arguments_of(event) for event in trace.events if event["cat"] == "dynamo"]
    shape = {"grad_enabled": 1, "shape": "2x3", "dtype": "float32", "epoch": 3, "dynamo": "own"}
    assert events == [shape, {**shape, "step": 7}, {**shape, "step": 7}, {"grad_enabled": 1}]


def test_changing_sizes_and_decorated_parts(tmp_path):
    trace = one(
        """
import torch
from dftracer.python import dynamo
from torch._dynamo.utils import counters
class Part(torch.nn.Module):
    @ai.compute.forward
    def forward(self, x): return torch.relu(x)
class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
    @dynamo.compile
    def forward(self, x): return self.part(x + 1) * 2
model = Whole()
for size in range(2, 12):
    x = torch.randn(size, 5)
    assert torch.equal(model(x), torch.relu(x + 1) * 2)
graphs = counters["stats"]["unique_graphs"]
torch._dynamo.reset()
counters.clear()
plain = torch.compile(Whole.forward.__wrapped__, backend="eager")
for size in range(2, 12): plain(model, torch.randn(size, 5))
assert graphs == counters["stats"]["unique_graphs"] <= 6, (graphs, counters["stats"])
log.finalize()
""",
        tmp_path,
    )
    names = names_of(trace, "dynamo")
    assert names.count("function.add.Tensor") == names.count("function.mul.Tensor") == 10
    assert len(trace.named("forward")) == 2 * 10


def test_random_numbers_of_what_is_computed_again(tmp_path):
    """Also while off: the captured graph of a checkpoint would draw others without AOT autograd."""
    program = """
        import torch
        from dftracer.python import dftracer, dftracer_dynamo_backend
        log = dftracer.initialize_log("x.pfw")
        block = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 8))
        def again(x): return torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
        def gradient(function):
            torch.manual_seed(3)
            x = torch.ones(6, 8, requires_grad=True)
            function(x).sum().backward()
            return x.grad
        assert torch.equal(gradient(again), gradient(torch.compile(again, backend=dftracer_dynamo_backend)))
    """
    for enable in "01":
        run(program, tmp_path, DFTRACER_ENABLE=enable)


def test_off_and_without_torch(tmp_path):
    program = """
        import sys
        {block}
        from dftracer.python import Dynamo, create_backend, dynamo
        from dftracer.python.dynamo import CAT_DYNAMO, CallStackRecord, TORCH_AVAILABLE, create_detailed_op_name
        def f(x): return x
        print(TORCH_AVAILABLE)
        try:
            print(dynamo.compile(f) is f, dynamo.compile()(f) is f, dynamo.compile(autograd=False)(f) is f)
        except RuntimeError as error:
            print("RuntimeError", error)
        try:
            print(callable(create_backend()))
        except RuntimeError as error:
            print("RuntimeError", error)
    """
    hide = """
        import importlib.abc
        class Hide(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == "torch": raise ModuleNotFoundError(name)
        import importlib.util
        find = importlib.util.find_spec
        importlib.util.find_spec = lambda name, package=None: None if name == "torch" else find(name, package)
        sys.meta_path.insert(0, Hide())
    """
    off = run(program.format(block=""), tmp_path, DFTRACER_ENABLE="0").split("\n")
    assert off[:2] == ["True", "True True True"] and off[2] == "True"
    missing = run_fresh(program.format(block=hide), tmp_path).split("\n")
    assert missing[0] == "False"
    assert all(line.startswith("RuntimeError") and "PyTorch is not available" in line for line in missing[1:3])


def test_torch_that_cannot_be_imported(tmp_path):
    program = """
        import builtins
        plain = builtins.__import__
        def broken(name, *rest, **more):
            if name.split(".")[0] == "torch": raise ImportError("libtorch.so is damaged")
            return plain(name, *rest, **more)
        builtins.__import__ = broken
        from dftracer.python import create_backend, dynamo
        for use in (lambda: dynamo.compile(abs), create_backend):
            try: use()
            except RuntimeError as error: print(error)
    """
    lines = run_fresh(program, tmp_path).splitlines()
    assert len(lines) == 2 and all("PyTorch is not available: libtorch.so is damaged" in line for line in lines)


if __name__ == "__main__":
    main(__file__)
