"""Decides whether an earlier fit helps a new one: whether both directions then agree more often.

Held-out text cannot decide this, because the likelihood prefers a small vocabulary, which makes
unseen words likely. But two directions agree only on words that they know (Liang, Taskar and Klein
2006). In 29 fits of 200 to 19,000 pairs, no earlier fit that removed `MIN_GAIN` of the
disagreement raised the alignment error (tests/benchmarks/README.md).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import fields_of
from pairweave.transforms.units import Notice

FEW_PAIRS = 200
"""With fewer pairs an earlier fit is always used: there are too few links to compare."""

ENOUGH_PAIRS = 20_000
"""With this many pairs or more, an earlier fit is not used: from 16,000 on, none helped by
more than 0.02 points of error."""

SAMPLE_PAIRS = 3_000
"""Number of pairs, the first of the fit, whose links are compared."""

MIN_GAIN = 0.025
"""Minimum share of the disagreement that an earlier fit must remove to be used."""


def is_better(agreement: float, without: float) -> bool:
    """Tell whether an earlier fit is to be used.

    Args:
        agreement: How far both directions agree with the earlier fit, from `agreement_of`.
        without: How far they agree without the earlier fit.
    """
    return agreement > without and agreement >= _needed(without)


def _needed(without: float) -> float:
    """Return the agreement that an earlier fit must reach to be used."""
    return without + MIN_GAIN * (1 - without)


def agreement_of(linked: pa.Table) -> float:
    """Return the share of links that both directions make, among the links of either direction.

    Args:
        linked: Pairs with the links of both directions (`transforms.schemas.LINKED`).

    Returns:
        The share, rounded to six decimals; 0 if there are no links.
    """
    schemas.require(linked, schemas.LINKED)
    forward, reverse = (_keys(linked.column(name)) for name in ("forward", "reverse"))
    both = len(np.intersect1d(forward, reverse, assume_unique=True))
    either = len(forward) + len(reverse) - both
    return round(both / either, 6) if either else 0.0


def left_out(report: Mapping[str, Any]) -> Notice | None:
    """Return the notice that a fit left out the given earlier fit.

    Args:
        report: The report of the fit, in ``model.json``.

    Returns:
        None if no earlier fit was given, or if it was used.
    """
    prior = report.get("prior")
    if prior is None or prior["used"]:
        return None
    if "agreement" in prior:
        without = prior["agreement_without"]
        why = (
            f"with it, both directions agree on {prior['agreement']:.2%} of the links, without it "
            f"on {without:.2%}; {_needed(without):.2%} were needed"
        )
    else:
        why = f"{report['pairs']:,} pairs need none"
    return Notice("prior_left_out", "options", 1, f"the earlier fit of --prior was left out: {why}")


def _keys(column: pa.ChunkedArray) -> np.ndarray:
    """Return a number for each link, unique in the column, int64."""
    offsets, fields = fields_of(column)
    pairs = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    inside = slice(offsets[0], offsets[-1])
    source, target = (fields[name][inside].astype(np.int64) for name in ("source", "target"))
    return pairs << 32 | source << 16 | target
