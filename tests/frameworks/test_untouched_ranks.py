"""test_untouched_ranks.py - trainings of two ranks that know nothing of tracing: every number is right."""

import pytest
from frameworks_harness import main
from untouched import STEPS, check, check_times, check_verdict, run_example, trainers

PARALLEL = ("torch", "accelerate", "lightning", "fabric", "transformers")


@pytest.mark.parametrize("name", PARALLEL)
def test_two_ranks(tmp_path, name):
    run_example(name, tmp_path, ranks=2)
    found = trainers(tmp_path)
    assert sorted(event["args"]["value"] for trace in found for event in trace.named("PR")) == ["0", "1"]
    for trace in found:
        check(trace, saves=1 if trace.named("capture") else 0)
        assert trace.named("all_reduce"), "that of DDP"
    assert any(trace.named("capture") for trace in found)
    check_times(tmp_path, found)
    check_verdict(tmp_path, found, STEPS[name])


if __name__ == "__main__":
    main(__file__)
