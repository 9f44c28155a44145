"""Phrases contain elements of the text's own markup completely or not at all."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.tags.elements import (
    ElementTags,
    Phrases,
    keep_phrases,
    require_whole,
)
from pairweave.transforms.kernels.text.spans import FlatSpans


def fits(phrase, *elements):
    """Tell whether a phrase of tokens of one character each may be tagged beside elements."""
    left = np.ones(1, np.bool_)
    tokens = np.arange(12, dtype=np.int32)
    require_whole(
        FlatSpans(np.array([0, 1]), *(np.array([at], np.int16) for at in phrase)),
        FlatSpans(np.array([0, 12]), tokens, tokens + 1),
        ElementTags(
            np.array([0, len(elements)]), np.array(elements, np.int32).reshape(-1, 4).T.copy()
        ),
        left,
    )
    return bool(left[0])


# An opening tag from 2 to 4 and a closing one from 7 to 9.
PAIR = (2, 4, 7, 9)


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ((0, 2), True),  # before the element
        ((4, 7), True),  # inside it
        ((9, 12), True),  # behind it
        ((2, 9), True),  # the element and no more
        ((0, 12), True),
        ((2, 4), False),  # one tag alone
        ((7, 9), False),
        ((0, 5), False),
        ((4, 9), False),
        ((2, 8), False),  # a part of the closing tag
        ((3, 9), False),  # a part of the opening tag
        ((0, 3), False),
        ((3, 8), False),  # a part of both
        ((8, 12), False),
    ],
)
def test_a_phrase_holds_both_tags_whole_or_neither(phrase, expected):
    assert fits(phrase, PAIR) is expected


def test_an_element_of_one_tag_is_not_split():
    alone = (5, 8, 5, 8)
    assert fits((0, 12), alone)
    assert fits((5, 8), alone)
    assert fits((0, 5), alone)
    assert not fits((0, 6), alone)
    assert not fits((6, 7), alone)
    assert not fits((7, 12), alone)


def test_each_element_is_looked_at():
    assert not fits((0, 6), (0, 1, 4, 5), (5, 7, 8, 9))
    assert fits((0, 5), (0, 1, 4, 5), (5, 7, 8, 9))


@given(
    sizes=st.lists(st.integers(0, 4), min_size=1, max_size=5),
    before=st.integers(0, 3),
    weighted=st.booleans(),
    data=st.data(),
)
def test_the_phrases_that_fit_are_kept_in_order(sizes, before, weighted, data):
    offsets = before + np.cumsum([0, *sizes])
    number = int(offsets[-1]) + 2  # of more pairs than these
    fits = np.array(data.draw(st.lists(st.booleans(), min_size=number, max_size=number)))
    boxes = np.arange(4 * number, dtype=np.int16).reshape(4, number)
    weights = np.arange(number if weighted else 0, dtype=np.float32)
    chosen = [np.arange(*pair)[fits[slice(*pair)]] for pair in itertools.pairwise(offsets)]
    kept_offsets, kept_boxes, kept_weights = keep_phrases(offsets, boxes, weights, fits)
    assert kept_offsets.tolist() == np.cumsum([0, *map(len, chosen)]).tolist()
    assert kept_boxes.tolist() == boxes[:, np.concatenate(chosen)].tolist()
    assert kept_weights.tolist() == (np.concatenate(chosen).tolist() if weighted else [])


def test_phrases_that_all_fit_are_not_copied():
    phrases = Phrases(np.array([0, 2]), np.zeros((4, 2), np.int16), np.zeros(0, np.float32))
    assert phrases.only(np.ones(2, np.bool_)) is phrases
    assert phrases.only(np.zeros(2, np.bool_)).boxes.shape == (4, 0)
