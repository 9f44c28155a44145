"""Words, punctuation and unbreakable spans of UTF-8 text, as ranges of code points.

The rules are those of Unicode's word breaking (UAX #29, WB3 to WB16), applied from left to right
with one code point of lookahead. There is no break inside a grapheme cluster (GB9a to GB9c); GB9c
is extended: a linker joins a consonant to whatever precedes the linker. `find_tokens` lists the
other deviations from the standard, which alignment needs.
"""

import numba
import numpy as np

from pairweave.transforms.kernels.enlarge import enlarged
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import clitics, unbreakable, utf8
from pairweave.transforms.kernels.uncounted import uncounted

_JOINED = 31
"""Takes the place of a class: the next code point is known to belong to the segment."""


_NOT_WHOLE = np.bool_(0)
"""A variable, since Numba would compile `_extend` once more for a literal."""

# Sets of classes, a bit for each.
_LETTERS = 1 << utf8.LETTER | 1 << utf8.HEBREW
_WORD = _LETTERS | 1 << utf8.NUMERIC | 1 << utf8.CONNECTOR
_KATAKANA = 1 << utf8.KATAKANA | 1 << utf8.CONNECTOR
_BETWEEN = 1 << utf8.MID_NUM_LET | 1 << utf8.SINGLE_QUOTE | 1 << utf8.COLON
_BETWEEN_LETTERS = _BETWEEN | 1 << utf8.MID_LETTER
_BETWEEN_NUMBERS = _BETWEEN | 1 << utf8.MID_NUM
_BETWEEN_ANY = _BETWEEN_LETTERS | _BETWEEN_NUMBERS | 1 << utf8.DOUBLE_QUOTE
_IGNORED = 1 << utf8.EXTEND | 1 << utf8.FORMAT | 1 << utf8.ZWJ

# ASCII characters that end a word of ASCII letters regardless of what follows.
_ENDS_WORD = np.zeros(256, np.bool_)
_ENDS_WORD[[ord(character) for character in ' \t\n!"()*+,-/;<=>?[]{}|']] = True

# ASCII punctuation that is a token by itself if a space or the end of the text follows.
_STANDS_ALONE = np.zeros(256, np.bool_)
_STANDS_ALONE[[ord(character) for character in "!\"'(),-.:;?[]"]] = True


@numba.njit(nogil=True, cache=True)
def _among(kind: Integer, kinds: int) -> bool:
    """Tell whether a class is in a set of classes."""
    return (kinds >> np.int64(kind)) & 1 != 0


@uncounted
def _plain_token_end(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Return the end of a word of ASCII letters or of a mark; ``at`` if it needs the full rules."""
    stop = at
    while stop < end and 97 <= (data[stop] | 32) <= 122:
        stop += 1
    if stop == at:
        alone = _STANDS_ALONE[data[at]] and (at + 1 == end or data[at + 1] == 32)
        return at + 1 if alone else at
    if stop == end or _ENDS_WORD[data[stop]]:
        return stop
    if data[stop] == 46 and (stop + 1 == end or data[stop + 1] == 32):
        return stop
    return at


@uncounted
def _next_class(data: np.ndarray, at: Integer, end: Integer, properties: np.ndarray) -> Integer:
    """Return the class of the next code point that rule WB4 does not skip."""
    while at < end:
        point, width = utf8.decode(data, at, end)
        kind = properties[point] & utf8.CLASS
        if not _among(kind, _IGNORED):
            return np.int64(kind)
        at += width
    return utf8.NEWLINE


@uncounted
def _groups_digits(
    data: np.ndarray, at: Integer, point: Integer, end: Integer, properties: np.ndarray
) -> bool:
    """Tell whether the space at ``at``, no-break or thin, separates thousands."""
    if point != 0xA0 and point != 0x202F and point != 0x2009 and point != 0x2007:
        return False
    at += 2 if point == 0xA0 else 3
    for digit in range(4):
        if at >= end:
            return digit == 3
        point, width = utf8.decode(data, at, end)
        kind = properties[point] & utf8.CLASS
        if digit == 3:
            return not _among(kind, _WORD) and not properties[point] & utf8.MARK
        if kind != utf8.NUMERIC or not properties[point] & utf8.WORD:
            return False
        at += width
    return False


@uncounted
def _joins(
    data: np.ndarray,
    previous: Integer,
    kind: Integer,
    after: Integer,
    end: Integer,
    properties: np.ndarray,
) -> Integer:
    """Return the class after a code point that joins a word, or -1 if there is a break before it.

    ``previous`` is the class before it, ``kind`` its own class and ``after`` its end.
    """
    if previous == _JOINED or (_among(previous, _WORD) and _among(kind, _WORD)):
        return kind
    if _among(previous, _KATAKANA) and _among(kind, _KATAKANA):
        return kind
    following = _next_class(data, after, end, properties) if _among(kind, _BETWEEN_ANY) else -1
    if _among(previous, _LETTERS) and _among(kind, _BETWEEN_LETTERS):
        if _among(following, _LETTERS):
            return _JOINED
        return kind if previous == utf8.HEBREW and kind == utf8.SINGLE_QUOTE else -1
    if previous == utf8.NUMERIC and _among(kind, _BETWEEN_NUMBERS):
        return _JOINED if following == utf8.NUMERIC else -1
    if previous == utf8.HEBREW and kind == utf8.DOUBLE_QUOTE:
        return _JOINED if following == utf8.HEBREW else -1
    return -1


@uncounted
def _extend(
    data: np.ndarray,
    begin: Integer,
    at: Integer,
    end: Integer,
    point: Integer,
    whole: int | np.bool_,
    properties: np.ndarray,
) -> tuple[Integer, int, bool, bool]:
    """Read from the first code point of a segment to the segment's end.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        begin: Start of the text.
        at: End of the first code point.
        end: End of the text.
        point: The first code point, or the last of an unbreakable span.
        whole: Whether it ends an unbreakable span, which only marks can extend.
        properties: Properties of every code point, uint16.

    Returns:
        The segment's end, the number of code points read, whether any is visible, and whether
        an apostrophe or a colon is inside a word.
    """
    last = properties[point]
    previous: Integer = np.int64(last & utf8.CLASS)
    run: Integer = np.int64(-1)
    if whole:
        previous = utf8.OTHER
    elif last & utf8.RUN:
        run = point
    visible = not last & utf8.BLANK
    apostrophe = False
    regionals = 1 if previous == utf8.REGIONAL else 0
    adjacent = regionals  # as for grapheme clusters: a mark between two restarts the count
    linked = last & utf8.LINKER != 0
    group = (
        1 if previous == utf8.NUMERIC and last & utf8.WORD else 4
    )  # digits of the last group; 4: not a group
    grouped = False
    points = 0
    if previous == utf8.NEWLINE:
        return at, points, False, False
    while at < end:
        byte = data[at]
        if previous == utf8.LETTER and (97 <= byte <= 122 or 65 <= byte <= 90):
            # The most frequent case: ASCII letters after a letter always join it.
            while at < end and (97 <= data[at] <= 122 or 65 <= data[at] <= 90):
                at += 1
                points += 1
            last = properties[97]
            visible = True
            run = -1
            linked = False
            group = 4
            continue
        point, width = utf8.decode(data, at, end)
        bits = properties[point]
        kind = np.int64(bits & utf8.CLASS)
        if _among(kind, _IGNORED):
            linked = bits & utf8.LINKER != 0 or (linked and bits & utf8.CONJUNCT != 0)
            group = 4
            adjacent = 0
            run = -1
        else:
            left = _joins(data, previous, kind, at + width, end, properties)
            if left >= 0:
                apostrophe |= point == 0x27 or point == 0x2019 or point == 0x3A
            elif (
                (
                    last & utf8.CLASS == utf8.ZWJ
                    and bits & utf8.PICTOGRAPH
                    and previous != utf8.SPACE  # which is not a token, even with visible marks
                )
                or (last & utf8.PREPEND and not bits & utf8.CONTROL)
                or (bits & utf8.MARK and not last & utf8.CONTROL)
                or (linked and bits & utf8.CONSONANT)
                or (kind == utf8.REGIONAL == previous and (regionals & 1 or adjacent & 1))
                or (
                    point == run and unbreakable.placeholder(data, begin, at, end, properties) == at
                )
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
            if kind == utf8.NUMERIC and bits & utf8.WORD:
                group += 1
            else:
                group = 0 if kind == utf8.SPACE else 4
            if point != run:
                run = -1
            previous = left
            regionals = regionals + 1 if kind == utf8.REGIONAL else 0
            adjacent = adjacent + 1 if kind == utf8.REGIONAL else 0
            linked = bits & utf8.LINKER != 0
        visible |= not bits & utf8.BLANK
        last = bits
        at += width
        points += 1
    return at, points, visible, apostrophe


@numba.njit(nogil=True, cache=True)
def _url(
    data: np.ndarray, start: Integer, at: Integer, end: Integer, properties: np.ndarray
) -> tuple[Integer, Integer]:
    """Return the start and end of the URL that begins with the word ``[start, at)``.

    The URL begins at the word, or after the last colon in it. If there is none, the end is ``at``.
    """
    if at + 3 < end and data[at] == 58 and data[at + 1] == 47 and data[at + 2] == 47:
        scheme = unbreakable.scheme_start(data, start, at)
        if scheme < at:
            tail = unbreakable.url_tail(data, at + 3, end, properties)
            if tail > at + 3:
                return (scheme if scheme > start and data[scheme - 1] == 58 else start), tail
    elif (
        at - start > 4
        and data[start + 3] == 46
        and (data[start] | 32) == (data[start + 1] | 32) == (data[start + 2] | 32) == 119
    ):
        return start, unbreakable.url_tail(data, at, end, properties)
    return start, at


@numba.njit(nogil=True, cache=True)
def www_end(
    data: np.ndarray, begin: Integer, at: Integer, end: Integer, properties: np.ndarray
) -> Integer:
    """Return the end of the URL whose first word begins with the ``www.`` at a byte.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        begin: Start of the text.
        at: The first byte of the word.
        end: End of the text.
        properties: Properties of every code point, uint16.

    Returns:
        The end; ``at`` if the word ends before the full stop.
    """
    stop, _, _, _ = _extend(data, begin, at + 1, end, np.int64(data[at]), _NOT_WHOLE, properties)
    _, tail = _url(data, at, stop, end, properties)
    return tail if stop > at + 4 else at


@numba.njit(nogil=True, cache=True)
def _with_capacity(spans: np.ndarray, count: Integer, more: Integer) -> np.ndarray:
    if count + more <= len(spans):
        return spans
    return enlarged(spans, count, 2 * (count + more))


@numba.njit(nogil=True, cache=True)
def find_tokens(
    data: np.ndarray,
    offsets: np.ndarray,
    languages: np.ndarray,
    words_only: int,
    properties: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split texts into words and other visible tokens.

    A token is a segment between two word boundaries of UAX #29 that is visible and does not begin
    with white space. Deliberate deviations:

    - Katakana is split into characters unless the properties give it its class; UAX #29 already
      splits Han and Hiragana, and Thai, Lao, Khmer and Myanmar into grapheme clusters;
    - a punctuation mark or symbol and its repetitions are one token;
    - a colon between digits, and a no-break or thin space between groups of three, belong to the
      number; U+202F is a space otherwise;
    - a joiner after white space does not join a pictograph to it;
    - words are split at elisions, and before clitics and some suffixes
      (`transforms.kernels.text.clitics`);
    - a placeholder, tag, character reference, URL or e-mail address is one token
      (`transforms.kernels.text.unbreakable`).

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        languages: How words with an apostrophe or a colon are split, uint8 ``[text]``.
        words_only: 1 to find spans that no tag may split: clitics stay with their words, numbers
            joined by slashes (24/7, 2018/19) are one span, and segments of several code points
            that are not tokens are included.
        properties: Properties of every code point, uint16
            (`transforms.text.codepoints.properties`).

    Returns:
        Token offsets int32 ``[text + 1]``, and the tokens' starts and ends in code points of their
        text, int32 ``[token]``: ascending, disjoint, not empty.
    """
    texts = len(offsets) - 1
    token_offsets = np.zeros(texts + 1, np.int32)
    # Room for a few short texts however many tokens they have, else for a token every four bytes.
    starts = np.empty(1_024 + (offsets[texts] - offsets[0]) // 4, np.int32)
    ends = np.empty(len(starts), np.int32)
    places = np.empty(clitics.MAX_PLACES, np.int64)
    tokens: Integer = np.int64(0)
    for text in range(texts):
        begin = offsets[text]
        end = offsets[text + 1]
        starts = _with_capacity(starts, tokens, end - begin)
        ends = _with_capacity(ends, tokens, end - begin)
        language = languages[text]
        first = tokens
        at = begin
        position = 0
        number_end: Integer = np.int64(-1)  # end of the last number
        floor = begin  # an address does not extend into the unbreakable span before it
        while at < end:
            start = at
            start_position = position
            if data[at] == 32 and at + 1 < end and data[at + 1] < 0x80:
                at += 1
                position += 1
                continue
            at = _plain_token_end(data, at, end)
            if at > start:
                position += at - start
                starts[tokens] = start_position
                ends[tokens] = position
                tokens += 1
                continue
            point, width = utf8.decode(data, at, end)
            kind = properties[point] & utf8.CLASS
            at += width
            position += 1
            if kind == utf8.SPACE and (at == end or data[at] < 0x80):
                continue
            if (
                words_only
                and point == 47  # /
                and start == number_end
                and unbreakable.slash_in_number(data, begin, start, end, properties)
            ):
                point, width = utf8.decode(data, at, end)
                at, points, _, _ = _extend(
                    data, begin, at + width, end, point, _NOT_WHOLE, properties
                )
                position += 1 + points
                ends[tokens - 1] = position
                number_end = at
                continue
            match = start
            if point < 0x80 and kind == utf8.OTHER:
                match = unbreakable.placeholder(data, begin, start, end, properties)
            if match == start and point == 64:  # @
                local = unbreakable.address_start(data, floor, start, properties)
                if local < start:
                    match = max(start, unbreakable.domain_end(data, at, end, properties))
                if match > at:
                    start_position -= utf8.count_points(data, local, start)
                    while tokens > first and starts[tokens - 1] >= start_position:
                        tokens -= 1
                    if tokens > first and ends[tokens - 1] > start_position:
                        ends[tokens - 1] = start_position
            whole = match > at
            apostrophe = False
            while True:
                if whole:
                    position += utf8.count_points(data, at, match)
                    at = match
                    point, _ = utf8.decode(data, utf8.step_back(data, match, start), match)
                at, points, visible, apostrophe = _extend(
                    data, begin, at, end, point, whole, properties
                )
                position += points
                if whole or kind != utf8.LETTER:
                    break
                url, match = _url(data, start, at, end, properties)
                if match == at:
                    break
                if url > start:
                    starts[tokens] = start_position
                    start_position += utf8.count_points(data, start, url)
                    ends[tokens] = start_position
                    tokens += 1
                whole = True
            if whole:
                floor = at
            elif kind == utf8.NUMERIC:
                number_end = at
            elif apostrophe and language != clitics.NO_CLITICS and kind == utf8.LETTER:
                parts = clitics.split_places(
                    data, start, at, language, words_only, properties, places
                )
                for part in range(parts):
                    starts[tokens] = start_position
                    start_position += utf8.count_points(data, start, places[part])
                    start = places[part]
                    ends[tokens] = start_position
                    tokens += 1
            token = whole or (visible and kind != utf8.SPACE and kind != utf8.NEWLINE)
            if token or (words_only and position - start_position > 1):
                starts[tokens] = start_position
                ends[tokens] = position
                tokens += 1
        token_offsets[text + 1] = tokens
    return token_offsets, starts[:tokens].copy(), ends[:tokens].copy()
