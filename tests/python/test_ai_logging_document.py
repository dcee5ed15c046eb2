"""test_ai_logging_document.py - the code blocks of the document ai_logging.rst, as users paste them.

Where the document writes `...` or leaves a name to the reader, small models and data of our own stand.
"""

from harness import arguments_of, main, one, run

# Names that the document's blocks leave to the reader.
GIVEN = """
import sys
from dftracer.logger import ai, dftracer
class Loss(int):
    def backward(self): return None
class Batch(list):
    def to(self, device): return self
def model(x): return Loss(len(x))
def make_batches(): return [Batch([i, i]) for i in range(3)]
num_epoch = num_epochs = 2
num_steps = 2
dataloader = make_batches()
x, epoch = [1, 2], 1
loss = Loss(0)
log = dftracer.initialize_log(sys.argv[1] + "/x.pfw", None, -1)
"""


def events_of(program, folder):
    return one(GIVEN + program, folder, start=False)


def names_of(trace):
    return [event["name"] for event in trace.user_events()]


def test_usage(tmp_path):
    trace = events_of(
        """
from dftracer.logger import ai, dftracer

@ai.compute.forward
def forward(model, x):
    loss = model(x)
    return loss

@ai.compute.backward
def backward(model, loss):
    with ai.comm.all_reduce:
        loss.backward()

@ai.compute # or @ai.compute.step if you want to be specific
def compute(model, x, optimizer):
    loss = forward(model, x)
    backward(model, loss)

@ai.data.preprocess
def preprocess(data):
    # Preprocessing logic
    pass

@ai.dataloader.fetch
def transfer_to_gpu(batch, device):
    batch = batch.to(device)
    return batch

@ai.pipeline.train
def train(model, dataloader, optimizer, device, num_epoch):
    for epoch in ai.pipeline.epoch.iter(range(num_epoch)):
        for batch in ai.dataloader.fetch.iter(dataloader):
            x, y = transfer_to_gpu(batch, device)
            compute(model, [x, y], optimizer)
            # Additional training logic

def main():
    df_logger = dftracer.initialize_log()
    train(model, dataloader, None, "cpu", num_epoch)
    df_logger.finalize()

main()
""",
        tmp_path,
    )
    counts = {name: names_of(trace).count(name) for name in set(names_of(trace))}
    assert counts == {
        "train": 1,
        "epoch.iter": 2,
        "epoch.block": 2,
        "fetch.iter": 6,
        "fetch.block": 6,
        "fetch": 6,
        "compute": 6,
        "forward": 6,
        "backward": 6,
        "all_reduce": 6,
    }
    inner = trace.named("all_reduce")[0]
    parent = next(event for event in trace.events if event["id"] == inner["args"]["p_idx"])
    assert parent["name"] == "backward" and inner["args"]["level"] == parent["args"]["level"] + 1


def test_styles(tmp_path):
    trace = events_of(
        """
@ai.compute.forward(args={"arg1": "value1", "arg2": "value2"})
def forward(model, x):
    loss = model(x)
    return loss
forward(model, x)

with ai.compute.forward:
    loss = model(x)

with ai.compute.forward(args={"arg1": "value1", "arg2": "value2"}):
    loss = model(x)

for batch in ai.dataloader.fetch.iter(dataloader):
    ...

class MyDataset:
    @ai.data.item.init  # special `init` event for this category
    def __init__(self, *args):
        # Initialization logic
        pass
MyDataset()
""",
        tmp_path,
    )
    both = {"arg1": "value1", "arg2": "value2"}
    assert [arguments_of(event) for event in trace.named("forward")] == [both, {}, both]
    assert len(trace.named("item.init")) == 1 and trace.named("item.init")[0]["cat"] == "data"


def test_updating_arguments(tmp_path):
    trace = events_of(
        """
@ai.compute.forward
def forward(model, x):
    loss = model(x)
    return loss

for epoch in ai.pipeline.epoch.iter(range(num_epoch)):
    for step, batch in ai.dataloader.fetch.iter(enumerate(dataloader)):
        # Update metadata for the current context
        ai.compute.forward.update(epoch=epoch, step=step)
        forward(model, batch)
""",
        tmp_path,
    )
    assert [(event["args"]["epoch"], event["args"]["step"]) for event in trace.named("forward")] == [
        (epoch, step) for epoch in range(2) for step in range(3)
    ]


def test_disabling_and_enabling(tmp_path):
    trace = events_of(
        """
ai.disable()
with ai.comm.send: pass
ai.compute.disable()
ai.data.disable()
ai.dataloader.disable()
ai.comm.disable()
ai.device.disable()
ai.pipeline.disable()

ai.compute.enable()
ai.data.enable()
ai.dataloader.enable()
ai.comm.enable()
ai.device.enable()
ai.pipeline.enable()
with ai.comm.receive: pass

ai.enable()

ai.compute.disable()  # Disable all compute events

@ai.compute.forward(enable=True)  # Force-enable this specific event
def forward(model, x):
    loss = model(x)
    return loss

with ai.compute.backward(enable=True):  # Force-enable this block
    loss.backward()
forward(model, x)

ai.compute.enable()  # Enable all compute events

@ai.compute.forward(enable=False)  # Force-disable this one
def forward(model, x):
    loss = model(x)
    return loss

with ai.compute.backward(enable=False):  # Force-disable this block
    loss.backward()
forward(model, x)
""",
        tmp_path,
    )
    assert names_of(trace) == ["receive", "backward", "forward"]


def test_hooks(tmp_path):
    trace = events_of(
        """
class tf:
    class train:
        class SessionRunHook: pass
class training_util:
    @staticmethod
    def _get_or_create_global_step_read(): return "tensor"
class RunContext:
    class session:
        @staticmethod
        def run(tensor): return 17

class DFTracerProfilingHook(tf.train.SessionRunHook):
    def begin(self):
        self._global_step_tensor = training_util._get_or_create_global_step_read()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use ProfilerHook.")
        ai.pipeline.epoch.start()

    def end(self, session):
        ai.pipeline.epoch.stop()

    def before_run(self, run_context):
        global_step = run_context.session.run(self._global_step_tensor)
        ai.update(step=global_step)
        ai.compute.start()

    def after_run(self, run_context, run_values):
        ai.compute.stop()

hook = DFTracerProfilingHook()
hook.begin()
for _ in range(3):
    hook.before_run(RunContext)
    hook.after_run(RunContext, None)
hook.end(None)
""",
        tmp_path,
    )
    assert names_of(trace) == ["compute"] * 3 + ["epoch"] and trace.values("compute", "step") == [17] * 3


def test_derivation(tmp_path):
    trace = events_of(
        """
class Dataset:
    def __getitem__(self, idx: int):
        data = ...
        with ai.data.preprocess:
            # do something with data
            ...
        return data

# this will become name="preprocess.collate" with cat="data"
@ai.data.preprocess.derive(name="collate")
def collate(batch):
    # Collate the batch
    return batch

# OR (context-manager style)

profiler_collate = ai.data.preprocess.derive(name="collate")

def collate_fn(batch):
    with profiler_collate:
        return collate(batch)

# Update
profiler_collate.update(epoch=epoch)
# This also works:
## this will update all children of ai.data.preprocess
## including the derived profiler such as `collate`
ai.data.preprocess.update(epoch=epoch)

Dataset()[0]
collate_fn([1])
""",
        tmp_path,
    )
    assert names_of(trace) == ["preprocess", "preprocess.collate", "preprocess.collate"]
    assert trace.values("preprocess.collate", "epoch") == [1, 1] == [1, *trace.values("preprocess", "epoch")]
    assert trace.named("preprocess.collate")[0]["cat"] == "data"


def test_metadata_and_its_output(tmp_path):
    trace = events_of(
        """
# Regular
for epoch in ai.pipeline.epoch.iter(range(num_epochs)):
    for step in range(num_steps):
        # Do some work
        ...

# As metadata
for epoch in range(num_epochs):
    ai.pipeline.epoch.start(metadata=True)
    for step in range(num_steps):
        # Do some work
        ...
    ai.pipeline.epoch.stop(metadata=True)
""",
        tmp_path,
    )
    block = trace.named("epoch.block")[0]
    assert list(block) == ["id", "name", "cat", "pid", "tid", "ts", "dur", "ph", "args"] and block["cat"] == "pipeline"
    assert trace.values("epoch.block", "count") == [1, 2]
    records = [event for event in trace.named("CM") if event["args"]["name"].startswith("epoch")]
    assert [event["args"]["name"] for event in records] == ["epoch.start", "epoch.end"] * 2
    assert records[0]["ph"] == "M" and records[0]["cat"] == "dftracer" and records[0]["args"]["value"].isdigit()


def test_init_event(tmp_path):
    trace = events_of(
        """
class Checkpoint:
    @ai.checkpoint.init
    def __init__(self):
        # Initialize something
        ...

# or

with ai.checkpoint.init:
    # Initialize something
    ...
Checkpoint()
""",
        tmp_path,
    )
    assert [(event["name"], event["cat"]) for event in trace.user_events()] == [("checkpoint.init", "checkpoint")] * 2


def test_caveats(tmp_path):
    text = """
class Checkpoint:
    @ai.checkpoint.init{form}
    def __init__(self):
        ...

if __name__ == "__main__":
    ai.checkpoint.disable()
Checkpoint()
print(1)
log.finalize()
import os
print(len([name for name in os.listdir(sys.argv[1]) if name.endswith(".pfw")]))
"""
    assert run(GIVEN + text.format(form=""), tmp_path).split() == ["1", "0"]
    assert run(GIVEN + text.format(form="()"), tmp_path).split() == ["1", "1"]


if __name__ == "__main__":
    main(__file__)
