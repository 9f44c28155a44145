"""Significance tests for the difference of two systems on the same lines.

They apply to any figure that is a function of sums over lines: paired bootstrap resampling (Koehn
2004) and approximate randomization (Riezler and Maxwell 2005). Both make the same draws as
sacreBLEU's tests (Post 2018), so their figures can be compared.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from pairweave.transforms.metrics.significance_options import Significance
from pairweave.transforms.text_columns import text_columns

OfSums = Callable[[np.ndarray], np.ndarray]
"""Turns sums over lines, float ``[..., number]``, into figures, float ``[...]``."""


_ROUNDING = 1e-9
"""Differences within this are equal: they are summed in different orders."""

_BLOCK = 1 << 22
"""Maximum number of draws in memory, unless 32 trials have more."""


@dataclasses.dataclass(frozen=True, slots=True)
class LineSums:
    """A figure as a function of sums over lines.

    Attributes:
        lines: float64 ``[line, number]``.
        figure: The function of their sums.
    """

    lines: np.ndarray
    figure: OfSums


@dataclasses.dataclass(frozen=True, slots=True)
class Tested:
    """A figure of two systems on the same lines.

    Attributes:
        score: The figure of the outputs.
        baseline: The figure of the other system.
        mean: Mean over the bootstrap's resamples of the outputs.
        ci: Half of the width of their 95 % interval.
        baseline_mean: Mean over the resamples of the baseline.
        baseline_ci: Half of the width of their 95 % interval.
        p_bootstrap: p-value of the bootstrap.
        p_randomization: p-value of the randomization.
        signature: The line that names everything that determines the result.
    """

    score: float
    baseline: float
    mean: float
    ci: float
    baseline_mean: float
    baseline_ci: float
    p_bootstrap: float
    p_randomization: float
    signature: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return everything, unrounded."""
        return dataclasses.asdict(self)


def ratio(sums: np.ndarray) -> np.ndarray:
    """Return the first of two sums divided by the second; 0 if that is 0.

    >>> ratio(np.array([[1.0, 4.0], [0.0, 0.0]])).tolist()
    [0.25, 0.0]
    """
    return np.divide(
        sums[..., 0], sums[..., 1], out=np.zeros(sums.shape[:-1]), where=sums[..., 1] != 0
    )


def percentage(sums: np.ndarray) -> np.ndarray:
    """Return `ratio` in percent."""
    return 100 * ratio(sums)


def two_sums(rows: Sequence[tuple[float, float]]) -> np.ndarray:
    """Return what each line adds to the two sums of `ratio`, float64 ``[line, 2]``."""
    return np.array(rows, np.float64).reshape(-1, 2)


def compare(output: LineSums, baseline: LineSums, config: Significance) -> Tested:
    """Test a figure of two systems by both tests.

    Args:
        output: The outputs ``[line]``.
        baseline: Outputs of the other system, line by line.
        config: How the tests draw.
    """
    figure = output.figure
    score, other = (float(figure(side.lines.sum(axis=0))) for side in (output, baseline))
    resampled = _resample([output.lines, baseline.lines], figure, config)
    differences = np.abs(resampled[0] - resampled[1])
    mean, ci = _interval(resampled[0])
    baseline_mean, baseline_ci = _interval(resampled[1])
    return Tested(
        score,
        other,
        mean,
        ci,
        baseline_mean,
        baseline_ci,
        _p_value(differences - differences.mean(), abs(other - score)),
        _p_value(_exchange(output, baseline, config), abs(other - score)),
    )


def _resample(sides: list[np.ndarray], figure: OfSums, config: Significance) -> list[np.ndarray]:
    """Return the figure of lines drawn with replacement, the same for each side ``[resample]``."""
    count = len(sides[0])
    generator = np.random.default_rng(config.seed)
    sums: list[list[np.ndarray]] = [[] for _ in sides]
    for rows in _blocks(config.resamples, count):
        drawn = generator.choice(count, size=(rows, count), replace=True)
        weights = np.empty((rows, count))
        for row, lines in enumerate(drawn):
            weights[row] = np.bincount(lines, minlength=count)
        for of_side, side in zip(sums, sides, strict=True):
            of_side.append(weights @ side)
    return [figure(np.concatenate(of_side)) for of_side in sums]


def _exchange(output: LineSums, baseline: LineSums, config: Significance) -> np.ndarray:
    """Return differences of the figure after the outputs of random lines are exchanged."""
    generator = np.random.default_rng(config.seed)
    sums = []
    for rows in _blocks(config.trials, len(output.lines)):
        moved = generator.integers(2, size=(rows, len(output.lines)), dtype=bool)
        sums.append(moved @ baseline.lines + ~moved @ output.lines)
    first = np.concatenate(sums)
    # Half of the sums are enough: the total less these gives the other half.
    total = output.lines.sum(axis=0) + baseline.lines.sum(axis=0)
    return np.abs(output.figure(first) - output.figure(total - first))


def _blocks(trials: int, lines: int) -> list[int]:
    """Return the sizes of blocks of trials, so that memory does not grow with trials times lines.

    Drawn in blocks, the numbers are those drawn at once: NumPy takes 32 bools from one random
    number, so all blocks but the last have a multiple of 32 trials. No block is much smaller than
    the others, or its sums might be rounded in another way.

    >>> _blocks(10_000, 1_000), _blocks(70, 1_000_000)
    ([3360, 3360, 3280], [32, 38])
    """
    most = max(_BLOCK // max(lines, 1), 32)
    size = -(-trials // -(-trials // most))
    size = -(-size // 32) * 32
    full = max((trials - size // 2) // size, 0)
    return [size] * full + [trials - full * size]


def _interval(scores: np.ndarray) -> tuple[float, float]:
    """Return the mean and half the width of the middle 95 %."""
    ordered = np.sort(scores)
    cut = len(ordered) // 40
    return float(ordered.mean()), float(0.5 * (ordered[-1 - cut] - ordered[cut]))


def _p_value(differences: np.ndarray, difference: float) -> float:
    """Return the share of differences by chance that are larger than the observed one.

    Both counts are increased by one, or the p-value would be too low (Noreen 1989). Equal figures
    give 1; for equal outputs sacreBLEU gives the minimum.
    """
    if difference <= _ROUNDING:
        return 1.0
    above = differences > difference + _ROUNDING
    return (int(np.count_nonzero(above)) + 1) / (len(differences) + 1)


def render(tested: Mapping[str, Tested], baseline: str, config: Significance) -> list[str]:
    """Return a table of tested figures and their signatures, for a reader.

    Args:
        tested: Results of the tests, by the figure's name.
        baseline: The file of the other system.
        config: How the tests drew.
    """
    rows = [("", "output", "baseline", "95 % interval", "p bootstrap", "p randomization")]
    rows += [
        (
            name,
            f"{result.score:.4g}",
            f"{result.baseline:.4g}",
            f"{result.mean:.4g} ± {result.ci:.3g}",
            f"{result.p_bootstrap:.4f}",
            f"{result.p_randomization:.4f}",
        )
        for name, result in tested.items()
    ]
    head = (
        f"against {baseline}: paired bootstrap of {config.resamples} resamples, approximate "
        f"randomization of {config.trials} trials, seed {config.seed}"
    )
    # Figures of one metric share a signature.
    signatures = dict.fromkeys(result.signature for result in tested.values())
    return [head, *text_columns(rows), *(f"  {line}" for line in signatures)]


class Scores(Protocol):
    """The figures of one system."""

    def shown(self) -> list[str]:
        """Return the figures as lines for people."""

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for JSON."""


AnyScores = TypeVar("AnyScores", bound=Scores, covariant=True)


@dataclasses.dataclass(frozen=True)
class Compared(Generic[AnyScores]):
    """Two systems against the same gold.

    Attributes:
        scores: The figures of the first system.
        baseline: The figures of the other system.
        name: The file of the other system.
        tested: Results of the tests, by figure.
        config: How the tests drew.
    """

    scores: AnyScores
    baseline: AnyScores
    name: str
    tested: dict[str, Tested]
    config: Significance

    def render(self) -> str:
        """Return the figures for a reader, the tests, and on the last line all as JSON."""
        figures = {
            **self.scores.as_dict(),
            "baseline": self.baseline.as_dict(),
            "significance": {name: result.as_dict() for name, result in self.tested.items()},
        }
        table = render(self.tested, self.name, self.config)
        return "\n".join([*self.scores.shown(), *table, json.dumps(figures)])
