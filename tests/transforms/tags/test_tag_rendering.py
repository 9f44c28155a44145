import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.kernels.tags import indexed_tags
from pairweave.transforms.markup.markup import INDEXED, Kind, parse_markup
from pairweave.transforms.symbols.representations import find_representation
from pairweave.transforms.tags.tag_rendering import render_columns, symbol_pattern, symbols_of
from tests.oracles.slow_rendering import render_pair

NAMES = ["indexed", "xliff", "masked", "html", ("⟦{index}⟧", "⟦/{index}⟧", "⟦{index}/⟧")]
TAGS = [form.format(n) for n in (0, 1, 2, 9, 12) for form in ("<a_{}>", "</a_{}>", "<a_{}/>")]
TEXTS = ["word", " ", "é", "𝄞", "5", "_", "<", ">", "/", "<a_", "a_1", "</a_1/>", "<a_x>", "<b>"]
texts = st.lists(st.sampled_from(TAGS + TEXTS), max_size=14).map("".join)


@pytest.mark.parametrize("name", NAMES, ids=str)
@given(pairs=st.lists(st.tuples(texts, texts), max_size=5))
def test_columns_are_rendered_as_their_pairs_one_by_one(name, pairs):
    representation = find_representation(name)
    columns = [pa.array([pair[side] for pair in pairs], pa.string()) for side in range(2)]
    rendered = render_columns(*columns, name)
    expected = [render_pair(*pair, representation) for pair in pairs]
    assert list(zip(*(side.to_pylist() for side in rendered), strict=True)) == expected
    for side in rendered:
        side.validate(full=True)


@pytest.mark.parametrize(
    ("name", "number", "last"),
    [(NAMES[-1], 30, "⟦9/⟧"), ("xliff", 37, '<ex id="9"/>'), ("masked", 45, "XLF_EX,9")],
)
def test_the_symbols_are_those_of_every_number_that_a_row_can_have(name, number, last):
    symbols = symbols_of(name, self_closing=True)
    assert (len(symbols), symbols[-1]) == (number, last)
    assert all(re.fullmatch(symbol_pattern(name), symbol) for symbol in symbols)
    assert "(?P<" not in symbol_pattern(name)


def test_rows_of_a_slice_are_rendered_alone():
    column = pa.array(["<a_0>", "x<a_3/>", "<a_1>y</a_1>", "</a_2>"])
    source, target = render_columns(column[1:3], column[1:3], "xliff")
    assert source.to_pylist() == target.to_pylist() == ['x<x id="1"/>', '<g id="1">y</g>']


def test_a_tags_number_has_nine_digits_at_most():
    data, offsets = texts_of(pa.array(["<a_1234567890>", "<a_123456789>", "<a_1234567890>"]))
    begins, _, _, tags = indexed_tags.find_tags(data, offsets)
    assert begins.tolist() == [0, 0, 1, 1]
    assert (tags // 3).tolist() == [123_456_789]


@given(st.lists(texts, max_size=4))
def test_tags_are_found_as_by_the_parser(lines):
    data, offsets = texts_of(pa.array(lines, pa.string()))
    begins, starts, ends, tags = indexed_tags.find_tags(data, offsets)
    kinds = [Kind.OPEN, Kind.CLOSE, Kind.EMPTY]
    for number, line in enumerate(lines):
        own = slice(begins[number], begins[number + 1])
        actual = [
            (bytes(data[start:end]).decode(), kinds[tag % 3], str(tag // 3))
            for start, end, tag in zip(starts[own], ends[own], tags[own], strict=True)
        ]
        expected = parse_markup(line, INDEXED).tags
        assert actual == [(tag.raw, tag.kind, tag.key) for tag in expected]
