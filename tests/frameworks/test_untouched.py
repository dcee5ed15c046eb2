"""test_untouched.py - trainings by frameworks that know nothing of tracing: every number is right."""

import pytest
from frameworks_harness import main
from untouched import (
    EXAMPLES,
    MOVING,
    STEPS,
    check,
    check_epochs,
    check_times,
    check_verdict,
    launch_exact,
    run_example,
    traces_of,
    trainers,
)


@pytest.mark.parametrize("name", STEPS)
def test_one_process(tmp_path, name):
    lines = (EXAMPLES / f"train_{name}.py").read_text().lower().splitlines()
    assert len(lines) < 60 and not [line for line in lines if "dftracer" in line or "traced" in line]
    done = run_example(name, tmp_path)
    assert "dftracer" not in done.stderr
    (trace,) = traces_of(tmp_path / "traces")
    assert trace.path.startswith(str(tmp_path / "traces" / f"train_{name}-")), trace.path
    check(trace, steps=STEPS[name], is_moving=name in MOVING)
    check_times(tmp_path, [trace])
    check_epochs(trace)
    check_verdict(tmp_path, [trace], STEPS[name])
    losses = [event for event in trace.events if event["ph"] == "C" and event["name"] == "loss"]
    assert len(losses) >= 3 or name == "torch"  # what frameworks log
    assert all(0 < event["args"]["loss"] < 5 for event in losses)


def test_the_other_package_of_lightning(tmp_path):
    text = (EXAMPLES / "train_lightning.py").read_text().replace("lightning.pytorch", "pytorch_lightning")
    (tmp_path / "program.py").write_text(text)
    launch_exact(tmp_path / "program.py", tmp_path)
    (trace,) = traces_of(tmp_path / "traces")
    check(trace)
    check_times(tmp_path, [trace])
    check_epochs(trace)


@pytest.mark.parametrize("name", STEPS)
def test_workers(tmp_path, name):
    run_example(name, tmp_path, 2)
    (trace,) = trainers(tmp_path)
    check(trace, steps=STEPS[name])
    check_times(tmp_path, traces_of(tmp_path / "traces"), is_ahead=name == "keras")  # it starts each loader twice


if __name__ == "__main__":
    main(__file__)
