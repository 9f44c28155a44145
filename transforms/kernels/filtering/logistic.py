"""Logistic regression: the probability of a pair, summed in the same order on every machine."""

import math

import numba
import numpy as np

MAX_LOGIT = 80.0
"""Keeps the exponential finite."""


@numba.njit(nogil=True, cache=True)
def probabilities(evidence: np.ndarray, weights: np.ndarray, bias: float) -> np.ndarray:
    """Return logistic probabilities.

    Args:
        evidence: float32 ``[column, pair]``.
        weights: float64 ``[column]``.
        bias: Constant added to the weighted sum.

    Returns:
        float32 ``[pair]``, in [0, 1].
    """
    columns, pairs = evidence.shape
    results = np.empty(pairs, np.float32)
    for pair in range(pairs):
        logit = bias
        for column in range(columns):
            logit += weights[column] * np.float64(evidence[column, pair])
        results[pair] = 1.0 / (1.0 + math.exp(-min(max(logit, -MAX_LOGIT), MAX_LOGIT)))
    return results
