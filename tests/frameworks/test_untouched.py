"""test_untouched.py - trainings by frameworks that know nothing of tracing: every number is right."""

import pytest
from frameworks_harness import main
from untouched import (
    BATCHES,
    EXAMPLES,
    check,
    check_epochs,
    check_times,
    check_verdict,
    launch,
    traces_of,
    trainers,
)

# file of examples/06_untouched -> optimizer steps of an epoch
EVERY = {"torch": 8, "accelerate": 8, "lightning": 8, "fabric": 8, "transformers": 8, "keras": BATCHES}
PARALLEL = ("torch", "accelerate", "lightning", "fabric", "transformers")


def run(name, folder, *arguments, **options):
    return launch(EXAMPLES / f"train_{name}.py", folder, *arguments, **options)


@pytest.mark.parametrize("name", EVERY)
def test_one_process(tmp_path, name):
    done = run(name, tmp_path)
    assert "dftracer" not in done.stderr
    (trace,) = traces_of(tmp_path / "traces")
    assert trace.path.startswith(str(tmp_path / "traces" / f"train_{name}-")), trace.path
    check(trace, steps=EVERY[name])
    looks = 1 if name == "keras" else 0  # at one batch, before it trains
    check_times(tmp_path, [trace], others=looks)
    check_epochs(trace)
    check_verdict(tmp_path, EVERY[name], others=looks)
    losses = [event for event in trace.events if event["ph"] == "C" and event["name"] == "loss"]
    assert len(losses) >= 3 or name == "torch"  # what frameworks log
    assert all(0 < event["args"]["loss"] < 5 for event in losses)


def test_the_other_package_of_lightning(tmp_path):
    text = (EXAMPLES / "train_lightning.py").read_text().replace("lightning.pytorch", "pytorch_lightning")
    (tmp_path / "program.py").write_text(text)
    launch(tmp_path / "program.py", tmp_path)
    (trace,) = traces_of(tmp_path / "traces")
    check(trace)
    check_times(tmp_path, [trace])
    check_epochs(trace)


@pytest.mark.parametrize("name", EVERY)
def test_workers(tmp_path, name):
    run(name, tmp_path, 2)
    (trace,) = trainers(tmp_path)
    check(trace, steps=EVERY[name])
    if name != "keras":  # it starts each loader twice
        check_times(tmp_path, traces_of(tmp_path / "traces"))


@pytest.mark.parametrize("name", PARALLEL)
def test_two_ranks(tmp_path, name):
    run(name, tmp_path, ranks=2)
    found = trainers(tmp_path)
    assert sorted(event["args"]["value"] for trace in found for event in trace.named("PR")) == ["0", "1"]
    for trace in found:
        check(trace, saves=1 if trace.named("capture") else 0)
        assert trace.named("all_reduce"), "that of DDP"
    assert any(trace.named("capture") for trace in found)
    check_times(tmp_path, found)
    check_verdict(tmp_path, EVERY[name], ranks=2)


if __name__ == "__main__":
    main(__file__)
