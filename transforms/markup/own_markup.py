"""Select the phrase pairs that a tag may enclose, by their words and the text's own markup."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import fields_of, texts_of
from pairweave.transforms.kernels.tags.elements import ElementTags, Phrases, require_whole
from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.kernels.text.word_counts import mark_wordlike, require_wordlike
from pairweave.transforms.markup.markup import (
    HTML,
    Element,
    Form,
    Marked,
    find_elements,
    parse_markup,
)
from pairweave.transforms.text import codepoints

TAG_BEGINS = r"<[/A-Za-z!]"
"""The start of a tag (RE2)."""


class OwnTag(NamedTuple):
    """A tag in a text, with a name that HTML allows.

    Attributes:
        start: Its first code point, in the text with tags.
        end: The code point after its last.
        partner: The first code point of its other half; None if it has none.
    """

    start: int
    end: int
    partner: int | None


def keep_wordlike(table: pa.Table, phrases: Phrases) -> Phrases:
    """Keep the phrase pairs that contain a letter or a digit on both sides.

    Args:
        table: Pairs with phrase pairs (`transforms.schemas.PHRASES`).
        phrases: Their phrase pairs.
    """
    fits = np.ones(phrases.boxes.shape[1], np.bool_)
    for place, side in ((0, "source"), (2, "target")):
        offsets, tokens = fields_of(table.column(f"{side}_tokens"))
        wordlike = mark_wordlike(
            *texts_of(table.column(side)),
            offsets,
            tokens["start"],
            tokens["end"],
            codepoints.properties(),
        )
        first, behind = phrases.boxes[place : place + 2]
        require_wordlike(phrases.offsets, first, behind, offsets, wordlike, fits)
    return phrases.only(fits)


def keep_whole(table: pa.Table, phrases: Phrases) -> Phrases:
    """Keep the phrase pairs that contain both tags of each element of the text, or neither.

    The tags that count are those of HTML and XML in the text as it was read, on each side
    separately. A tag without a partner, such as ``<br>``, is inside or outside, but never split.
    Pairs without tags keep all phrase pairs.

    Args:
        table: Pairs with phrase pairs (`transforms.schemas.PHRASES`).
        phrases: Their phrase pairs.
    """
    fits: np.ndarray | None = None
    for place, side in ((0, "source"), (2, "target")):
        elements = _elements(table.column(side))
        if elements is None:
            continue
        if fits is None:
            fits = np.ones(phrases.boxes.shape[1], np.bool_)
        token_offsets, tokens = fields_of(table.column(f"{side}_tokens"))
        require_whole(
            FlatSpans(phrases.offsets, phrases.boxes[place], phrases.boxes[place + 1]),
            FlatSpans(token_offsets, tokens["start"], tokens["end"]),
            elements,
            fits,
        )
    return phrases if fits is None else phrases.only(fits)


def own_tags(text: str) -> list[OwnTag]:
    """Return the tags of HTML and XML in a text, in order.

    >>> own_tags("a <b>c</b><br>")
    [OwnTag(start=2, end=5, partner=6), OwnTag(start=6, end=10, partner=2), \
OwnTag(start=10, end=14, partner=None)]
    """
    marked = parse_markup(text, HTML)
    starts = _starts(marked)
    partners: dict[int, int] = {}
    for element in find_elements(marked.tags):
        if element.form is Form.PAIR:
            assert element.opening is not None
            assert element.closing is not None
            partners[element.opening] = starts[element.closing]
            partners[element.closing] = starts[element.opening]
    return [
        OwnTag(start, start + len(tag.raw), partners.get(number))
        for number, (start, tag) in enumerate(zip(starts, marked.tags, strict=True))
    ]


def _elements(texts: pa.ChunkedArray) -> ElementTags | None:
    """Return the elements of texts in the form for `require_whole`; None if there are none."""
    rows = np.flatnonzero(pc.match_substring_regex(texts, TAG_BEGINS).to_numpy())
    counts = np.zeros(len(texts), np.int64)
    spans: list[tuple[int, int, int, int]] = []
    for row in rows.tolist():
        marked = parse_markup(texts[row].as_py(), HTML)
        elements = find_elements(marked.tags)
        counts[row] = len(elements)
        starts = _starts(marked)
        spans += [_span(marked, element, starts) for element in elements]
    if not spans:
        return None
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return ElementTags(offsets, np.ascontiguousarray(np.array(spans, np.int32).T))


def _starts(marked: Marked) -> list[int]:
    """Return the start of each tag in the text with tags."""
    starts, before = [], 0
    for tag in marked.tags:
        starts.append(tag.offset + before)
        before += len(tag.raw)
    return starts


def _span(marked: Marked, element: Element, starts: list[int]) -> tuple[int, int, int, int]:
    first = element.first
    last = element.closing if element.form is Form.PAIR else first
    assert last is not None
    return (
        starts[first],
        starts[first] + len(marked.tags[first].raw),
        starts[last],
        starts[last] + len(marked.tags[last].raw),
    )
