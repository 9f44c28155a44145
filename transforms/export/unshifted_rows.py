"""Undo ``whitespace_shift`` in the rows of a run exactly."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.transforms.markup.markup import INDEXED, Kind, Marked, Tag, parse_markup
from pairweave.transforms.symbols.tag_coding import shift_tags
from pairweave.transforms.symbols.whitespace import WHITE_SPACE, unshift_whitespace


def unshifted(row: Mapping[str, Any], side: str) -> Marked:
    """Return a side of a TAGGED row with indexed tags as it was before the shift.

    The row contains the original places of its tags; shifting the result must give the row's text.

    Args:
        row: A row of `transforms.schemas.TAGGED`.
        side: ``source`` or ``target``.
    """
    text = row[side]
    as_it_is = parse_markup(text, INDEXED)
    offsets = _offsets(as_it_is.tags, row["tags"], side)
    if offsets is not None:
        for plain in _plain_texts(as_it_is):
            if offsets and max(offsets) > len(plain):
                continue
            tags = zip(as_it_is.tags, offsets, strict=True)
            marked = Marked(plain, tuple(dataclasses.replace(tag, offset=at) for tag, at in tags))
            if str(shift_tags(marked)[0]) == text:
                return marked
    # The row was written by a version with another shift.
    return parse_markup(unshift_whitespace(text), INDEXED)


def _plain_texts(marked: Marked) -> list[str]:
    """Return the candidates for the text without tags: without an added space, or unchanged."""
    text = marked.text
    ink = len(text) - len(text.lstrip(WHITE_SPACE))
    behind = max((tag.offset for tag in marked.tags if tag.offset <= ink), default=ink)
    if text[behind : behind + 1] == " ":
        return [text[:behind] + text[behind + 1 :], text]
    return [text]


def _offsets(
    tags: Sequence[Tag], spans: Sequence[Mapping[str, Any]], side: str
) -> list[int] | None:
    """Return the original offset of each tag from the row's spans; None if one is missing."""
    ranges: dict[int, list[tuple[int, int]]] = {}
    for span in spans:
        index_ranges = ranges.setdefault(span["index"], [])
        borders = span[f"{side}_start"], span[f"{side}_end"]
        if borders not in index_ranges:
            index_ranges.append(borders)
    seen: dict[tuple[Kind, int], int] = {}
    offsets = []
    for tag in tags:
        key = tag.kind, int(tag.key)
        place = seen[key] = seen.get(key, -1) + 1
        index_ranges = sorted(ranges.get(key[1], ()))
        if place >= len(index_ranges):
            return None
        offsets.append(index_ranges[place][tag.kind is Kind.CLOSE])
    return offsets
