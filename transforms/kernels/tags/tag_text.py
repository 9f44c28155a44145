"""Tags as they are written in text: ``<a_0>``, ``</a_0>`` and ``<a_0/>``."""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.indexed_tag import INDICES, MAX_TAGS, PREFIX, write_tag
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.uncounted import uncounted

PAIR = 0
"""A pair of tags around a phrase."""
SELF_AT_START = 1
"""A self-closing tag at the start of the phrase."""
SELF_AT_END = 2
"""A self-closing tag at its end."""
OPEN = 3
"""A pair without its closing tag."""
CLOSE = 4
"""A pair without its opening tag."""
EMPTY_AT_START = 5
"""An empty pair at the start of the phrase."""
EMPTY_AT_END = 6
"""An empty pair at its end."""
CODES = 7

FORM_CODES = np.array(
    [
        [PAIR, -1],
        [EMPTY_AT_START, EMPTY_AT_END],
        [SELF_AT_START, SELF_AT_END],
        [OPEN, -1],
        [CLOSE, -1],
    ],
    np.int64,
)
"""The codes of each form: pair, empty pair, self-closing, opening and closing half; -1: none."""

MOST = 2 * MAX_TAGS
"""Maximum number of tag ranges in a row: each tag in two parts."""

# What is written at a border of a phrase.
_NOTHING, _OPENING, _CLOSING, _SELF_CLOSING, _BOTH = range(5)
_BEGIN, _SLASH, _LETTER, _LINE, _ZERO, _END = f"</{PREFIX}0>".encode()
_SIZES = [
    len(tag) for tag in (write_tag(0), write_tag(0, closes=True), write_tag(0, is_empty=True))
]
_BYTES = np.array([0, *_SIZES, _SIZES[0] + _SIZES[1]], np.int64)
_AT_OPENING = np.array([_OPENING, _SELF_CLOSING, 0, _OPENING, 0, _BOTH, 0], np.int64)
_AT_CLOSING = np.array([_CLOSING, 0, _SELF_CLOSING, 0, _CLOSING, 0, _BOTH], np.int64)


class TagBorders(NamedTuple):
    """The places where tags of rows open and close.

    Attributes:
        offsets: Start of each row's tags, int64 ``[row + 1]``, from 0; at most `MOST` in a row.
        opens: Code points before each tag's opening, int32 ``[tag]``.
        closes: Code points before its closing, more than before its opening, int32 ``[tag]``.
        numbers: Its number, int16 ``[tag]``; two ranges of one number make a tag in two parts.
        codes: Its form (`PAIR` and so on), int8 ``[tag]``.
    """

    offsets: np.ndarray
    opens: np.ndarray
    closes: np.ndarray
    numbers: np.ndarray
    codes: np.ndarray


@numba.njit(nogil=True, cache=True)
def numbers_in_order(borders: TagBorders) -> np.ndarray:
    """Number the tags of each row from 0, in the order in which its text first has each.

    Args:
        borders: The tags of the rows' sources, whose numbers are below `INDICES`.

    Returns:
        The new number of each old one, int16 ``[row, INDICES]``; -1 for those that the row lacks.
    """
    row_tags, opens, closes, numbers, codes = borders
    rows = len(row_tags) - 1
    renumbered = np.full((rows, INDICES), -1, np.int16)
    opening = np.empty(MOST, np.int64)
    closing = np.empty(MOST, np.int64)
    for row in range(rows):
        first, end = row_tags[row], row_tags[row + 1]
        _sort_borders(opens[first:end], closes[first:end], opening, closing)
        opened, closed, seen = 0, 0, 0
        # In the order in which `insert_tags` writes them.
        while closed < end - first:
            tag = first + closing[closed]
            if opened < end - first and opens[first + opening[opened]] < closes[tag]:
                tag = first + opening[opened]
                opened += 1
                marks = _AT_OPENING[codes[tag]]
            else:
                closed += 1
                marks = _AT_CLOSING[codes[tag]]
            if marks != _NOTHING and renumbered[row, numbers[tag]] < 0:
                renumbered[row, numbers[tag]] = seen
                seen += 1
    return renumbered


@uncounted
def _sort_borders(
    opens: np.ndarray, closes: np.ndarray, opening: np.ndarray, closing: np.ndarray
) -> None:
    """Sort the tags of a row by their openings, and by their closings.

    Among tags that open at the same place, the one that closes last is first; among tags that close
    at the same place, the one that opened last. Tags with equal ranges nest in their given order.
    """
    for tag in range(len(opens)):
        place = tag
        while place > 0:
            other = opening[place - 1]
            if opens[other] < opens[tag]:
                break
            if opens[other] == opens[tag] and closes[other] >= closes[tag]:
                break
            opening[place] = other
            place -= 1
        opening[place] = tag
        place = tag
        while place > 0:
            other = closing[place - 1]
            if closes[other] < closes[tag]:
                break
            if closes[other] == closes[tag] and opens[other] > opens[tag]:
                break
            closing[place] = other
            place -= 1
        closing[place] = tag


@uncounted
def _write_token(
    out: np.ndarray, at: Integer, slash_before: Integer, slash_after: Integer, number: Integer
) -> Integer:
    """Write a token, with a slash before its name, after it, or none; return its end."""
    out[at] = _BEGIN
    at += 1
    if slash_before:
        out[at] = _SLASH
        at += 1
    out[at] = _LETTER
    out[at + 1] = _LINE
    out[at + 2] = _ZERO + number
    at += 3
    if slash_after:
        out[at] = _SLASH
        at += 1
    out[at] = _END
    return at + 1


@uncounted
def _write_border(out: np.ndarray, at: Integer, marks: Integer, number: Integer) -> Integer:
    """Write the tokens at one border of a tag; return their end."""
    if marks != _NOTHING:
        at = _write_token(out, at, marks == _CLOSING, marks == _SELF_CLOSING, number)
    if marks == _BOTH:
        at = _write_token(out, at, marks == _BOTH, marks != _BOTH, number)
    return at


@uncounted
def _white_before(out: np.ndarray, at: Integer, floor: Integer, properties: np.ndarray) -> Integer:
    """Return the start of the white space that ends at a place; not before ``floor``."""
    while at > floor:
        before = utf8.step_back(out, at, floor)
        point, _ = utf8.decode(out, before, at)
        if not properties[point] & utf8.WHITE:
            break
        at = before
    return at


@numba.njit(nogil=True, cache=True)
def insert_tags(
    texts: utf8.FlatTexts,
    row_text: np.ndarray,
    tags: TagBorders,
    shift: int,
    properties: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Copy texts and insert their tags.

    At one place, closing tags come before opening ones, and tags nest like their ranges
    (`_sort_borders`). A tag other than a whole pair is written in the place of the half of the pair
    that it represents.

    Args:
        texts: The texts.
        row_text: The text of each row, int64 ``[row]``.
        tags: The tags of each row.
        shift: 1 to move the white space before an opening tag after it
            (`transforms.symbols.whitespace`), for whole pairs only. No white space may follow the
            place of an opening tag.
        properties: Properties of every code point, uint16
            (`transforms.text.codepoints.properties`).

    Returns:
        UTF-8 of all rows uint8 ``[byte]``, and the start of each int64 ``[row + 1]``.
    """
    data, offsets = texts
    row_tags, opens, closes, numbers, codes = tags
    rows = len(row_text)
    out_offsets = np.zeros(rows + 1, np.int64)
    for row in range(rows):
        text = row_text[row]
        length = offsets[text + 1] - offsets[text]
        for tag in range(row_tags[row], row_tags[row + 1]):
            length += _BYTES[_AT_OPENING[codes[tag]]] + _BYTES[_AT_CLOSING[codes[tag]]]
        out_offsets[row + 1] = out_offsets[row] + length
    out = np.empty(out_offsets[rows], np.uint8)
    opening = np.empty(MOST, np.int64)
    closing = np.empty(MOST, np.int64)
    for row in range(rows):
        at = offsets[row_text[row]]
        end = offsets[row_text[row] + 1]
        first = row_tags[row]
        count = row_tags[row + 1] - first
        to = out_offsets[row]
        floor = to
        _sort_borders(opens[first : first + count], closes[first : first + count], opening, closing)
        position = 0
        opened = 0
        closed = 0
        while closed < count:
            close = closes[first + closing[closed]]
            begins = opened < count and opens[first + opening[opened]] < close
            border = opens[first + opening[opened]] if begins else close
            while position < border and at < end:
                out[to] = data[at]
                to += 1
                at += 1
                while at < end and data[at] & 0xC0 == 0x80:
                    out[to] = data[at]
                    to += 1
                    at += 1
                position += 1
            if not begins:
                tag = first + closing[closed]
                to = _write_border(out, to, _AT_CLOSING[codes[tag]], numbers[tag])
                closed += 1
                floor = to
                continue
            together = opened
            while together < count and opens[first + opening[together]] == border:
                together += 1
            white = _white_before(out, to, floor, properties) if shift else to
            floor = white
            for tag in range(opened, together):
                floor += _BYTES[_AT_OPENING[codes[first + opening[tag]]]]
            for byte in range(to - white - 1, -1, -1):
                out[floor + byte] = out[white + byte]
            to += floor - white
            while opened < together:
                tag = first + opening[opened]
                white = _write_border(out, white, _AT_OPENING[codes[tag]], numbers[tag])
                opened += 1
        out[to : to + end - at] = data[at:end]
    return out, out_offsets
