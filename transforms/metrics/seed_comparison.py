"""Compares two ways of training, each with several seeds, in one metric.

Small models differ from seed to seed, often by more than from one kind of data to another. So a
difference counts as significant only if both kinds of chance are ruled out. Chance in the segments
is tested by approximate randomization over the segments of all seeds together (`significance`);
chance in the seeds by Student's interval of the differences of models with the same seed.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from pairweave.transforms.metrics.significance import LineSums, compare
from pairweave.transforms.metrics.significance_options import Significance

ALPHA = 0.05

_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)
"""The 97.5 % quantiles of Student's distribution with 1 to 20 degrees of freedom."""

_NORMAL = 1.959964


@dataclasses.dataclass(frozen=True, slots=True)
class Spread:
    """The values of several seeds.

    Attributes:
        mean: Their mean.
        deviation: Their standard deviation; None for one seed.
        seeds: Their number.
    """

    mean: float
    deviation: float | None
    seeds: int


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """The difference from a baseline.

    Attributes:
        mean: Mean of the differences of models with the same seed.
        margin: Half the width of its 95 % interval over seeds; None for one seed.
        p: p-value of the randomization over segments.
        seeds: Number of seeds that both have.
    """

    mean: float
    margin: float | None
    p: float
    seeds: int

    @property
    def is_significant(self) -> bool:
        """Tell whether chance neither in the segments nor in the seeds explains the difference."""
        return self.margin is not None and self.p < ALPHA and abs(self.mean) > self.margin


def spread(values: Mapping[int, float]) -> Spread:
    """Return mean and deviation of values by seed.

    >>> spread({1: 2.0, 2: 4.0})
    Spread(mean=3.0, deviation=1.4142135623730951, seeds=2)
    """
    figures = np.array(list(values.values()), np.float64)
    deviation = float(figures.std(ddof=1)) if len(figures) > 1 else None
    return Spread(float(figures.mean()), deviation, len(figures))


def student(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's distribution.

    Beyond the table it is expanded around the normal distribution's (Abramowitz and Stegun 1964,
    26.7.5), with an error below 0.0005.

    >>> student(4), round(student(40), 3)
    (2.776, 2.021)
    """
    if degrees <= len(_T):
        return _T[degrees - 1]
    z = _NORMAL
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2


def compare_seeds(
    arm: Mapping[int, LineSums], baseline: Mapping[int, LineSums], config: Significance
) -> Difference | None:
    """Compare models with those of a baseline.

    Args:
        arm: Sums of each segment, by seed.
        baseline: The same for the baseline.
        config: How the test draws.

    Returns:
        The difference; None if no seed is in both.
    """
    seeds = sorted(arm.keys() & baseline.keys())
    if not seeds:
        return None
    figure = arm[seeds[0]].figure
    differences = np.array(
        [
            float(figure(arm[seed].lines.sum(axis=0)) - figure(baseline[seed].lines.sum(axis=0)))
            for seed in seeds
        ]
    )
    together = [
        LineSums(np.sum([side[seed].lines for seed in seeds], axis=0), figure)
        for side in (arm, baseline)
    ]
    margin = None
    if len(seeds) > 1:
        error = float(differences.std(ddof=1)) / len(seeds) ** 0.5
        margin = student(len(seeds) - 1) * error
    tested = compare(together[0], together[1], config)
    return Difference(float(differences.mean()), margin, tested.p_randomization, len(seeds))
