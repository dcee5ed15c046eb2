"""test_dynamo_document.py - the blocks of dynamo_guide.rst, as they stand there."""

from torch_harness import main, names_of, run_each, traces_of

BASIC = """
import torch
from dftracer.python import dftracer, dynamo

# Initialize logger
df_logger = dftracer.initialize_log("dynamo_trace.pfw", "/tmp/data", -1)

# Define a model
class SimpleModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 16, 3, 1)
        self.fc = torch.nn.Linear(16 * 15 * 15, 10)

    @dynamo.compile
    def forward(self, x):
        x = self.conv(x)
        x = torch.nn.functional.relu(x)
        x = torch.nn.functional.max_pool2d(x, 2)
        x = x.view(x.size(0), -1)
        x = self.fc(x)
        return x

# Create model and run
model = SimpleModel()
sample = torch.randn(1, 3, 32, 32)
output = model(sample)

# Finalize
df_logger.finalize()
"""

BACKEND = """
import torch
from dftracer.python import dftracer, dftracer_dynamo_backend

# Initialize logger
df_logger = dftracer.initialize_log("dynamo_trace.pfw", "/tmp/data", -1)

# Define your model
class MyModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(784, 256),
            torch.nn.ReLU(),
            torch.nn.Linear(256, 10)
        )

    def forward(self, x):
        return self.layers(x)

# Compile with DFTracer backend
model = MyModel()
compiled_model = torch.compile(model, backend=dftracer_dynamo_backend)

# Run inference
input_tensor = torch.randn(32, 784)
output = compiled_model(input_tensor)

df_logger.finalize()
"""

CUSTOM = """
from dftracer.python import Dynamo

# Create a custom Dynamo tracer
dynamo_tracer = Dynamo(
    name="resnet50",
    epoch=1,
    step=100,
    image_idx=42,
    image_size=(224, 224),
    enable=True
)
"""

TRAINING = """
import torch
import torch.nn as nn
from dftracer.python import dftracer, dynamo
from torch.utils.data import DataLoader, TensorDataset
train_loader = DataLoader(TensorDataset(torch.randn(4, 1, 28, 28), torch.randint(0, 10, (4,))), batch_size=2)

# Initialize logger
df_logger = dftracer.initialize_log("training.pfw", "/tmp/data", -1)

# Model definition
class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, 1)
        self.conv2 = nn.Conv2d(32, 64, 3, 1)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    @dynamo.compile
    def forward(self, x):
        x = self.conv1(x)
        x = torch.nn.functional.relu(x)
        x = self.conv2(x)
        x = torch.nn.functional.relu(x)
        x = torch.nn.functional.max_pool2d(x, 2)
        x = torch.flatten(x, 1)
        x = self.fc1(x)
        x = torch.nn.functional.relu(x)
        x = self.fc2(x)
        return x

# Training setup
model = ConvNet()
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()

# Training loop
for epoch in range(5):
    for batch_idx, (data, target) in enumerate(train_loader):
        optimizer.zero_grad()

        # Forward pass (traced by Dynamo)
        output = model(data)

        # Compute loss and backward
        loss = criterion(output, target)
        loss.backward()

        # Optimizer step
        optimizer.step()

df_logger.finalize()
"""


def test_blocks(tmp_path):
    custom = CUSTOM + "assert dynamo_tracer.name == 'resnet50' and dynamo_tracer.cat == 'dynamo'\n"
    run_each({"basic": BASIC, "backend": BACKEND, "custom": custom, "training": TRAINING}, tmp_path,
             DFTRACER_INC_METADATA="1")
    check_basic(*traces_of(tmp_path / "basic"))
    check_backend(*traces_of(tmp_path / "backend"))
    check_training(*traces_of(tmp_path / "training"))


def check_basic(trace):
    assert trace.path.endswith("/dynamo_trace.pfw")
    names = names_of(trace, "dynamo")
    assert [name for name in names if name != "function.detach.default"] == [
        "function.convolution.default",
        "function.relu.default",
        "function.max_pool2d_with_indices.default",
        "function.getitem",
        "function.getitem",
        "function.view.default",
        "function.t.default",
        "function.addmm.default",
    ]
    assert len(trace.events) + 1 == 9 + len(names), "the opening lines, and the end"


def check_backend(trace):
    names = names_of(trace, "dynamo")
    assert names.count("function.addmm.default") == 2 and "function.relu.default" in names


def check_training(trace):
    names = names_of(trace, "dynamo")
    assert names.count("function.convolution.default") == 2 * 10
    assert names.count("function.convolution_backward.default") == 2 * 10


if __name__ == "__main__":
    main(__file__)
