"""Words, punctuation and unbreakable spans of UTF-8 text, as ranges of code points.

The ground is Unicode's word breaking (UAX #29, rules WB3 to WB16; a break inside a grapheme
cluster, GB9a to GB9c, is none), read from left to right with one look ahead. Where alignment wants
other tokens it departs from it, as `find_tokens` says.
"""

import numba
import numpy as np

from transforms.kernels import clitics, unbreakable, utf8

_JOINED = 31
"""In place of a class: what follows has been looked at and belongs to the segment."""


@numba.njit(nogil=True, cache=True)
def _next_class(data: np.ndarray, at: int, end: int, properties: np.ndarray) -> int:
    """Return the class of the next code point that rule WB4 does not skip."""
    while at < end:
        point, width = utf8.decode(data, at, end)
        kind = properties[point] & utf8.CLASS
        if kind != utf8.EXTEND and kind != utf8.FORMAT and kind != utf8.ZWJ:
            return np.int64(kind)
        at += width
    return utf8.NEWLINE


@numba.njit(nogil=True, cache=True)
def _groups_digits(
    data: np.ndarray, at: int, point: int, end: int, properties: np.ndarray
) -> bool:
    """Tell whether the space at ``at`` parts thousands: no-break or thin, then three digits."""
    if point != 0xA0 and point != 0x202F and point != 0x2009 and point != 0x2007:
        return False
    at += 2 if point == 0xA0 else 3
    for digit in range(4):
        if at >= end:
            return digit == 3
        point, width = utf8.decode(data, at, end)
        kind = properties[point] & utf8.CLASS
        if digit == 3:
            return (
                kind not in (utf8.NUMERIC, utf8.LETTER, utf8.HEBREW, utf8.CONNECTOR)
                and not properties[point] & utf8.MARK
            )
        if kind != utf8.NUMERIC or not properties[point] & utf8.WORD:
            return False
        at += width
    return False


@numba.njit(nogil=True, cache=True)
def _joins(
    data: np.ndarray, previous: int, kind: int, after: int, end: int, properties: np.ndarray
) -> int:
    """Return the class that a code point leaves behind if it joins a word, or -1 if it breaks.

    ``previous`` is the class before it and ``kind`` its own; ``after`` is where it ends.
    """
    if previous == _JOINED:
        return kind
    letter = previous == utf8.LETTER or previous == utf8.HEBREW
    if letter or previous == utf8.NUMERIC or previous == utf8.CONNECTOR:
        if (
            kind == utf8.LETTER
            or kind == utf8.NUMERIC
            or kind == utf8.CONNECTOR
            or kind == utf8.HEBREW
        ):
            return kind
    if kind == utf8.OTHER:
        return -1
    if letter:
        if kind in (utf8.MID_LETTER, utf8.MID_NUM_LET, utf8.SINGLE_QUOTE, utf8.COLON):
            following = _next_class(data, after, end, properties)
            if following == utf8.LETTER or following == utf8.HEBREW:
                return _JOINED
        if previous == utf8.HEBREW:
            if kind == utf8.SINGLE_QUOTE:
                return kind
            if kind == utf8.DOUBLE_QUOTE:
                if _next_class(data, after, end, properties) == utf8.HEBREW:
                    return _JOINED
    elif previous == utf8.NUMERIC:
        if kind in (utf8.MID_NUM, utf8.MID_NUM_LET, utf8.SINGLE_QUOTE, utf8.COLON):
            if _next_class(data, after, end, properties) == utf8.NUMERIC:
                return _JOINED
    return -1


@numba.njit(nogil=True, cache=True)
def _extend(
    data: np.ndarray,
    begin: int,
    at: int,
    end: int,
    point: int,
    whole: bool,
    properties: np.ndarray,
) -> tuple[int, int, bool, bool]:
    """Read on from the first code point of a segment to the segment's end.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        begin: Where the text begins.
        at: Where the first code point ends.
        end: Where the text ends.
        point: The first code point; of an unbreakable span, its last.
        whole: Whether it ends an unbreakable span, which only marks may lengthen.
        properties: Of every code point, uint16.

    Returns:
        Where the segment ends, the code points read, whether any leaves ink, and whether an
        apostrophe stands in a word.
    """
    last = properties[point]
    previous = np.int64(last & utf8.CLASS)
    run = np.int64(-1)
    if whole:
        previous = utf8.OTHER
    elif last & utf8.RUN:
        run = point
    visible = not last & utf8.BLANK
    apostrophe = False
    regionals = 1 if previous == utf8.REGIONAL else 0
    conjunct = 1 if last & utf8.CONSONANT else 0
    group = 1 if previous == utf8.NUMERIC and last & utf8.WORD else 0
    grouped = False
    points = 0
    if previous == utf8.NEWLINE:
        return at, points, False, False
    while at < end:
        byte = data[at]
        if previous == utf8.LETTER and (97 <= byte <= 122 or 65 <= byte <= 90):
            # Most text is this. What follows is a plain letter whatever came before it.
            while at < end and (97 <= data[at] <= 122 or 65 <= data[at] <= 90):
                at += 1
                points += 1
            last = properties[97]
            run = -1
            conjunct = 0
            group = 4
            continue
        point, width = utf8.decode(data, at, end)
        found = properties[point]
        kind = np.int64(found & utf8.CLASS)
        if kind == utf8.EXTEND or kind == utf8.FORMAT or kind == utf8.ZWJ:
            if found & utf8.LINKER and conjunct:
                conjunct = 2
            elif not found & utf8.CONJUNCT:
                conjunct = 0
            group = 4
            run = -1
        else:
            left = _joins(data, previous, kind, at + width, end, properties)
            if left >= 0:
                apostrophe |= point == 0x27 or point == 0x2019
            elif (
                (last & utf8.CLASS == utf8.ZWJ and found & utf8.PICTOGRAPH)
                or (last & utf8.PREPEND and not found & utf8.CONTROL)
                or (found & utf8.MARK and not last & utf8.CONTROL)
                or (conjunct == 2 and found & utf8.CONSONANT)
                or (previous == utf8.REGIONAL and kind == utf8.REGIONAL and regionals & 1)
            ):
                left = kind
                run = -1
            elif point == run and not (
                unbreakable.placeholder(data, begin, at, end, properties) > at
            ):
                left = kind
            elif (
                previous == utf8.NUMERIC
                and kind == utf8.SPACE
                and (group == 3 or (group in (1, 2) and not grouped))
                and _groups_digits(data, at, point, end, properties)
            ):
                left = _JOINED
                grouped = True
            else:
                break
            if kind == utf8.NUMERIC and found & utf8.WORD:
                group += 1
            else:
                group = 0 if kind == utf8.SPACE else 4
            if left != kind or kind != np.int64(properties[max(run, 0)] & utf8.CLASS):
                run = run if point == run else -1
            previous = left
            regionals = regionals + 1 if kind == utf8.REGIONAL else 0
            conjunct = 1 if found & utf8.CONSONANT else 0
        visible |= not found & utf8.BLANK
        last = found
        at += width
        points += 1
    return at, points, visible, apostrophe
