"""test_absent.py - without the native module torch does what it does without us."""

from torch_harness import harness, main, run

PROGRAM = """
import sys
import torch
from dftracer.python import ai, create_backend, dftracer, dftracer_dynamo_backend, dynamo
from dftracer.python.torch import trace, trace_handler
log = dftracer.initialize_log(sys.argv[1] + "/x.pfw")
torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(torch.randn(4, 3), batch_size=2)
before = torch.save, torch.autograd.backward, type(loader)

@dynamo.compile
def double(x): return x * 2
assert not hasattr(double, "_torchdynamo_orig_callable")
with trace(model, optimizer, loader), torch.profiler.profile(on_trace_ready=trace_handler):
    assert before == (torch.save, torch.autograd.backward, type(loader))
    for batch in ai.dataloader.fetch.iter(loader):
        model(batch).sum().backward()
        optimizer.step()
for backend in (dftracer_dynamo_backend, create_backend(), create_backend(autograd=False)):
    torch._dynamo.reset()
    assert torch.equal(torch.compile(model, backend=backend)(batch), model(batch))
assert torch.equal(double(batch), batch * 2) and dynamo.call_stack == []
log.finalize()
"""


def test_torch_without_the_native_module(tmp_path, monkeypatch):
    path = harness.package_without_native(tmp_path / "package")
    monkeypatch.setattr(harness, "PYTHONPATH", path)
    (tmp_path / "data").mkdir()
    assert run(PROGRAM, tmp_path / "data") == ""
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["program.py"]
    assert "dftracer" not in harness.run.stderr


if __name__ == "__main__":
    main(__file__)
