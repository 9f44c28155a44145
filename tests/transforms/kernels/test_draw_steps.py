"""Draws for different purposes are independent."""

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


def test_the_numbers_of_steps_stay_as_they_are():
    # Another number changes every draw of its step, and so the output of every run.
    first = [
        *("FIT_SAMPLE", "MIX", "TAG_COUNT", "TAG_PHRASES", "TAG_INDICES", "PREVIEW"),
        *("MASK_COUNT", "MASK_START", "MASK_LENGTH", "MASK_PLACE", "HINT", "TAG_FORMS"),
        *("TAG_SPLITS", "TAG_SHAPES", "FRAGMENTS", "TAG_NAMES", "TAG_IDS"),
    ]
    later = [
        *("TRAINING_ORDER", "NEGATIVE", "DROPOUT", "MASK", "MASK_KIND", "MASK_PIECE", "EXPORT"),
        *("EPOCH", "STREAM_SHARDS", "STREAM_PAIRS", "STREAM_ROWS"),
    ]
    expected = {f"STEP_{name}": number for number, name in enumerate(first, 1)}
    expected |= {f"STEP_{name}": number for number, name in enumerate(later, 32)}
    actual = {name: value for name, value in vars(sampling).items() if name.startswith("STEP_")}
    assert actual == expected
