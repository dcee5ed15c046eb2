"""test_ai_ml_guide_document.py - the code blocks of the document ai_ml_guide.rst, in a program a chapter.

Models, data and loss functions that the guide leaves to the reader are small ones of NumPy.
"""

from harness import arguments_of, main, one

GIVEN = """
import os, sys
os.chdir(sys.argv[1])
import numpy as np
class Loss(float):
    def backward(self): return None
class Model:
    def __call__(self, data): return np.sum(data)
    def state_dict(self): return {"w": 1}
model, criterion = Model(), lambda output, labels: Loss(output)
loss, labels, raw_data, cpu_data = Loss(0), None, [1], [2]
batch = np.ones(4)
num_epochs, num_steps, epoch = 2, 2, 1
dataloader = [np.ones(2), np.ones(2)]
np.save("data.npy", batch)
os.mkdir("data")
for i in range(3): np.save(f"data/{i}.npy", batch)
"""
SETUP = """
from dftracer.python import dftracer, ai
import numpy as np

# Initialize logger
df_logger = dftracer.initialize_log("ai_trace.pfw", "/tmp/data", -1)
"""


def counts_of(program, folder):
    trace = one(GIVEN + SETUP + program + "\ndf_logger.finalize()\n", folder, start=False)
    names = [event["name"] for event in trace.user_events()]
    return trace, {name: names.count(name) for name in names}


def test_data_operations(tmp_path):
    _, counts = counts_of(
        """
from dftracer.python import ai
import numpy as np

class IOHandler:
    @ai.data.item
    def read(self, filename: str):
        return np.load(filename)

    def write(self, filename: str, data):
        with open(filename, "wb") as f:
            np.save(f, data)

io = IOHandler()
data = io.read("data.npy")  # This read will be traced

@ai.dataloader.fetch
def read_batch(data_dir: str, num_files: int):
    for i in range(num_files):
        yield io.read(f"{data_dir}/{i}.npy")

# Iterate over batches with tracing
for step, data in ai.dataloader.fetch.iter(enumerate(read_batch("data", 3))):
    # Process data
    pass

@ai.data.preprocess.derive(name="collate")
def collate(data):
    # Collate batch data
    return data

@ai.data.preprocess.derive(name="augment")
def augment(data):
    # Apply data augmentation
    return data

# Use in your pipeline
processed_data = collate(raw_data)
augmented_data = augment(processed_data)
""",
        tmp_path,
    )
    assert counts == {
        "item": 4,
        "fetch": 1,
        "fetch.iter": 3,
        "fetch.block": 3,
        "preprocess.collate": 1,
        "preprocess.augment": 1,
    }


def test_device_compute_and_communication(tmp_path):
    _, counts = counts_of(
        """
@ai.device.transfer
def transfer_to_gpu(data):
    # Transfer data to GPU
    # In real code: return data.cuda()
    return data

# Traced transfer
gpu_data = transfer_to_gpu(cpu_data)

@ai.compute.forward
def forward(model, data):
    return model(data)

@ai.compute.backward
def backward(loss):
    loss.backward()

# Use in training loop
output = forward(model, batch)
loss = criterion(output, labels)
backward(loss)

class Hook:
    def before_step(self):
        ai.compute.step.start()

    def after_step(self):
        ai.compute.step.stop()

hook = Hook()

# In training loop
hook.before_step()
# ... forward, backward, optimizer.step()
hook.after_step()

@ai.compute.backward
def backward_with_sync():
    loss.backward()
    # Trace distributed communication
    with ai.comm.all_reduce():
        # All-reduce gradients
        pass

# Can also disable tracing for specific operations
with ai.comm.all_reduce(enable=False):
    # This won't be traced
    pass
backward_with_sync()
""",
        tmp_path,
    )
    assert counts == {"transfer": 1, "forward": 1, "backward": 2, "step": 1, "all_reduce": 1}


def test_checkpointing(tmp_path):
    _, counts = counts_of(
        """
from dftracer.python import ai
from time import sleep

class Checkpoint:
    @ai.checkpoint.init
    def __init__(self):
        # Initialize checkpoint system
        pass

    @ai.checkpoint.capture
    def save(self, state):
        # Save model checkpoint
        return state

    @ai.checkpoint.restart
    def load(self, checkpoint_path):
        # Load model checkpoint
        return {}

checkpoint = Checkpoint()
checkpoint.load("checkpoint.pt")
# ... training ...
checkpoint.save({"model": model.state_dict()})
""",
        tmp_path,
    )
    assert counts == {"checkpoint.init": 1, "restart": 1, "capture": 1}


def test_training_loop(tmp_path):
    trace, counts = counts_of(
        """
forward = ai.compute.forward(lambda model, batch: model(batch))
backward = ai.compute.backward(lambda loss: loss.backward())
transfer = ai.device.transfer(lambda batch: batch)
load_batch = ai.data.item(lambda step: batch)

@ai.pipeline.train
def train(num_epochs, num_batches):
    # Training loop with epoch tracing
    for epoch in ai.pipeline.epoch.iter(range(num_epochs)):
        for step, data in ai.dataloader.fetch.iter(enumerate(range(num_batches))):
            # Update current step and epoch
            ai.update(step=step, epoch=epoch)
            # Data loading
            batch = load_batch(step)
            # Transfer to device
            batch = transfer(batch)
            # Forward pass
            output = forward(model, batch)
            # Backward pass
            backward(loss)

train(num_epochs=5, num_batches=100)

# Start/stop epochs with metadata logging
for epoch in range(num_epochs):
    ai.pipeline.epoch.start(metadata=True)
    # Training code
    for step in range(num_steps):
        ai.update(step=step, epoch=epoch)
        # ... training code ...
    ai.pipeline.epoch.stop(metadata=True)
""",
        tmp_path,
    )
    assert counts == {
        "item": 500,
        "transfer": 500,
        "forward": 500,
        "backward": 500,
        "fetch.iter": 500,
        "fetch.block": 500,
        "epoch.iter": 5,
        "epoch.block": 5,
        "train": 1,
        "CM": 4,
    }
    assert trace.values("forward", "step") == list(range(100)) * 5


def test_custom_categories(tmp_path):
    trace, _ = counts_of(
        """
from dftracer.python import DFTracerAI

# Create custom AI tracer
custom_tracer = DFTracerAI(
    cat="custom_category",
    name="my_operation",
    epoch=1,
    step=100,
    enable=True
)
with custom_tracer: pass

# Disable all AI tracing
ai.disable()
# Or disable specific categories
ai.dataloader.disable()
ai.device.disable()
ai.compute.disable()
ai.comm.disable()
ai.checkpoint.disable()
with ai.compute: pass
""",
        tmp_path,
    )
    assert [(event["cat"], event["name"], arguments_of(event)) for event in trace.user_events()] == [
        ("custom_category", "my_operation", {"epoch": 1, "step": 100})
    ]


if __name__ == "__main__":
    main(__file__)
