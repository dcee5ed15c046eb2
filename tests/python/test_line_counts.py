"""test_line_counts.py - the number of lines that existing suites count, to the line."""

import pathlib

import pytest
from harness import lines_of, main, run, traces_of

SCENARIO = pathlib.Path(__file__).with_name("scenario.py")
LINES = {"normal": 76, "metadata": 76, "dataloader": 61, "device": 70, "compute": 52, "checkpoint": 73, "all": 0}


@pytest.mark.parametrize("case", LINES)
def test_scenario_has_as_many_lines_as_suites_expect(case, tmp_path):
    files = int(run(SCENARIO, tmp_path, case, DFTRACER_INC_METADATA="1"))
    assert lines_of(tmp_path) == LINES[case]
    assert files == (1 if LINES[case] else 0)


def test_switched_off_leaves_nothing(tmp_path):
    assert int(run(SCENARIO, tmp_path, "off", DFTRACER_ENABLE="0")) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.bin", "1.bin"]


def test_scenario_is_the_table_of_events(tmp_path):
    run(SCENARIO, tmp_path, "normal", DFTRACER_INC_METADATA="1")
    trace = traces_of(tmp_path)[0]
    counts = {}
    for event in trace.user_events():
        counts[event["name"]] = counts.get(event["name"], 0) + 1
    assert counts == {
        "train": 1,
        "checkpoint.init": 1,
        "restart": 1,
        "capture": 1,
        "epoch.iter": 3,
        "epoch.block": 3,
        "fetch": 3,
        "fetch.iter": 6,
        "fetch.block": 6,
        "item": 6,
        "preprocess.collate": 6,
        "transfer": 6,
        "forward": 6,
        "backward": 6,
        "compute": 6,
        "step": 6,
    }
    assert trace.values("fetch.block", "step") == [0, 1, 0, 1, 0, 1]
    assert trace.values("epoch.block", "count") == [1, 2, 3]


if __name__ == "__main__":
    main(__file__)
