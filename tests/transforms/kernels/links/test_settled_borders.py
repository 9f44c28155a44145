"""Borders that links beside a phrase pair confirm, against plain Python."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.links.phrase_extraction import count_settled_borders
from tests.makers.links import flat


def settled_slowly(links, source_words, target_words, box):
    """Count the settled borders of one phrase pair."""
    there = {*links, (-1, -1), (source_words, target_words)}
    before, after = box[0] - 1, box[1]
    left = {(before, box[2] - 1), (after, box[2] - 1)}
    right = {(after, box[3]), (before, box[3])}
    return bool(there & left) + bool(there & right)


def settled(pairs):
    """Count the settled borders of the boxes of (links, source words, target words, boxes)."""
    links, sources, targets, boxes = zip(*pairs, strict=True) if pairs else [()] * 4
    offsets = np.cumsum([0, *map(len, boxes)], dtype=np.int64)
    columns = np.array([box for some in boxes for box in some], np.int16).reshape(-1, 4).T.copy()
    lengths = (np.array(each, np.int64) for each in (sources, targets))
    return count_settled_borders(flat([sorted(some) for some in links]), *lengths, offsets, columns)


@st.composite
def sentences(draw):
    """Draw a pair of sentences with links and phrase pairs."""
    sizes = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    ranges = [
        [(start, end) for start in range(size) for end in range(start + 1, size + 1)]
        for size in sizes
    ]
    links = st.sets(st.sampled_from([*itertools.product(*map(range, sizes))]), max_size=9)
    boxes = st.sampled_from([(*one, *other) for one, other in itertools.product(*ranges)])
    return draw(links), *sizes, draw(st.lists(boxes, max_size=3))


@given(st.lists(sentences(), max_size=3))
def test_settled_borders_are_those_of_plain_python(pairs):
    expected = [
        settled_slowly(links, source, target, box)
        for links, source, target, boxes in pairs
        for box in boxes
    ]
    assert settled(pairs).tolist() == expected


@pytest.mark.parametrize(
    ("link", "box", "count"),
    [
        ((0, 0), (1, 2, 1, 2), 1),  # before it on both sides
        ((2, 2), (1, 2, 1, 2), 1),  # after it on both sides
        ((2, 0), (1, 2, 1, 2), 1),  # swapped on the left
        ((0, 2), (1, 2, 1, 2), 1),  # swapped on the right
        ((3, 3), (1, 2, 1, 2), 0),
        ((3, 3), (0, 3, 0, 3), 2),
        ((3, 3), (0, 4, 0, 4), 2),
        ((3, 3), (0, 3, 1, 3), 1),
    ],
)
def test_a_border_is_settled_by_a_link_beside_it_or_by_the_ends_of_the_texts(link, box, count):
    assert settled([({link}, 4, 4, [box])]).tolist() == [count]


def test_a_pair_leaves_nothing_behind_for_the_next():
    ranges = [(start, end) for start in range(4) for end in range(start + 1, 5)]
    boxes = [(*one, *other) for one, other in itertools.product(ranges, ranges)]
    expected = [settled_slowly(set(), 4, 4, box) for box in boxes]
    for size in range(1, 5):
        links = {(word, word) for word in range(size)}
        before = (links, size, size, [(0, 1, 0, 1)])
        assert settled([before, (set(), 4, 4, boxes)]).tolist()[1:] == expected
