"""Nesting of elements that were placed independently."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.markup.markup import Form, find_elements, is_nested, parse_markup
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


def test_a_pair_that_is_moved_out_of_a_sibling_is_in_no_other():
    gains = [[0, 0, 1, 2, 2], [0, 0, 1, 2, 3], [0, 0, 0, 0, 1], [0, 0, 0, 1, 1]]
    source = "<a></a><b><x/></b><c></c>"
    offsets, tags = settled(source, [2, 0, 0, 1], [2, 2, 0, 3], gains)
    assert offsets == sorted(offsets)
    assert is_nested(tags)
