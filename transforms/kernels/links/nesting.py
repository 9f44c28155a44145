"""Relations of phrase pairs: disjoint, nested or crossing; and the order of their tags."""

import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.uncounted import uncounted


@uncounted
def are_disjoint(boxes: np.ndarray, one: Integer, other: Integer) -> bool:
    """Tell whether two phrase pairs share no token on either side.

    Args:
        boxes: Source start, source end, target start and target end of the phrase pairs, in
            tokens, half-open, ``[4, phrase pair]``.
        one: A phrase pair.
        other: Another.
    """
    return (boxes[1, one] <= boxes[0, other] or boxes[1, other] <= boxes[0, one]) and (
        boxes[3, one] <= boxes[2, other] or boxes[3, other] <= boxes[2, one]
    )


@uncounted
def contains(boxes: np.ndarray, one: Integer, other: Integer) -> bool:
    """Tell whether a phrase pair contains another on both sides, or is equal to it."""
    return (
        boxes[0, one] <= boxes[0, other]
        and boxes[1, other] <= boxes[1, one]
        and boxes[2, one] <= boxes[2, other]
        and boxes[3, other] <= boxes[3, one]
    )


@uncounted
def nests(boxes: np.ndarray, one: Integer, other: Integer) -> bool:
    """Tell whether two phrase pairs are disjoint, or one contains the other on both sides."""
    if boxes[1, one] <= boxes[0, other] or boxes[1, other] <= boxes[0, one]:
        return boxes[3, one] <= boxes[2, other] or boxes[3, other] <= boxes[2, one]
    return contains(boxes, one, other) or contains(boxes, other, one)


@uncounted
def comes_before(boxes: np.ndarray, one: Integer, other: Integer) -> bool:
    """Tell whether a tag precedes another in a row: it begins first, or contains the other."""
    if boxes[0, one] != boxes[0, other]:
        return boxes[0, one] < boxes[0, other]
    if boxes[1, one] != boxes[1, other]:
        return boxes[1, one] > boxes[1, other]
    if boxes[2, one] != boxes[2, other]:
        return boxes[2, one] < boxes[2, other]
    return boxes[3, one] > boxes[3, other]
