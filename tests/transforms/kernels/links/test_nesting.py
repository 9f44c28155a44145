"""Nesting of phrase pairs, against sets of words."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.links.nesting import comes_before, contains, nests

sides = st.tuples(st.integers(0, 5), st.integers(1, 3)).map(lambda x: (x[0], x[0] + x[1]))
phrase_pairs = st.tuples(sides, sides)


def words(side):
    return set(range(*side))


@given(phrase_pairs, phrase_pairs)
def test_a_phrase_pair_holds_another_if_it_does_on_both_sides(one, other):
    boxes = np.array([[*one[0], *one[1]], [*other[0], *other[1]]]).T.copy()
    held = all(words(small) <= words(large) for large, small in zip(one, other, strict=True))
    holder = all(words(small) <= words(large) for large, small in zip(other, one, strict=True))
    apart = not any(words(a) & words(b) for a, b in zip(one, other, strict=True))
    assert contains(boxes, 0, 1) == held
    assert nests(boxes, 0, 1) == nests(boxes, 1, 0) == (apart or held or holder)


@given(phrase_pairs, phrase_pairs)
def test_tags_are_ordered_by_their_beginnings_and_holders_come_first(one, other):
    boxes = np.array([[*one[0], *one[1]], [*other[0], *other[1]]]).T.copy()

    def order(pair):
        (source_start, source_end), (target_start, target_end) = pair
        return source_start, -source_end, target_start, -target_end

    assert comes_before(boxes, 0, 1) == (order(one) < order(other))
