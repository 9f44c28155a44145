"""How well a score tells good from bad."""

import numpy as np


def area_under_curve(scores: np.ndarray, good: np.ndarray) -> float:
    """Return the area under the ROC curve.

    That is the share of pairs of a good and a bad item of which the good one scores higher; equal
    scores count half (Hanley and McNeil 1982).

    Args:
        scores: ``[item]``.
        good: Which items are good, bool ``[item]``; some are, and some are not.

    >>> area_under_curve(np.array([0.1, 0.5, 0.5, 0.9]), np.array([False, False, True, True]))
    0.875
    """
    values, places, times = np.unique(scores, return_inverse=True, return_counts=True)
    wins = np.bincount(places[good], minlength=len(values))
    bad = times - wins
    below = np.cumsum(bad) - bad
    return float((wins * (below + bad / 2)).sum() / (wins.sum() * bad.sum()))
