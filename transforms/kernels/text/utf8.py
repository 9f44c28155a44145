"""UTF-8 as code points, and properties of code points.

Texts are concatenated in one array of bytes; ``offsets[text]`` is the start of a text.
`transforms.text.codepoints.properties` makes the table of the properties of every code point.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.uncounted import uncounted

CODE_POINTS = 0x110000

# The low five bits of a code point's properties: its class in word breaking (UAX #29, table 3).
# COLON acts as MidLetter and as MidNum.
CLASS = 0x1F
OTHER = 0
NEWLINE = 1
SPACE = 2
EXTEND = 3
ZWJ = 4
FORMAT = 5
REGIONAL = 6
HEBREW = 7
LETTER = 8
NUMERIC = 9
CONNECTOR = 10
SINGLE_QUOTE = 11
DOUBLE_QUOTE = 12
MID_NUM_LET = 13
MID_LETTER = 14
MID_NUM = 15
COLON = 16
KATAKANA = 17
# To UAX #29, the following are OTHER; only spans that no tag may split tell them apart.
NUMERAL = 18
"""A number that is not a decimal digit, such as a fraction."""
RAISED = 19
"""A superscript or subscript digit or sign."""

# The other bits: flags.
PICTOGRAPH = 1 << 5
"""Extended_Pictographic."""
WORD = 1 << 6
"""A letter or a digit (general categories L and N)."""
RUN = 1 << 7
"""Punctuation or a symbol whose repetitions are one token, such as ``...``."""
PREPEND = 1 << 8
"""Grapheme_Cluster_Break=Prepend: no break after it."""
MARK = 1 << 9
"""Belongs to the character before it: Extend, Format, ZWJ or a spacing mark."""
WHITE = 1 << 10
"""White_Space."""
BLANK = 1 << 11
"""Invisible: white space, controls and default ignorable code points."""
CONSONANT = 1 << 12
"""Indic_Conjunct_Break=Consonant."""
LINKER = 1 << 13
"""Indic_Conjunct_Break=Linker."""
CONJUNCT = 1 << 15
"""Indic_Conjunct_Break=Extend."""
CONTROL = 1 << 14
"""Grapheme_Cluster_Break is Control, CR or LF: breaks on both sides."""

# The upper half, only for the rules of `filter` (`transforms.text.codepoints.all_properties`).
SCRIPT_SHIFT = 16
SCRIPT = 0x3F << SCRIPT_SHIFT
"""The number of a letter's script; 0 if it has none of its own."""
ALPHABETIC = 1 << 22
"""Alphabetic, or a combining mark."""
COMBINING = 1 << 23
"""A combining mark (general category M), which belongs to the letter before it."""
DIGIT = 1 << 24
"""A decimal digit (general category Nd)."""
CAPITAL = 1 << 25
"""An upper-case or title-case letter."""
UNSPACED = 1 << 26
"""A letter of a script without spaces between words."""
CLOSING = 1 << 27
"""A quotation mark or closing bracket, which may follow the end of a sentence."""


class FlatTexts(NamedTuple):
    """Texts as bytes.

    Attributes:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``; the first need not be 0.
    """

    data: np.ndarray
    offsets: np.ndarray


@uncounted
def decode(data: np.ndarray, at: Integer, end: Integer) -> tuple[Integer, Integer]:
    """Return the code point at a byte, and its width in bytes.

    The bytes must be valid UTF-8; a sequence that continues after ``end`` is read as U+FFFD.
    """
    lead = np.int64(data[at])
    if lead < 0x80:
        return lead, 1
    if lead < 0xE0:
        if at + 1 < end:
            return ((lead & 0x1F) << 6) | (np.int64(data[at + 1]) & 0x3F), 2
    elif lead < 0xF0:
        if at + 2 < end:
            middle = np.int64(data[at + 1]) & 0x3F
            return ((lead & 0x0F) << 12) | (middle << 6) | (np.int64(data[at + 2]) & 0x3F), 3
    elif at + 3 < end:
        second = np.int64(data[at + 1]) & 0x3F
        third = np.int64(data[at + 2]) & 0x3F
        point = (
            ((lead & 0x07) << 18) | (second << 12) | (third << 6) | (np.int64(data[at + 3]) & 0x3F)
        )
        return (point if point < CODE_POINTS else 0xFFFD), 4
    return 0xFFFD, end - at


@uncounted
def step_back(data: np.ndarray, at: Integer, begin: Integer) -> Integer:
    """Return the start of the code point before a byte position."""
    at -= 1
    while at > begin and (data[at] & 0xC0) == 0x80:
        at -= 1
    return at


@uncounted
def count_points(data: np.ndarray, begin: Integer, end: Integer) -> int:
    """Count the code points in a range of bytes."""
    points = 0
    for at in range(begin, end):
        points += (data[at] & 0xC0) != 0x80
    return points


@numba.njit(nogil=True, cache=True)
def any_visible(data: np.ndarray, offsets: np.ndarray, properties: np.ndarray) -> np.ndarray:
    """Flag texts that contain a visible code point.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        properties: Properties of every code point, uint16.

    Returns:
        Booleans ``[text]``.
    """
    visible = np.zeros(len(offsets) - 1, np.bool_)
    for text in range(len(visible)):
        at = offsets[text]
        end = offsets[text + 1]
        while at < end:
            point, width = decode(data, at, end)
            if not properties[point] & BLANK:
                visible[text] = True
                break
            at += width
    return visible


@numba.njit(nogil=True, cache=True)
def split_at_white_space(
    data: np.ndarray, offsets: np.ndarray, properties: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split texts at runs of Unicode white space.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        properties: Properties of every code point, uint16.

    Returns:
        Token offsets int32 ``[text + 1]``, and the tokens' starts and ends in code points of their
        text, int32 ``[token]``.
    """
    texts = len(offsets) - 1
    token_offsets = np.zeros(texts + 1, np.int32)
    limit = (offsets[texts] - offsets[0] + texts) // 2 + 1
    starts = np.empty(limit, np.int32)
    ends = np.empty(limit, np.int32)
    tokens = 0
    for text in range(texts):
        at = offsets[text]
        end = offsets[text + 1]
        position = 0
        inside = False
        while at < end:
            width: Integer = 1
            if data[at] < 0x80:
                white = data[at] == 32 or 9 <= data[at] <= 13
            else:
                point, width = decode(data, at, end)
                white = properties[point] & WHITE != 0
            if inside and white:
                ends[tokens] = position
                tokens += 1
                inside = False
            elif not inside and not white:
                starts[tokens] = position
                inside = True
            at += width
            position += 1
        if inside:
            ends[tokens] = position
            tokens += 1
        token_offsets[text + 1] = tokens
    return token_offsets, starts[:tokens].copy(), ends[:tokens].copy()
