"""test_deepspeed.py - DeepSpeed itself, on one CPU: its ranges, and what it has in common with a plain loop."""

import socket

import pytest
from frameworks_harness import HERE, main
from plain import in_each
from sizes import ACCUMULATION, BATCHES, EPOCHS
from untouched import counts, launch, trainers

RANGES = {"forward": "DeepSpeedEngine.forward", "backward": "DeepSpeedEngine.backward"}  # what is within what


def rank_alone():
    """The variables of a job of one rank."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}
    return {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", **where}


def encloses(outer, inner):
    return outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]


@pytest.mark.parametrize("chosen", ["all", "torch"])
def test_a_training(tmp_path, chosen):
    done = launch(HERE / "train_deepspeed.py", tmp_path, DFTRACER_FRAMEWORKS=chosen, **rank_alone())
    assert "dftracer" not in done.stderr
    (trace,) = trainers(tmp_path)
    found = counts(trace)
    numbers = {"epoch": 1, "step": BATCHES // ACCUMULATION}
    numbers.update(dict.fromkeys(("fetch.iter", "fetch.block", "forward", "backward"), BATCHES))
    ranges = {event["name"] for event in trace.user_events() if event["cat"] == "deepspeed"}
    if chosen == "all":
        names = {*RANGES.values(), "DeepSpeedEngine.allreduce_gradients"}
        assert names <= ranges
        numbers.update(dict.fromkeys(names, BATCHES), capture=1)
        assert found["restart"] == {EPOCHS - 1: 1}
    else:
        assert not ranges
    assert {name: found.get(name) for name in numbers} == in_each(numbers, EPOCHS), found
    for one, other in RANGES.items() if ranges else ():
        pairs = zip(trace.named(one), trace.named(other), strict=True)
        assert all(encloses(outer, inner) or encloses(inner, outer) for outer, inner in pairs), one


if __name__ == "__main__":
    main(__file__)
