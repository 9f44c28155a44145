"""Metrics of how well a score separates good from bad."""

import numpy as np


def area_under_curve(scores: np.ndarray, good: np.ndarray) -> float:
    """Return the area under the ROC curve.

    It is the share of pairs of a good and a bad item in which the good one scores higher; equal
    scores count half (Hanley and McNeil 1982).

    Args:
        scores: ``[item]``.
        good: Whether each item is good, bool ``[item]``; both values must occur.

    >>> area_under_curve(np.array([0.1, 0.5, 0.5, 0.9]), np.array([False, False, True, True]))
    0.875
    """
    values, places, times = np.unique(scores, return_inverse=True, return_counts=True)
    wins = np.bincount(places[good], minlength=len(values))
    bad = times - wins
    below = np.cumsum(bad) - bad
    return float((wins * (below + bad / 2)).sum() / (wins.sum() * bad.sum()))
