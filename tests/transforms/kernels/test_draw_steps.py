"""Draws for one purpose say nothing of those for another."""

import itertools

import numpy as np

from pairweave.transforms.kernels import sampling

STEPS = {name: value for name, value in vars(sampling).items() if name.startswith("STEP_")}


def test_each_purpose_has_a_number_of_its_own():
    assert len({int(step) for step in STEPS.values()}) == len(STEPS) > 15


def test_a_draw_depends_on_each_of_its_arguments():
    choices = [[np.uint64(1), np.uint64(2**63)]] * 4
    with np.errstate(over="ignore"):
        drawn = [int(sampling.draw(*each)) for each in itertools.product(*choices)]
    assert len(set(drawn)) == 2**4
