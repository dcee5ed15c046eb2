"""test_untouched_torch.py - plain PyTorch that knows nothing of tracing: workers, and ends of all kinds."""

import os
import signal
import subprocess
import time

import pytest
from frameworks_harness import PYTHON, main, near, traces_of
from plain import LOOP, START, record
from untouched import (
    EXAMPLES,
    check,
    check_epochs,
    check_times,
    counts,
    duration_ns,
    launch,
    launch_exact,
    trainers,
    variables,
)

EXAMPLE = EXAMPLES / "train_torch.py"


WATCH = """
def watched(loader):
    iterator = iter(loader)
    with open("waited", "a") as file:
        while True:
            before = time.perf_counter_ns()
            try:
                batch = next(iterator)
            except StopIteration:
                return
            print(time.perf_counter_ns() - before, file=file)
            yield batch

"""
HOW = [("fork",), ("spawn",), ("forkserver",), ("fork", "persistent"), ("spawn", "persistent")]


@pytest.mark.parametrize("how", HOW)
def test_workers(tmp_path, how):
    """A fetch is what the training waits, by its own watch; a batch in a worker is what its items cost."""
    text = EXAMPLE.read_text().replace("\ndef main", f"{WATCH}\ndef main")
    for old in ("enumerate(training, 1)", "in evaluation)"):
        assert old in text
    text = text.replace("enumerate(training, 1)", "enumerate(watched(training), 1)")
    (tmp_path / "program.py").write_text(text.replace("in evaluation)", "in watched(evaluation))"))
    launch_exact(tmp_path / "program.py", tmp_path, 2, *how)
    (trace,) = trainers(tmp_path)
    check(trace)
    check_epochs(trace)
    check_times(tmp_path, traces_of(tmp_path / "traces"))
    waited = [int(line) for line in (tmp_path / "waited").read_text().splitlines()]
    assert len(waited) == len(trace.named("fetch.iter"))
    near(duration_ns([trace], "fetch.iter"), sum(waited), "waiting for workers")


def test_an_iterable_dataset_in_workers(tmp_path):
    program = """
class Items(torch.utils.data.IterableDataset):
    def __iter__(self): yield from torch.ones(8, 4)
training = DataLoader(Items(), batch_size=2, num_workers=2)
"""
    (tmp_path / "program.py").write_text(START + program + LOOP)
    launch(tmp_path / "program.py", tmp_path)
    traces = traces_of(tmp_path / "traces")
    assert sum(len(trace.named("fetch.iter")) for trace in traces) == 2 * 8, "each worker has all items"
    assert sum(len(trace.named("data.batch")) for trace in traces) == 2 * 8
    assert sum(len(trace.named("data.batch.cut")) for trace in traces) == 2 * 2, "each worker finds the end"


def test_an_exception(tmp_path):
    found = record(tmp_path, START + LOOP + "        if epoch == 1: raise ValueError('mine')\n", status=1)
    assert record.done.stderr.count("mine") == 2 and "dftracer" not in record.done.stderr  # the line, and the error
    assert found["epoch"] == {0: 1, 1: 1} and found["forward"] == {0: 4, 1: 1}
    assert found["fetch.iter"] == {0: 4, 1: 1} and found["fetch.block.cut"] == {1: 1}


def test_an_interrupt(tmp_path):
    program = START + LOOP + "        print(epoch, flush=True) or __import__('time').sleep(60 * epoch)\n"
    (tmp_path / "program.py").write_text(program)
    command = [PYTHON, str(tmp_path / "program.py")]
    process = subprocess.Popen(
        command,
        env=variables(),
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # shells ignore it for what runs in the back
    )
    while process.stdout.readline() != "1\n":
        pass
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors
    (trace,) = traces_of(tmp_path / "traces")
    found = counts(trace)
    assert found["epoch"] == {0: 1, 1: 1} and found["step"] == {0: 4, 1: 1} and found["fetch.block.cut"] == {1: 1}


def test_a_kill(tmp_path):
    (tmp_path / "program.py").write_text(START + LOOP + "import os; os.kill(os.getpid(), 9)\n")
    launch(tmp_path / "program.py", tmp_path, status=-9)
    subprocess.run([os.environ["DFT_TEST_COMMAND"], "recover", tmp_path / "traces"], check=True, capture_output=True)
    (trace,) = traces_of(tmp_path / "traces")
    assert counts(trace)["forward"] == {0: 4, 1: 4}


if __name__ == "__main__":
    main(__file__)
