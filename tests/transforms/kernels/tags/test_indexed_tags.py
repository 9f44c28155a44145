"""The kernels on bytes and the one definition of indexed tags agree."""

import re

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import indexed_tag
from pairweave.transforms.arrow.flat_columns import text_column, texts_of
from pairweave.transforms.kernels.tags import indexed_tags, tag_names, tag_text
from pairweave.transforms.text import codepoints

PARTS = ["<", "/", ">", "a_", "a", "_", "0", "7", "12", "007", "1234567890", "é", " ", "<a_3>"]
texts = st.lists(st.sampled_from(PARTS), max_size=16).map("".join)
numbers = st.integers(0, 10**indexed_tag.MAX_DIGITS - 1)


def find(text):
    _, starts, ends, tags = indexed_tags.find_tags(*texts_of(pa.array([text], pa.string())))
    data = text.encode()
    return [
        (data[start:end].decode(), tag)
        for start, end, tag in zip(starts.tolist(), ends.tolist(), tags.tolist(), strict=True)
    ]


def code_of(match):
    kind = (
        tag_names.CLOSE if match["close"] else tag_names.EMPTY if match["empty"] else tag_names.OPEN
    )
    return tag_names.KINDS * int(indexed_tag.digits_of(match[0])) + kind


@given(texts)
def test_the_finder_finds_what_the_pattern_finds(text):
    matches = indexed_tag.ANY_TAG.finditer(text)
    short = [
        match for match in matches if len(indexed_tag.digits_of(match[0])) <= indexed_tag.MAX_DIGITS
    ]
    assert find(text) == [(match[0], code_of(match)) for match in short]


@given(numbers, st.sampled_from([(False, False), (True, False), (False, True)]))
def test_the_finder_and_all_patterns_read_what_is_written(number, form):
    tag = indexed_tag.write_tag(number, closes=form[0], is_empty=form[1])
    kind = tag_names.CLOSE if form[0] else tag_names.EMPTY if form[1] else tag_names.OPEN
    assert find(f"é{tag}<") == [(tag, tag_names.KINDS * number + kind)]
    for pattern in (indexed_tag.ANY_TAG, indexed_tag.WRITTEN_TAG):
        match = pattern.fullmatch(tag)
        assert (bool(match["close"]), bool(match["empty"])) == form
    one_digit = number < indexed_tag.INDICES
    assert bool(re.fullmatch(indexed_tag.TAG_PATTERN, tag)) == one_digit
    assert bool(re.fullmatch(indexed_tag.JOB_TAG, tag)) == one_digit
    assert bool(re.fullmatch(indexed_tag.OPENING_PATTERN, tag)) == (one_digit and not any(form))
    for pattern in (indexed_tag.RESERVED_PATTERN, indexed_tag.PIECE_PATTERN):
        assert re.fullmatch(pattern, tag)


@given(texts)
def test_patterns_with_groups_and_without_find_the_same(text):
    actual = [match.span() for match in re.finditer(indexed_tag.TAG_PATTERN, text)]
    assert [match.span() for match in re.finditer(indexed_tag.JOB_TAG, text)] == actual
    assert bool(actual) <= bool(re.search(indexed_tag.RESERVED_PATTERN, text))


def test_the_writer_writes_the_tags_of_the_definition():
    write = indexed_tag.write_tag
    for number in range(indexed_tag.INDICES):
        pair = write(number), write(number, closes=True)
        alone = write(number, is_empty=True)
        written = {
            tag_text.PAIR: "é{}b{}c".format(*pair),
            tag_text.SELF_AT_START: f"é{alone}bc",
            tag_text.SELF_AT_END: f"éb{alone}c",
            tag_text.OPEN: f"é{pair[0]}bc",
            tag_text.CLOSE: f"éb{pair[1]}c",
            tag_text.EMPTY_AT_START: "é{}{}bc".format(*pair),
            tag_text.EMPTY_AT_END: "éb{}{}c".format(*pair),
        }
        rows = len(written)
        column = text_column(
            *tag_text.insert_tags(
                texts_of(pa.array(["ébc"])),
                np.zeros(rows, np.int64),
                tag_text.TagBorders(
                    np.arange(rows + 1),
                    np.full(rows, 1, np.int32),
                    np.full(rows, 2, np.int32),
                    np.full(rows, number, np.int16),
                    np.array(list(written), np.int8),
                ),
                0,
                codepoints.properties(),
            )
        )
        assert column.to_pylist() == list(written.values())
