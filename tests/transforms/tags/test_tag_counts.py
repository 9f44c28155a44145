"""A receipt's counts of tags, counted by hand."""

import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tag_counts import count_tags

NAMES = ("index", "form", "source_start", "source_end", "target_start", "target_end")


def counts_of(*rows):
    tags = [[dict(zip(NAMES, tag, strict=True)) for tag in row] for row in rows]
    kinds = ["tagged" if row else "plain" for row in rows]
    column = pa.array(tags, schemas.TAGGED.field("tags").type)
    return count_tags(pa.table({"kind": kinds, "tags": column}), None, TagConfig())


def test_rows_are_counted_by_their_number_of_tags():
    one, other = (0, "pair", 0, 1, 0, 1), (1, "pair", 2, 3, 2, 3)
    assert counts_of((), (one, other), (other,), (one,), ()) == {
        "plain rows": 2,
        "tagged rows": 3,
        "tags": 4,
        "tagged rows with 1 tags": 2,
        "tagged rows with 2 tags": 1,
    }


def test_a_tag_in_two_parts_is_one_tag_and_special_forms_are_counted():
    parts = (3, "pair", 0, 1, 0, 1), (3, "pair", 0, 1, 4, 5)
    single, empty, again = (
        (0, "self_closing", 2, 2, 2, 2),
        (1, "pair", 4, 4, 4, 4),
        (1, "open", 0, 1, 0, 1),
    )
    assert counts_of((*parts, single), (empty,), (again,)) == {
        "plain rows": 0,
        "tagged rows": 3,
        "tags": 4,
        "tagged rows with 1 tags": 2,
        "tagged rows with 2 tags": 1,
        "self-closing tags": 1,
        "opening halves": 1,
        "empty pairs": 1,
        "tags in two parts": 1,
    }
