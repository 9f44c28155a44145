"""Counts of a shard's tags for its receipt."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import ids
from pairweave.transforms.arrow.flat_columns import chunk_of, offsets_of
from pairweave.transforms.tags.named_tags import count_names, draw_names
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tag_measures import FORMS, Elements, Ruler, measure
from pairweave.transforms.tags.tag_profile import PREFIX

_NUMBERS = {form: number for number, form in enumerate(FORMS)}


def count_tags(tagged: pa.Table, pairs: pa.Table, config: TagConfig) -> dict[str, int]:
    """Count rows by kind, tags, tagged rows by number of tags, and, with a profile, shapes.

    A tag in two parts counts as one. Tags other than whole pairs, empty pairs and split tags get a
    count if there are any.

    Args:
        tagged: The rows of a shard (`transforms.schemas.TAGGED`).
        pairs: Their pairs (`transforms.schemas.PHRASES`).
        config: How the tags were injected.
    """
    kinds = Counter(tagged.column("kind").to_pylist())
    offsets = offsets_of(tagged.column("tags"))
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    tags = _fields(chunk_of(tagged.column("tags")))
    again = np.zeros(len(row), np.bool_)
    again[1:] = (row[1:] == row[:-1]) & (tags["index"][1:] == tags["index"][:-1])
    lengths = np.bincount(row[~again], minlength=len(offsets) - 1)
    counts = {"plain rows": kinds["plain"], "tagged rows": kinds["tagged"]}
    counts["tags"] = int(lengths.sum())
    for number, rows in enumerate(np.bincount(lengths[lengths > 0]).tolist()):
        if rows:
            counts[f"tagged rows with {number} tags"] = rows
    forms = np.bincount(tags["form"][~again], minlength=len(FORMS))
    empty = (tags["form"] == 0) & (tags["source_start"] == tags["source_end"])
    special = {
        "self-closing tags": int(forms[_NUMBERS["self_closing"]]),
        "opening halves": int(forms[_NUMBERS["open"]]),
        "closing halves": int(forms[_NUMBERS["close"]]),
        "empty pairs": int(empty.sum()),
        "tags in two parts": int(again.sum()),
    }
    counts |= {name: number for name, number in special.items() if number}
    if config.profile is not None:
        counts |= _shapes(tagged, pairs, config, row[~again], tags, ~again)
    return counts


def _fields(tags: pa.ListArray) -> dict[str, np.ndarray]:
    """Return the flat fields of tags, with forms as their numbers in `FORMS`."""
    items = tags.flatten()
    names = [field.name for field in items.type if field.name != "form"]
    fields = {name: items.field(name).to_numpy() for name in names}
    forms = pc.index_in(items.field("form"), pa.array(FORMS))
    return {**fields, "form": forms.to_numpy(zero_copy_only=False)}


def _shapes(
    tagged: pa.Table,
    pairs: pa.Table,
    config: TagConfig,
    row: np.ndarray,
    tags: dict[str, np.ndarray],
    first: np.ndarray,
) -> dict[str, int]:
    """Measure the written tags in the same way as a profile (`transforms.tags.tag_measures`)."""
    texts = chunk_of(pairs.column("source")).take(
        pc.index_in(chunk_of(tagged.column("id")), chunk_of(pairs.column("id")))
    )
    languages = chunk_of(tagged.column("source_lang"))
    names = ("form", "source_start", "source_end")
    form, start, end = (tags[name][first].astype(np.int64) for name in names)
    ruler = Ruler.of(texts, config.words, languages)
    counts = measure(texts, ruler, Elements(row, form, start, end))
    if config.representation == "raw":
        assert config.profile is not None
        keys = ids.pair_keys(tagged.column("id"))
        drawn = draw_names(config.seed, keys, tagged, config.profile.names)[first]
        counts += count_names(drawn, [FORMS[number] for number in form], config.profile.names)
    return {f"{PREFIX}{name}": number for name, number in sorted(counts.items())}
