"""Numbers of tags in the order of the source, beside those of the same rows, renumbered as text."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.tags.tag_text import (
    CLOSE,
    PAIR,
    SELF_AT_END,
    SELF_AT_START,
    TagBorders,
    insert_tags,
    numbers_in_order,
)
from pairweave.transforms.kernels.text.utf8 import FlatTexts
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tags import inject_tags
from pairweave.transforms.text.codepoints import properties
from tests.oracles import slow_tag_numbers
from tests.transforms.tags import test_tags, test_tags_shapes
from tests.transforms.tags.test_tags import INFINITE, crowded_pairs, linked_pairs, some_pairs


def slow_rows(table, config):
    """Return the rows of shuffled numbers, numbered again."""
    shuffled = inject_tags(table, config.changed(tag_numbers="shuffled"))[0]
    return slow_tag_numbers.numbered(shuffled.to_pylist(), "in_order")


@given(
    st.one_of(linked_pairs(), crowded_pairs()),
    st.one_of(test_tags.configs, test_tags_shapes.configs()),
)
def test_rows_have_the_tags_of_shuffled_numbers_numbered_in_order(table, config):
    rows, without = inject_tags(table, config.changed(tag_numbers="in_order"))
    assert rows.to_pylist() == slow_rows(table, config)
    assert without.tolist() == inject_tags(table, config)[1].tolist()


def test_each_form_counts_where_it_is_written():
    shares = dict.fromkeys(("self_closing_share", "damage_share", "empty_share"), 0.4)
    config = TagConfig(
        mix=INFINITE, variants=2, nesting="free", tag_share=0.9, split_share=0.5, **shares
    )
    table = some_pairs(40, words=8)
    rows = inject_tags(table, config.changed(tag_numbers="in_order"))[0].to_pylist()
    assert rows == slow_rows(table, config)
    forms = {(tag["form"], tag["index"] > 1) for row in rows for tag in row["tags"]}
    assert {form for form, is_late in forms if is_late} == {"pair", "self_closing", "open", "close"}


def test_variants_that_differ_in_their_numbers_alone_are_one_row():
    table = some_pairs(30, words=4)
    config = TagConfig(mix=INFINITE, variants=4, tag_share=0.6)
    shuffled, ordered = (
        inject_tags(table, config.changed(tag_numbers=order))[0].num_rows
        for order in ("shuffled", "in_order")
    )
    assert ordered < shuffled


def test_at_one_place_what_closes_counts_before_what_opens():
    borders = TagBorders(
        offsets=np.array([0, 2, 5]),
        opens=np.array([0, 2, 0, 0, 3], np.int32),
        closes=np.array([2, 4, 3, 3, 5], np.int32),
        numbers=np.array([7, 4, 1, 9, 2], np.int16),
        codes=np.array([CLOSE, PAIR, SELF_AT_END, SELF_AT_END, SELF_AT_START], np.int8),
    )
    texts = FlatTexts(np.frombuffer(b"abcdefghij", np.uint8), np.array([0, 5, 10]))
    data, ends = insert_tags(texts, np.arange(2), borders, 0, properties())
    assert data.tobytes().decode() == "ab</a_7><a_4>cd</a_4>e" + "fgh<a_9/><a_1/><a_2/>ij"
    assert ends[1] == len("ab</a_7><a_4>cd</a_4>e")
    numbers = numbers_in_order(borders)
    assert [numbers[0, 7], numbers[0, 4]] == [0, 1]
    assert [numbers[1, 9], numbers[1, 1], numbers[1, 2]] == [0, 1, 2]
    assert (numbers >= 0).sum() == 5
