"""test_trainings.py - trainings whose work is sleeping: the verdict says what they measured themselves.

SPDX-License-Identifier: MIT
"""

import json

from truth import measure_clearly
from verdict_harness import HERE, PYTHON, PYTHONPATH, check, in_parallel, main, run_ranks, skip, verdict_of

SHARES = ("compute", "input", "communication", "checkpoint", "imbalance")

# What dominates -> milliseconds of a step. A checkpoint is made every fourth step.
TRAININGS = {
    "input": {"fetch": 30, "compute": 16, "exchange": 2, "checkpoint": 4},
    "compute": {"fetch": 0.5, "compute": 110, "exchange": 0.5, "checkpoint": 1},
    "communication": {"fetch": 2, "compute": 20, "exchange": 24, "checkpoint": 4},
    "checkpoint": {"fetch": 2, "compute": 24, "exchange": 2, "checkpoint": 80},
    "none": {"fetch": 9, "compute": 22, "exchange": 9, "checkpoint": 36},
}


def train(sizes, ranks, expected, is_sure, folder, culprit=None):
    def run(own):
        run_ranks([PYTHON, HERE / "train.py", own, json.dumps(sizes)], own, ranks)

    folder, truth = measure_clearly(run, expected, folder, culprit)
    verdict = verdict_of(folder)
    check(verdict, truth, expected, "training loop", is_sure, SHARES)
    steps = sizes["steps"] * sizes.get("epochs", 2)
    assert verdict["steps"] == steps, verdict
    return verdict


def the_class_is_right_for_any_number_of_ranks():
    cases = {}
    for expected, sizes in TRAININGS.items():
        for ranks in (1, 2, 4):
            cases[f"{expected}/{ranks}"] = ({**sizes, "steps": 12}, ranks, expected, True)
    in_parallel(cases, train)


def what_is_around_the_loop_is_not_part_of_it():
    """Ranks meet, build the model, train, export it, and meet again."""
    sizes = {**TRAININGS["input"], "steps": 12, "around": 1500}
    in_parallel({f"{ranks} ranks": (sizes, ranks, "input", True) for ranks in (1, 2)}, train)


def evaluations_do_not_change_the_class():
    """They wait for data, within the epochs of a training that computes; and they are longer than it."""
    sizes = {"fetch": 0.5, "compute": 110, "exchange": 0.5, "evaluation": 500, "steps": 12}
    in_parallel({f"{ranks} ranks": (sizes, ranks, "compute", True) for ranks in (1, 2, 4)}, train)


def ten_steps_are_probable_and_twenty_are_sure():
    sizes = TRAININGS["input"]
    cases = {f"{2 * steps} steps": ({**sizes, "steps": steps}, 2, "input", steps >= 10) for steps in (5, 9, 10)}
    in_parallel(cases, train)


def a_rank_that_waits_longer_is_the_worst():
    """The others wait for it in the collective, which is no reason to call this imbalance."""
    cases = {}
    for ranks, slow in ((2, 1), (4, 2)):
        fetch = [44 if rank == slow else 30 for rank in range(ranks)]
        sizes = {"fetch": fetch, "compute": 14, "exchange": 1, "steps": 12}
        cases[f"{slow} of {ranks}"] = (sizes, ranks, "input", True)
    in_parallel(cases, train)


def a_rank_that_computes_longer_is_the_imbalance():
    def unequal(slow, ranks, folder):
        compute = [54 if rank == slow else 18 for rank in range(ranks)]
        sizes = {"fetch": 1, "compute": compute, "exchange": 1, "steps": 12}
        verdict = train(sizes, ranks, "imbalance", True, folder, slow)
        assert verdict["worst"]["rank"] == slow, verdict

    in_parallel({"0 of 2": (0, 2), "3 of 4": (3, 4)}, unequal)


def waiting_for_workers_is_input_and_loading_ahead_is_not():
    two = {"workers": 2, "epochs": 1, "steps": 24}
    in_parallel(
        {
            "slow": ({**two, "load": 80, "compute": 20}, 1, "input", True),
            "slow/2": ({**two, "load": 80, "compute": 20, "exchange": 1}, 2, "input", True),
            "ahead": ({**two, "load": 50, "compute": 90}, 1, "compute", True),
        },
        train,
    )


if __name__ == "__main__":
    if not PYTHONPATH:
        skip("the Python package is not built")
    main(
        the_class_is_right_for_any_number_of_ranks,
        what_is_around_the_loop_is_not_part_of_it,
        evaluations_do_not_change_the_class,
        ten_steps_are_probable_and_twenty_are_sure,
        a_rank_that_waits_longer_is_the_worst,
        a_rank_that_computes_longer_is_the_imbalance,
        waiting_for_workers_is_input_and_loading_ahead_is_not,
    )
