"""Nesting of elements, against plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.tags.elements import measure_depths


def holds(one, other):
    """Tell whether a range that is not empty holds another; an empty one only strictly inside."""
    if one[0] == one[1]:
        return False
    if other[0] == other[1]:
        return one[0] < other[0] < one[1]
    return one[0] <= other[0] and other[1] <= one[1]


@st.composite
def elements(draw):
    start = draw(st.integers(0, 5))
    return start, draw(st.integers(start, 6))


@given(st.lists(st.lists(elements(), max_size=5), max_size=3))
def test_depths_are_those_of_a_slow_twin(texts):
    depths, nested = [], []
    for text in texts:
        for at, one in enumerate(text):
            # Of two elements of the same range, the earlier holds the later.
            holders = [
                other
                for place, other in enumerate(text)
                if place != at and holds(other, one) and not (other == one and place > at)
            ]
            depths.append(len(holders))
            nested.append(any(holds(one, other) or holds(other, one) for other in text[:at]))
    flat = np.array([each for text in texts for each in text], np.int64).reshape(-1, 2)
    offsets = np.cumsum([0] + [len(text) for text in texts])
    actual = measure_depths(offsets, flat[:, 0].copy(), flat[:, 1].copy())
    assert actual[0].tolist() == depths
    assert actual[1].tolist() == nested
