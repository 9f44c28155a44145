"""Nesting of elements that were placed independently."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.markup.markup import (
    Form,
    Marked,
    find_elements,
    is_nested,
    parse_markup,
)
from pairweave.transforms.projection.tag_nesting import Spans, find_parents, order_tags, settle

PLACES = 4


def settled(source, starts, ends, gains):
    """Return the offsets of the tags after `settle`, and the tags in their order."""
    tags = parse_markup(source).tags
    elements = find_elements(tags)
    parents = find_parents(elements)
    spans = Spans(starts, ends, np.arange(PLACES + 1), np.array(gains, np.int64))
    settle(elements, parents, spans)
    ordered = order_tags(elements, parents, spans)
    return [offset for _, offset in ordered], [tags[number] for number, _ in ordered]


@st.composite
def cases(draw):
    """Return nested tags, each with a name of its own; a place and gains for each element."""
    names = iter(range(100))

    def grow(depth):
        text = ""
        for _ in range(draw(st.integers(0, 3))):
            name = f"n{next(names)}"
            empty = depth == 3 or draw(st.booleans())
            text += f"<{name}/>" if empty else f"<{name}>{grow(depth + 1)}</{name}>"
        return text

    source = grow(0)
    starts, ends, gains = [], [], []
    for element in find_elements(parse_markup(source).tags):
        first, last = sorted(draw(st.tuples(*[st.integers(0, PLACES)] * 2)))
        starts.append(first)
        ends.append(last if element.form is Form.PAIR else first)
        of_words = draw(st.lists(st.integers(0, 2), min_size=PLACES, max_size=PLACES))
        gains.append([0, *itertools.accumulate(of_words)])
    return source, starts, ends, gains


@given(cases())
def test_settled_elements_nest_and_their_tags_are_in_order(case):
    offsets, tags = settled(*case)
    assert offsets == sorted(offsets)
    assert is_nested(tags)


def shown(source, spans, words=None):
    """Return ``wxyz`` with the tags of elements that were placed at spans, after `settle`.

    Args:
        source: Tags.
        spans: The span of each element, as two digits.
        words: For each element, the characters that are to be inside it.
    """
    gains = [
        [0, *itertools.accumulate((char in inside) - (char not in inside) for char in "wxyz")]
        for inside in words or [""] * len(spans)
    ]
    offsets, tags = settled(source, *([int(span[end]) for span in spans] for end in (0, 1)), gains)
    moved = (
        dataclasses.replace(tag, offset=offset) for tag, offset in zip(tags, offsets, strict=True)
    )
    return str(Marked("wxyz", tuple(moved)))


@pytest.mark.parametrize(
    ("source", "spans", "words", "expected"),
    [
        ("<a></a><b></b>", ["03", "14"], ["wxy", "z"], "<a>wxy</a><b>z</b>"),
        ("<a></a><b></b>", ["03", "14"], ["w", "xyz"], "<a>w</a><b>xyz</b>"),
        ("<a></a><b></b>", ["14", "03"], ["z", "wxy"], "<b>wxy</b><a>z</a>"),
        ("<a></a><b></b>", ["04", "13"], ["w", "xy"], "<a>w</a><b>xy</b>z"),
        ("<a></a><b></b>", ["02", "24"], ["wx", "yz"], "<a>wx</a><b>yz</b>"),
        (
            "<a><b></b></a><c></c>",
            ["03", "23", "14"],
            ["w", "", "xyz"],
            "<a>w<b></b></a><c>xyz</c>",
        ),
        (
            "<c><a></a><b></b></c>",
            ["04", "03", "14"],
            ["", "w", "xyz"],
            "<c><a>w</a><b>xyz</b></c>",
        ),
    ],
)
def test_siblings_are_cut_apart_where_each_keeps_most_of_its_words(source, spans, words, expected):
    assert shown(source, spans, words) == expected


@pytest.mark.parametrize(
    ("source", "spans", "expected"),
    [
        ("<a></a><b></b>", ["22", "13"], "w<a></a><b>xy</b>z"),
        ("<a></a><b></b>", ["13", "22"], "w<a>xy</a><b></b>z"),
        ("<a></a><x/>", ["13", "22"], "w<a>x<x/>y</a>z"),
        ("<a></a><x/>", ["13", "33"], "w<a>xy</a><x/>z"),
        ("<x/><a></a>", ["11", "13"], "w<x/><a>xy</a>z"),
        ("<x/><a><b></b></a>", ["22", "04", "13"], "<a>w<b>x<x/>y</b>z</a>"),
    ],
)
def test_what_is_empty_goes_into_no_pair_beside_it_unless_it_has_no_end(source, spans, expected):
    assert shown(source, spans) == expected


@pytest.mark.parametrize(
    ("source", "spans", "expected"),
    [
        ("<a><b></b></a>", ["01", "23"], "<a>wx<b>y</b></a>z"),
        ("<a><b></b></a>", ["34", "12"], "w<a><b>x</b>yz</a>"),
        ("<a><b><c></c></b></a>", ["01", "12", "34"], "<a>w<b>xy<c>z</c></b></a>"),
        ("<a><x/></a>", ["12", "44"], "w<a>x<x/></a>yz"),
        ("<a><x/></a>", ["23", "00"], "wx<a><x/>y</a>z"),
    ],
)
def test_a_pair_grows_over_inner_pairs_and_keeps_empty_tags_inside(source, spans, expected):
    assert shown(source, spans) == expected


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        (["02", "13"], "<a>w<b>x</a>y</b>z"),
        (["13", "02"], "<b>w<a>x</b>y</a>z"),
        (["02", "24"], "<a>wx<b></a>yz</b>"),
    ],
)
def test_pairs_that_cross_stay_where_they_are(spans, expected):
    assert shown("<a><b></a></b>", spans) == expected


def test_a_pair_that_is_moved_out_of_a_sibling_is_in_no_other():
    gains = [[0, 0, 1, 2, 2], [0, 0, 1, 2, 3], [0, 0, 0, 0, 1], [0, 0, 0, 1, 1]]
    source = "<a></a><b><x/></b><c></c>"
    offsets, tags = settled(source, [2, 0, 0, 1], [2, 2, 0, 3], gains)
    assert offsets == sorted(offsets)
    assert is_nested(tags)
