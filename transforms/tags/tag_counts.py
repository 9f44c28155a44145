"""Counts of a shard's tags for its receipt."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import ids
from pairweave.transforms.arrow.flat_columns import chunk_of
from pairweave.transforms.tags.named_tags import count_names, draw_names
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tag_measures import FORMS, Elements, Ruler, measure

_NUMBERS = {form: number for number, form in enumerate(FORMS)}


def count_tags(tagged: pa.Table) -> dict[str, int]:
    """Count rows by kind, and tags.

    A tag in two parts counts as one. Tags other than whole pairs, empty pairs and split tags get a
    count if there are any.

    Args:
        tagged: The rows of a shard (`transforms.schemas.TAGGED`).
    """
    kinds = Counter(tagged.column("kind").to_pylist())
    _, tags, again = _tags_of(tagged)
    forms = np.bincount(tags["form"][~again], minlength=len(FORMS))
    empty = (tags["form"] == 0) & (tags["source_start"] == tags["source_end"])
    special = {
        "self_closing_tags": int(forms[_NUMBERS["self_closing"]]),
        "opening_halves": int(forms[_NUMBERS["open"]]),
        "closing_halves": int(forms[_NUMBERS["close"]]),
        "empty_tag_pairs": int(empty.sum()),
        "tags_in_two_parts": int(again.sum()),
    }
    return {
        "plain_rows": kinds["plain"],
        "tagged_rows": kinds["tagged"],
        "tags": int(np.count_nonzero(~again)),
        **{name: number for name, number in special.items() if number},
    }


def _tags_of(tagged: pa.Table) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Return the row of each tag, its fields, and whether it is the second part of a tag.

    Forms are given by their numbers in `FORMS`.
    """
    lists = tagged.column("tags")
    row = np.repeat(np.arange(len(lists)), pc.list_value_length(lists).to_numpy())
    items = pc.list_flatten(lists)
    columns = {name: pc.struct_field(items, name) for name in items.type.names}
    columns["form"] = pc.index_in(columns["form"], pa.array(FORMS))
    tags = {name: column.to_numpy() for name, column in columns.items()}
    again = np.zeros(len(row), np.bool_)
    again[1:] = (row[1:] == row[:-1]) & (tags["index"][1:] == tags["index"][:-1])
    return row, tags, again


def count_shapes(tagged: pa.Table, pairs: pa.Table, config: TagConfig) -> dict[str, int]:
    """Measure the written tags in the same way as a profile (`transforms.tags.tag_measures`).

    Args:
        tagged: The rows of a shard (`transforms.schemas.TAGGED`).
        pairs: Their pairs (`transforms.schemas.PHRASES`).
        config: How the tags were injected.

    Returns:
        Numbers of tags by class, as `tag_profile.TagProfile` counts them; none without a profile.
    """
    if config.profile is None:
        return {}
    row, tags, again = _tags_of(tagged)
    texts = chunk_of(pairs.column("source")).take(
        pc.index_in(chunk_of(tagged.column("id")), chunk_of(pairs.column("id")))
    )
    languages = chunk_of(tagged.column("source_lang"))
    names = ("form", "source_start", "source_end")
    form, start, end = (tags[name][~again].astype(np.int64) for name in names)
    ruler = Ruler.of(texts, config.words, languages)
    counts = measure(texts, ruler, Elements(row[~again], form, start, end))
    if config.representation == "raw":
        keys = ids.pair_keys(tagged.column("id"))
        drawn = draw_names(config.seed, keys, tagged, config.profile.names)[~again]
        counts += count_names(drawn, [FORMS[number] for number in form], config.profile.names)
    return dict(sorted(counts.items()))
