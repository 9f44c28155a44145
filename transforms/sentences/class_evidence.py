"""The evidence of classes of features that lines belong together, from their frequencies."""

import numpy as np

NATS = 16
"""Units of evidence in one natural logarithm: sums of integers are the same on any machine."""

_SMOOTHING = 8.0
"""Number of pairs of lines with which the frequency of a class is smoothed towards chance."""

_MOST = 4.0
"""Largest evidence of a class, in nats."""


def class_evidence(together: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return the logarithm of how often classes occur in lines that belong together and in others.

    Args:
        together: How often each class occurs in lines that belong together, ``[group, class]``;
            the classes of a group exclude each other.
        chance: How often each class occurs in lines that do not belong together.

    Returns:
        In `NATS`, int32 ``[group, class]``.
    """
    totals = chance.sum(axis=1, keepdims=True)
    expected = (chance + 0.5) / (totals + 0.5 * chance.shape[1])
    rows = together.sum(axis=1, keepdims=True)
    seen = (together + _SMOOTHING * expected) / (rows + _SMOOTHING)
    evidence = np.clip(np.log(seen / expected), -_MOST, _MOST)
    return np.rint(NATS * evidence).astype(np.int32)
