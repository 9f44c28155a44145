"""A receipt's counts of tags, counted by hand."""

import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.tags.tag_counts import count_tags

NAMES = ("index", "form", "source_start", "source_end", "target_start", "target_end")


def counts_of(*rows):
    tags = [[dict(zip(NAMES, tag, strict=True)) for tag in row] for row in rows]
    kinds = ["tagged" if row else "plain" for row in rows]
    column = pa.array(tags, schemas.TAGGED.field("tags").type)
    return count_tags(pa.table({"kind": kinds, "tags": column}))


def test_rows_and_tags_are_counted_by_kind():
    one, other = (0, "pair", 0, 1, 0, 1), (1, "pair", 2, 3, 2, 3)
    assert counts_of((), (one, other), (other,), (one,), ()) == {
        "plain_rows": 2,
        "tagged_rows": 3,
        "tags": 4,
    }


def test_a_tag_in_two_parts_is_one_tag_and_special_forms_are_counted():
    parts = (3, "pair", 0, 1, 0, 1), (3, "pair", 0, 1, 4, 5)
    single, empty, again = (
        (0, "self_closing", 2, 2, 2, 2),
        (1, "pair", 4, 4, 4, 4),
        (1, "open", 0, 1, 0, 1),
    )
    assert counts_of((*parts, single), (empty,), (again,)) == {
        "plain_rows": 0,
        "tagged_rows": 3,
        "tags": 4,
        "self_closing_tags": 1,
        "opening_halves": 1,
        "empty_tag_pairs": 1,
        "tags_in_two_parts": 1,
    }
