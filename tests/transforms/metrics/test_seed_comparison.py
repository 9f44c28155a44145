"""Arms are compared over segments and over seeds."""

import numpy as np
import pytest

from pairweave.transforms.metrics.seed_comparison import (
    Difference,
    compare_seeds,
    spread,
    student,
)
from pairweave.transforms.metrics.significance import LineSums, ratio
from pairweave.transforms.metrics.significance_options import Significance

CONFIG = Significance(resamples=10, trials=500)


def sums(hits, lines=200):
    """Return lines of which so many are right."""
    right = np.arange(lines) < hits
    return LineSums(np.stack([right, np.ones(lines)], axis=1).astype(float), ratio)


def test_the_interval_is_students_over_the_seeds():
    actual = compare_seeds(
        {1: sums(60), 2: sums(80), 3: sums(100)}, {1: sums(40), 2: sums(50), 3: sums(60)}, CONFIG
    )
    assert actual.mean == pytest.approx(0.15)
    # Differences 0.10, 0.15, 0.20: deviation 0.05, quantile 4.303 of two degrees of freedom.
    assert actual.margin == pytest.approx(4.303 * 0.05 / 3**0.5)
    assert actual.seeds == 3
    assert actual.is_significant


def test_a_difference_that_changes_its_sign_between_seeds_is_none():
    actual = compare_seeds(
        {1: sums(120), 2: sums(60), 3: sums(130)}, {1: sums(60), 2: sums(70), 3: sums(60)}, CONFIG
    )
    assert actual.p < 0.05
    assert not actual.is_significant


def test_one_seed_is_never_enough():
    actual = compare_seeds({1: sums(200)}, {1: sums(0), 2: sums(0)}, CONFIG)
    assert actual.margin is None
    assert not actual.is_significant
    assert compare_seeds({1: sums(1)}, {2: sums(1)}, CONFIG) is None


def test_chance_in_the_segments_is_tested_over_all_seeds():
    equal, arm, baseline = sums(40), sums(100), sums(60)
    assert compare_seeds({1: equal, 2: arm}, {1: equal, 2: baseline}, CONFIG).p < 0.05
    assert compare_seeds({1: equal, 2: equal}, {1: equal, 2: equal}, CONFIG).p == 1.0


@pytest.mark.parametrize(
    ("mean", "margin", "p", "expected"),
    [
        (2.0, 1.0, 0.01, True),
        (-2.0, 1.0, 0.01, True),
        (2.0, 2.0, 0.01, False),
        (2.0, 1.0, 0.05, False),
    ],
)
def test_a_difference_either_way_beyond_chance_is_significant(mean, margin, p, expected):
    assert Difference(mean, margin, p, 3).is_significant is expected


def test_the_spread_of_one_seed_is_unknown():
    assert spread({4: 2.5}).deviation is None


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [
        *((1, 12.706), (20, 2.086), (21, 2.080), (22, 2.074), (25, 2.060), (30, 2.042)),
        *((40, 2.021), (60, 2.000), (120, 1.980), (500, 1.965), (100_000, 1.960)),
    ],
)
def test_students_quantiles_are_those_of_tables(degrees, quantile):
    assert student(degrees) == pytest.approx(quantile, abs=0.001)


def test_more_seeds_never_widen_the_interval():
    quantiles = [student(degrees) for degrees in range(1, 200)]
    assert quantiles == sorted(quantiles, reverse=True)
