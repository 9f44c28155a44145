"""Borders of tokens at which a tag is allowed, and the spans that no tag may split."""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.uncounted import uncounted

MIN_LETTERS = 3
"""Minimum letters of a part of a compound that counts as a word: translators put a tag next to
the hyphen of ``OLE-Objekt`` (97 of 101 tags at German hyphens), but not of ``E-Mail`` or
``Wi-Fi``."""


@numba.njit(nogil=True, cache=True)
def find_cuts(
    span_offsets: np.ndarray,
    span_starts: np.ndarray,
    span_ends: np.ndarray,
    token_offsets: np.ndarray,
    token_starts: np.ndarray,
    token_ends: np.ndarray,
) -> np.ndarray:
    """Flag the places between tokens where a tag splits no span.

    A text with n tokens has n + 1 places: before each token, and after the last. A place is free if
    neither the end of the token before it nor the start of the token after it is inside a span; the
    edge of a span is not inside it.

    Args:
        span_offsets: Unbreakable spans of each text, int32 ``[text + 1]``, from 0.
        span_starts: Start of each span in code points, ascending and disjoint within a text,
            int32 ``[span]``.
        span_ends: End of each span, exclusive, int32 ``[span]``.
        token_offsets: Tokens of each text, int64 ``[text + 1]``; the first need not be 0.
        token_starts: Start of each token in code points, ascending and disjoint within a text,
            int32 ``[token]``.
        token_ends: End of each token, exclusive, int32 ``[token]``.

    Returns:
        Booleans of all texts, concatenated, ``[tokens + texts]``.
    """
    texts = len(span_offsets) - 1
    free = np.ones(token_offsets[texts] - token_offsets[0] + texts, np.bool_)
    place = 0
    for text in range(texts):
        span = span_offsets[text]
        last_span = span_offsets[text + 1]
        for token in range(token_offsets[text], token_offsets[text + 1]):
            start = token_starts[token]
            while span < last_span and span_ends[span] <= start:
                span += 1
            if span < last_span and span_starts[span] < start:
                free[place] = False
            end = token_ends[token]
            while span < last_span and span_ends[span] <= end:
                span += 1
            if span < last_span and span_starts[span] < end:
                free[place + 1] = False
            place += 1
        place += 1
    return free


@numba.njit(nogil=True, cache=True)
def _is_hyphen(point: Integer) -> bool:
    """Tell whether a code point is a hyphen: ASCII, one of Unicode's two, Armenian, or maqaf."""
    return point in (0x2D, 0x2010, 0x2011, 0x058A, 0x05BE)


@uncounted
def _may_have_hyphen(data: np.ndarray, begin: Integer, end: Integer) -> bool:
    possible = False
    for at in range(begin, end):
        byte = data[at]
        possible |= byte == 0x2D or byte == 0xE2 or byte == 0xD6
    return possible


@uncounted
def _joinable(point: Integer, properties: np.ndarray) -> bool:
    return bool(properties[point] & (utf8.WORD | utf8.MARK) != 0)


@uncounted
def _is_letter(point: Integer, properties: np.ndarray) -> bool:
    bits = properties[point]
    return bool(bits & utf8.WORD and bits & utf8.CLASS != utf8.NUMERIC)


@uncounted
def _parts_at_hyphen(
    data: np.ndarray,
    begin: Integer,
    hyphen: Integer,
    end: Integer,
    least_after: Integer,
    properties: np.ndarray,
) -> bool:
    """Tell whether the parts on both sides of a hyphen have enough letters to be words.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        begin: Start of the text.
        hyphen: First byte of the hyphen.
        end: End of the text.
        least_after: Minimum letters of the part after it.
        properties: Properties of every code point, uint16.
    """
    letters = 0
    at = hyphen
    while at > begin and letters < MIN_LETTERS:
        at = utf8.step_back(data, at, begin)
        point, _ = utf8.decode(data, at, end)
        if not _joinable(point, properties):
            return False
        letters += _is_letter(point, properties)
    if letters < MIN_LETTERS:
        return False
    letters = 0
    _, width = utf8.decode(data, hyphen, end)
    at = hyphen + width
    while at < end and letters < least_after:
        point, width = utf8.decode(data, at, end)
        if not _joinable(point, properties):
            return False
        letters += _is_letter(point, properties)
        at += width
    return bool(letters >= least_after)


@numba.njit(nogil=True, cache=True)
def join_at_hyphens(
    data: np.ndarray,
    offsets: np.ndarray,
    least_after: np.ndarray,
    span_offsets: np.ndarray,
    span_starts: np.ndarray,
    span_ends: np.ndarray,
    properties: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join the spans on both sides of a hyphen.

    A hyphen belongs to the word before it and to the word after it: ``Kfz-Papiere`` is one span,
    and so are ``Vor-`` in ``Vor- und Nachteile`` and ``-rechte``. A hyphen between white space and
    a run of several hyphens belong to no word. Where parts of compounds are words, as in German, a
    hyphen between parts with enough letters joins nothing: ``OLE-Objekt`` is three spans, but
    ``E-Mail`` is one.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        least_after: Minimum letters after a hyphen for the parts of a compound to be words, with
            `MIN_LETTERS` before it, uint8 ``[text]``; 0 if they never are.
        span_offsets: Spans of each text, int32 ``[text + 1]``, from 0.
        span_starts: Start of each span in code points, ascending and disjoint within a text,
            int32 ``[span]``.
        span_ends: End of each span, exclusive, int32 ``[span]``.
        properties: Properties of every code point, uint16
            (`transforms.text.codepoints.properties`).

    Returns:
        The resulting spans: offsets, starts and ends.
    """
    joined_offsets = np.zeros_like(span_offsets)
    starts = np.empty_like(span_starts)
    ends = np.empty_like(span_ends)
    count = 0
    for text in range(len(offsets) - 1):
        at, end = offsets[text], offsets[text + 1]
        first = count
        position = 0
        before: Integer = np.int64(-1)  # the code point before ``at``
        belongs = False  # the previous span is a hyphen that belongs to the next one
        look = _may_have_hyphen(data, at, end)
        for span in range(span_offsets[text], span_offsets[text + 1]):
            start, stop = span_starts[span], span_ends[span]
            left = False
            right = False
            if look:
                while position < start:
                    before, width = utf8.decode(data, at, end)
                    at += width
                    position += 1
                if stop == start + 1:
                    point, width = utf8.decode(data, at, end)
                    if _is_hyphen(point):
                        left = bool(before >= 0 and _joinable(before, properties))
                        if at + width < end:
                            after, _ = utf8.decode(data, at + width, end)
                            right = _joinable(after, properties)
                        if left and right and least_after[text]:
                            least = np.int64(least_after[text])
                            if _parts_at_hyphen(data, offsets[text], at, end, least, properties):
                                left = right = False
            if count > first and ends[count - 1] == start and (left or belongs):
                ends[count - 1] = stop
            else:
                starts[count], ends[count] = start, stop
                count += 1
            belongs = right
        joined_offsets[text + 1] = count
    return joined_offsets, starts[:count].copy(), ends[:count].copy()


@uncounted
def _may_have_numeral(data: np.ndarray, begin: Integer, end: Integer) -> bool:
    """Tell whether a text may contain a code point that `_is_one_number` looks for."""
    for at in range(begin, end):
        byte = data[at]
        if byte < 0xC2 or at + 1 >= end:
            continue
        following = data[at + 1]
        if byte == 0xC2:  # U+00B0 to U+00BE; most others are quotation marks and spaces
            if 0xB0 <= following <= 0xBE:
                return True
        elif byte == 0xE2:  # U+2044 to U+2189; most others are punctuation
            if 0x81 <= following <= 0x86:
                return True
        elif byte >= 0xE0:
            return True
    return False


@numba.njit(nogil=True, cache=True)
def _in_number(point: Integer, kind: Integer) -> bool:
    """Tell whether a code point is a number of any kind or the fraction slash."""
    number = kind == utf8.NUMERIC or kind == utf8.NUMERAL or kind == utf8.RAISED
    return bool(number or point == 0x2044)


@uncounted
def _is_one_number(left: Integer, right: Integer, properties: np.ndarray) -> bool:
    """Tell whether two adjacent code points are parts of one number, unit or formula."""
    before = properties[left] & utf8.CLASS
    after = properties[right] & utf8.CLASS
    if after == utf8.RAISED and (before == utf8.RAISED or _joinable(left, properties)):
        return True
    if before == utf8.RAISED and (
        after == utf8.LETTER or after == utf8.HEBREW or after == utf8.NUMERIC
    ):
        return True
    if left == 0xB0 and after == utf8.LETTER:  # °C
        return True
    return _in_number(left, before) and _in_number(right, after)


@numba.njit(nogil=True, cache=True)
def join_numbers(
    data: np.ndarray,
    offsets: np.ndarray,
    span_offsets: np.ndarray,
    span_starts: np.ndarray,
    span_ends: np.ndarray,
    properties: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join touching spans that are parts of one number, unit or formula.

    UAX #29 breaks ``2½``, ``10²``, ``⅟4`` and ``H₂O``, as only decimal digits join letters and
    each other. Here a number that is not a decimal digit joins digits. A raised digit or sign joins
    any letter or digit before it, and after it what UAX #29 joins to digits: ``m²的`` is two words.
    The degree sign joins the letter after it: ``°C``.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        span_offsets: Spans of each text, int32 ``[text + 1]``, from 0.
        span_starts: Start of each span in code points, ascending and disjoint within a text,
            int32 ``[span]``.
        span_ends: End of each span, exclusive, int32 ``[span]``.
        properties: Properties of every code point, uint16, with the classes of whole words
            (`transforms.text.codepoints.properties`).

    Returns:
        The resulting spans: offsets, starts and ends.
    """
    joined_offsets = np.zeros_like(span_offsets)
    starts = np.empty_like(span_starts)
    ends = np.empty_like(span_ends)
    count = 0
    for text in range(len(offsets) - 1):
        at, end = offsets[text], offsets[text + 1]
        first = count
        position = 0
        before: Integer = np.int64(0)  # the code point before ``at``
        look = _may_have_numeral(data, at, end)
        for span in range(span_offsets[text], span_offsets[text + 1]):
            start, stop = span_starts[span], span_ends[span]
            joins = False
            if look and count > first and ends[count - 1] == start:
                while position < start:
                    before, width = utf8.decode(data, at, end)
                    at += width
                    position += 1
                point, _ = utf8.decode(data, at, end)
                joins = _is_one_number(before, point, properties)
            if joins:
                ends[count - 1] = stop
            else:
                starts[count], ends[count] = start, stop
                count += 1
        joined_offsets[text + 1] = count
    return joined_offsets, starts[:count].copy(), ends[:count].copy()


@numba.njit(nogil=True, cache=True)
def merge_spans(
    one_offsets: np.ndarray,
    one_starts: np.ndarray,
    one_ends: np.ndarray,
    other_offsets: np.ndarray,
    other_starts: np.ndarray,
    other_ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge two segmentations of the same texts: spans that overlap, but not those that only touch.

    Args:
        one_offsets: Spans of each text, int32 ``[text + 1]``, from 0.
        one_starts: Start of each span in code points, ascending within a text, int32 ``[span]``.
        one_ends: End of each span, exclusive, int32 ``[span]``.
        other_offsets: The same for the other segmentation.
        other_starts: The same for the other segmentation.
        other_ends: The same for the other segmentation.

    Returns:
        Offsets, starts and ends of the merged spans: ascending and disjoint within a text.
    """
    texts = len(one_offsets) - 1
    offsets = np.zeros_like(one_offsets)
    starts = np.empty(len(one_starts) + len(other_starts), np.int32)
    ends = np.empty(len(starts), np.int32)
    count = 0
    for text in range(texts):
        one, other = one_offsets[text], other_offsets[text]
        first = count
        while one < one_offsets[text + 1] or other < other_offsets[text + 1]:
            take_one = other == other_offsets[text + 1] or (
                one < one_offsets[text + 1] and one_starts[one] <= other_starts[other]
            )
            if take_one:
                start, stop = one_starts[one], one_ends[one]
                one += 1
            else:
                start, stop = other_starts[other], other_ends[other]
                other += 1
            if count > first and start < ends[count - 1]:
                ends[count - 1] = max(ends[count - 1], stop)
            else:
                starts[count], ends[count] = start, stop
                count += 1
        offsets[text + 1] = count
    return offsets, starts[:count].copy(), ends[:count].copy()
