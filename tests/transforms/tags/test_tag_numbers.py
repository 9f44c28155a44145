"""Numbers of tags in the order of the source, beside those of the same rows, renumbered as text."""

import re

from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tags import inject_tags
from tests.transforms.tags import test_tags, test_tags_shapes
from tests.transforms.tags.test_tags import INFINITE, crowded_pairs, linked_pairs, some_pairs

TAG = re.compile(r"(</?a_)([0-9])(/?>)")


def renumbered(row):
    """Return a row whose tags are numbered as the text of its source first has them."""
    found = dict.fromkeys(match[2] for match in TAG.finditer(row["source"]))
    number = {old: new for new, old in enumerate(found)}

    def written(match):
        return f"{match[1]}{number[match[2]]}{match[3]}"

    return {
        **row,
        **{side: TAG.sub(written, row[side]) for side in ("source", "target")},
        "tags": [{**tag, "index": number[str(tag["index"])]} for tag in row["tags"]],
    }


def slow_rows(table, config):
    """Return the rows of shuffled numbers, renumbered, without those that now repeat others."""
    rows, seen = [], set()
    for row in map(renumbered, inject_tags(table, config)[0].to_pylist()):
        key = row["id"], row["source"], row["target"]
        if row["kind"] == "plain" or key not in seen:
            rows.append(row)
        seen.add(key)
    return rows


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
