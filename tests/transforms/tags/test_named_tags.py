"""Tags of a document's own names in place of indexed ones."""

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.tags.named_tags import TagNames, draw_names, name_rows
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tag_profile import TagProfile

TAGS = schemas.TAGGED.field("tags").type
SPAN = ("source_start", "source_end", "target_start", "target_end")


def rows_of(*rows):
    """Return rows of texts and tags; a tag is its number and its form."""
    items = [
        [{"index": number, "form": form} | dict.fromkeys(SPAN, 0) for number, form in tags]
        for _, _, tags in rows
    ]
    return pa.table(
        {
            "source": [source for source, _, _ in rows],
            "target": [target for _, target, _ in rows],
            "variant": pa.array([0] * len(rows), pa.int16()),
            "tags": pa.array(items, TAGS),
        }
    )


ROWS = rows_of(
    ("<a_3>one</a_3> two<a_0/>", "<a_0/>eins <a_3>zwei</a_3>", [(3, "pair"), (0, "self_closing")]),
    ("no tag", "kein Tag", []),
    ("<a_9>three", "<a_9>drei", [(9, "open")]),
)
KEYS = np.array([5, 6, 7], np.uint64)


@pytest.mark.parametrize(
    ("syntax", "name", "empty"),
    [("html", "br", "<br>"), ("xml", "br", "<br/>"), ("html", "x-icon", "<x-icon/>")],
)
def test_both_sides_have_the_names_in_place_of_the_numbers(syntax, name, empty):
    counts = (("open", "i", 1), ("pair", "b", 3), ("self_closing", name, 2))
    named = name_rows(1, KEYS, ROWS, TagNames(counts, syntax))
    assert named["source"].to_pylist() == [f"<b>one</b> two{empty}", "no tag", "<i>three"]
    assert named["target"].to_pylist() == [f"{empty}eins <b>zwei</b>", "kein Tag", "<i>drei"]


def test_names_are_drawn_as_often_as_documents_have_them():
    names = TagNames((("pair", "b", 30), ("pair", "i", 10), ("open", "u", 1)))
    count = 4_000
    rows = rows_of(*[("<a_0>x</a_0>", "<a_0>y</a_0>", [(0, "pair")])] * count)
    drawn = draw_names(1, np.arange(count, dtype=np.uint64), rows, names)
    assert names.names == ["b", "i", "u"]
    actual = np.bincount(drawn, minlength=3) / count
    assert actual == pytest.approx([0.75, 0.25, 0.0], abs=0.03)
    assert 2 not in drawn  # only opening tags have that name


@pytest.mark.parametrize("form", ["pair", "empty", "open"])
def test_raw_tags_need_names_of_every_form_that_the_profile_has(form):
    counts = (("form self_closing", 1), (f"form {form}", 1), ("tags 1", 2))
    known = TagNames((("self_closing", "br", 1),))
    wanted = {"empty": "pair"}.get(form, form)
    with pytest.raises(ConfigError, match=f"tags of form {wanted}, but no names for them"):
        TagConfig(representation="raw", profile=TagProfile(tuple(sorted(counts)), names=known))
    both = TagNames((("self_closing", "br", 1), (wanted, "b", 1)))
    TagConfig(representation="raw", profile=TagProfile(tuple(sorted(counts)), names=both))
