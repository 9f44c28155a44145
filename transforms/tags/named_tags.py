"""Injected tags with the names of real ones: ``<uicontrol>`` is as frequent as in documents."""

import dataclasses
import re
from collections import Counter

import numba
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import chunk_of, text_column, texts_of
from pairweave.transforms.indexed_tag import INDICES
from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.tags import indexed_tags, tag_names
from pairweave.transforms.kernels.tags.tag_draws import categorical
from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.markup.markup import HTML, Form

FORMS = tuple(form.value for form in Form)
"""Forms with separate names: ``pair``, ``self_closing``, ``open`` and ``close``."""

_KINDS = {
    "pair": (tag_names.OPEN, tag_names.CLOSE),
    "self_closing": (tag_names.EMPTY,),
    "open": (tag_names.OPEN,),
    "close": (tag_names.CLOSE,),
}


@dataclasses.dataclass(frozen=True)
class TagNames:
    """Names of tags and their frequencies in documents.

    Attributes:
        counts: (form, name, count), sorted, one per form and name.
        syntax: ``xml`` or ``html``; in HTML, void elements such as ``br`` need no slash.
    """

    counts: tuple[tuple[str, str, int], ...]
    syntax: str = "xml"

    @property
    def names(self) -> list[str]:
        """Return the distinct names."""
        return sorted({name for _, name, _ in self.counts})

    def shares(self) -> np.ndarray:
        """Return the count of each name in each form, float64 ``[form, name]``."""
        names = {name: place for place, name in enumerate(self.names)}
        shares = np.zeros((len(FORMS), len(names)))
        for form, name, count in self.counts:
            shares[FORMS.index(form), names[name]] += count
        return shares

    def tag(self, kind: int, name: str) -> str:
        """Return a tag of a kind (`transforms.kernels.tags.tag_names`).

        >>> TagNames((), "html").tag(tag_names.EMPTY, "br")
        '<br>'
        """
        void = self.syntax == HTML.name and name in HTML.empty
        before = "/" if kind == tag_names.CLOSE else ""
        behind = "/" if kind == tag_names.EMPTY and not void else ""
        return f"<{before}{name}{behind}>"

    def symbols(self) -> list[str]:
        """Return all tags that can be written."""
        tags = {(kind, name) for form, name, _ in self.counts for kind in _KINDS[form]}
        return list(dict.fromkeys(self.tag(*tag) for tag in sorted(tags)))

    def pattern(self) -> str:
        """Return a regular expression (also valid in RE2) for tags with these names."""
        return rf"</?(?:{'|'.join(map(re.escape, self.names))})(?:\s[^<>]*)?/?>"


NO_NAMES = TagNames(())


@numba.njit(nogil=True, cache=True)
def _draw(
    run_seed: np.uint64,
    keys: np.ndarray,
    variants: np.ndarray,
    numbers: np.ndarray,
    forms: np.ndarray,
    shares: np.ndarray,
) -> np.ndarray:
    drawn = np.empty(len(keys), np.int64)
    for tag in range(len(keys)):
        number = sampling.row_counter(variants[tag], 0, numbers[tag])
        bits = sampling.draw(run_seed, keys[tag], sampling.STEP_TAG_NAMES, number)
        drawn[tag] = categorical(shares[forms[tag]], sampling.unit_interval(bits))
    return drawn


def draw_names(seed: int, keys: np.ndarray, rows: pa.Table, names: TagNames) -> np.ndarray:
    """Draw the names of the tags of rows, independently.

    Args:
        seed: The run's seed.
        keys: Key of each row's pair, uint64 ``[row]``.
        rows: Rows with the columns ``variant`` and ``tags`` (`transforms.schemas.TAGGED`).
        names: The names.

    Returns:
        Indices into `TagNames.names`, int64 ``[item of tags]``; all parts of a tag share a name.
    """
    lists = chunk_of(rows.column("tags"))
    items = lists.flatten()
    row = np.repeat(np.arange(len(lists)), np.diff(lists.offsets.to_numpy()))
    forms = pc.index_in(items.field("form"), pa.array(FORMS)).to_numpy()
    return _draw(
        np.uint64(seed),
        keys[row],
        rows.column("variant").to_numpy()[row],
        items.field("index").to_numpy(),
        forms,
        names.shares(),
    )


def name_rows(seed: int, keys: np.ndarray, rows: pa.Table, names: TagNames) -> dict[str, pa.Array]:
    """Return ``source`` and ``target`` of rows with named tags instead of indexed ones.

    The arguments are those of `draw_names`; the tags of the rows are indexed.
    """
    lists = chunk_of(rows.column("tags"))
    row = np.repeat(np.arange(len(lists)), np.diff(lists.offsets.to_numpy()))
    name_of = np.zeros((len(lists), INDICES), np.int64)
    name_of[row, lists.flatten().field("index").to_numpy()] = draw_names(seed, keys, rows, names)
    kinds = range(tag_names.KINDS)
    symbols = pa.array(
        [names.tag(kind, name) for name in names.names for kind in kinds], pa.string()
    )
    texts = {}
    for side in ("source", "target"):
        own_texts = texts_of(chunk_of(rows.column(side)))
        begins, starts, ends, tags = indexed_tags.find_tags(*own_texts)
        own = name_of[np.repeat(np.arange(len(lists)), np.diff(begins)), tags // tag_names.KINDS]
        chosen = tag_names.KINDS * own + tags % tag_names.KINDS
        replaced = indexed_tags.replace_tags(
            own_texts,
            FlatSpans(begins, starts, ends),
            chosen,
            texts_of(symbols),
            np.zeros(256, np.bool_),
        )
        texts[side] = text_column(*replaced)
    return texts


def count_names(drawn: np.ndarray, forms: list[str], names: TagNames) -> Counter[str]:
    """Count drawn names as ``name FORM NAME``.

    Args:
        drawn: From `draw_names` ``[tag]``.
        forms: The form of each.
        names: The names.
    """
    texts = names.names
    return Counter(
        f"name {form} {texts[name]}" for form, name in zip(forms, drawn.tolist(), strict=True)
    )
