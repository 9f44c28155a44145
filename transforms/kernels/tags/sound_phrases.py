"""Phrase pairs that respect the punctuation and the words of both texts.

Translators place no tag that begins or ends with a comma, a quotation mark or a bracket on only one
side, that cuts a pair of quotation marks or brackets, that contains the end of a sentence, or that
begins with an ending of the word before it (`docs/explanation/tags.md` has the counts).
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.enlarge import enlarged
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.tags.attached import is_attached_letter
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.text.spans import advance
from pairweave.transforms.kernels.text.utf8 import FlatTexts
from pairweave.transforms.kernels.uncounted import uncounted

# The low five bits of a code point's entry in `transforms.tags.sound_phrases.mark_roles`: the class
# of its mark; 0 is no mark.
MARK = 0x1F
BRACKET = 1
"""The first of the brackets, of which there are eight."""
QUOTE = 9
FULL_STOP = 10
QUESTION = 11
EXCLAMATION = 12
ELLIPSIS = 13
COMMA = 14
SEMICOLON = 15
COLON = 16
DASH = 17
OTHER_MARK = 18
INVISIBLE = 19
"""A code point that shows nothing, such as a right-to-left mark; at the edge of a token, the next
one inside counts."""

FAMILY_SHIFT = 5
FAMILY = 0xF << FAMILY_SHIFT
"""The family of a mark that encloses text; 0 for none."""
OPENS = 1 << 9
CLOSES = 1 << 10
WIDE_STOP = 1 << 11
"""Ends a sentence without a space after it."""
SMALL = 1 << 12
"""A lower-case letter, with which no sentence begins."""
LARGE = 1 << 13
"""An upper-case letter or a digit, with which abbreviations and numbers of items begin."""
APOSTROPHE = 1 << 14
"""A single quotation mark, which is an apostrophe next to a letter."""

WORD = 1 << 15
"""A letter or a digit."""

SHORT = 3
"""Maximum letters of an abbreviation (``Mr.``, ``Art.``), and digits of the number of an item or a
day (``am 3. Oktober``), after which a full stop does not end a sentence."""

LONG = 4
"""A token that ends in a full stop, such as ``U.S.``, ends a sentence only if it is longer."""

DEPTH = 32
"""Maximum number of marks of a text that are open at once; further ones are ignored."""


class TokenMarks(NamedTuple):
    """The punctuation of the tokens of several texts.

    Attributes:
        token_offsets: Tokens of each text, int64 ``[text + 1]``; the first need not be 0.
        first: Class of the mark that each token begins with, uint8 ``[token]``.
        last: Class of the mark that it ends with, uint8 ``[token]``.
        wordlike: Whether it has a letter or a digit, bool ``[token]``.
        attached: Whether it is attached to the token before it (`attached`), bool ``[token]``.
        begun: Sentences that have begun before each token or with it, in its text, int32
            ``[token]``.
        enclosures: Start of each text's enclosures, int64 ``[text + 1]``.
        openings: The token that opens each enclosure, within its text, int32 ``[enclosure]``.
        closings: The token that closes it, always a different one, int32 ``[enclosure]``.
    """

    token_offsets: np.ndarray
    first: np.ndarray
    last: np.ndarray
    wordlike: np.ndarray
    attached: np.ndarray
    begun: np.ndarray
    enclosures: np.ndarray
    openings: np.ndarray
    closings: np.ndarray


class _Open(NamedTuple):
    """The marks that are open.

    Attributes:
        families: Family of each, int64 ``[DEPTH]``.
        tokens: Its token, int64 ``[DEPTH]``.
    """

    families: np.ndarray
    tokens: np.ndarray


class _Enclosures(NamedTuple):
    """What marks of different tokens enclose, in all texts.

    Attributes:
        openings: The opening token of each, int32 ``[room]``.
        closings: The closing token, int32 ``[room]``.
    """

    openings: np.ndarray
    closings: np.ndarray


@numba.njit(nogil=True, cache=True)
def _edge(mark: Integer, word: np.bool_) -> Integer:
    """Return the class of the mark at an edge of a token.

    In a word, apostrophes, hyphens and full stops belong to it (``l'``, ``Vor-``, ``etc.``).
    """
    kind = mark & MARK
    if kind == INVISIBLE:
        return np.int64(0)
    if word and (mark & APOSTROPHE or kind in (FULL_STOP, ELLIPSIS, DASH, OTHER_MARK)):
        return np.int64(0)
    return kind


@uncounted
def _point_before(data: np.ndarray, at: Integer, begin: Integer) -> tuple[Integer, Integer]:
    """Return the code point before a byte and where it starts; 0 and ``begin`` at the start."""
    if at <= begin:
        return np.int64(0), begin
    before = at - 1
    if data[before] < 0x80:
        return np.int64(data[before]), before
    while before > begin and data[before] & 0xC0 == 0x80:
        before -= 1
    return utf8.decode(data, before, at)[0], before


@uncounted
def _follows_abbreviation(data: np.ndarray, at: Integer, begin: Integer, marks: np.ndarray) -> bool:
    """Tell whether the letters and digits before a full stop make a sentence's end unlikely."""
    letters = 0
    first: Integer = np.int64(0)
    while letters <= SHORT:
        point, at = _point_before(data, at, begin)
        mark = np.int64(marks[point])
        if not mark & WORD:
            break
        first = mark
        letters += 1
    return letters == 1 or (0 < letters <= SHORT and first & LARGE != 0)


@uncounted
def _scan(data: np.ndarray, begin: Integer, end: Integer, marks: np.ndarray) -> tuple[bool, bool]:
    """Tell whether a text is ASCII, and whether it may have marks that enclose text.

    Such marks outside ASCII begin with one of four bytes.
    """
    together = np.uint8(0)
    families = np.uint16(0)
    for at in range(begin, end):
        byte = data[at]
        together |= byte
        if byte < 0x80:
            families |= marks[byte] & np.uint16(FAMILY)
        elif byte == 0xC2 or byte == 0xE2 or byte == 0xE3 or byte == 0xEF:
            families |= np.uint16(FAMILY)
    return bool(together < 0x80), bool(families != 0)


@uncounted
def _find_enclosures(
    data: np.ndarray,
    bounds: tuple[Integer, Integer],
    starts: np.ndarray,
    ends: np.ndarray,
    marks: np.ndarray,
    opened: _Open,
    enclosures: _Enclosures,
    count: Integer,
) -> Integer:
    """Find what marks of different tokens of a text enclose; return the new number of enclosures.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        bounds: First byte of the text, and the byte after its last.
        starts: First code point of each token, int32 ``[token]``.
        ends: End of each, exclusive.
        marks: As for `mark_tokens`.
        opened: Scratch.
        enclosures: Receives them; it has room for as many as the text has bytes.
        count: Number of enclosures of earlier texts.
    """
    at, stop = np.int64(bounds[0]), bounds[1]
    position, token, depth = np.int64(0), np.int64(0), np.int64(0)
    previous = np.int64(0)
    while at < stop:
        point, step = utf8.decode(data, at, stop)
        mark = np.int64(marks[point])
        at += step
        while token < len(ends) and ends[token] <= position:
            token += 1
        family = mark & FAMILY
        if family and token < len(ends) and starts[token] <= position:
            opens, closes = mark & OPENS != 0, mark & CLOSES != 0
            if mark & APOSTROPHE:
                opens &= not previous & WORD
                if at < stop:
                    closes &= not marks[utf8.decode(data, at, stop)[0]] & WORD
            place = np.int64(-1)
            if closes:
                for other in range(depth - 1, -1, -1):
                    if opened.families[other] == family:
                        place = np.int64(other)
                        break
            if place >= 0:
                depth = place
                if opened.tokens[place] != token:
                    enclosures.openings[count] = opened.tokens[place]
                    enclosures.closings[count] = token
                    count += 1
            elif opens and depth < DEPTH:
                opened.families[depth] = family
                opened.tokens[depth] = token
                depth += 1
        previous = mark
        position += 1
    return count


@uncounted
def _visible(
    data: np.ndarray, begin: Integer, finish: Integer, length: Integer, marks: np.ndarray
) -> tuple[Integer, Integer, Integer]:
    """Leave out invisible code points at both edges of a token.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        begin: First byte of its first code point.
        finish: First byte of its last code point.
        length: Its code points.
        marks: As for `mark_tokens`.

    Returns:
        Both bytes and the number of code points without them; one code point is always left.
    """
    while begin < finish:
        _, before = _point_before(data, finish, begin)
        if marks[utf8.decode(data, finish, len(data))[0]] & MARK != INVISIBLE:
            break
        finish, length = before, length - 1
    while begin < finish:
        point, step = utf8.decode(data, begin, finish)
        if marks[point] & MARK != INVISIBLE:
            break
        begin, length = begin + step, length - 1
    return begin, finish, length


@uncounted
def _has_letter(data: np.ndarray, at: Integer, end: Integer, marks: np.ndarray) -> bool:
    """Tell whether a range of bytes has a letter or a digit."""
    while at < end:
        point, step = utf8.decode(data, at, end)
        if marks[point] & WORD:
            return True
        at += step
    return False


@numba.njit(nogil=True, cache=True)
def mark_tokens(
    texts: FlatTexts,
    token_offsets: np.ndarray,
    token_starts: np.ndarray,
    token_ends: np.ndarray,
    marks: np.ndarray,
) -> TokenMarks:
    """Find the punctuation of tokens.

    A quotation mark that may both open and close closes an open mark of its family, if there is
    one. A sentence begins with the first token after a stop and the marks that close something;
    after a stop that needs a space, only after a space and not with a lower-case letter. Apart from
    letters and digits in the same token, all this is read from the text around a token, so that it
    does not depend on how other text is cut.

    Args:
        texts: The texts.
        token_offsets: Tokens of each text, int64 ``[text + 1]``; the first need not be 0.
        token_starts: Start of each token in code points, ascending and disjoint within a text,
            int32 ``[token]``.
        token_ends: End of each token, exclusive, int32 ``[token]``.
        marks: Roles of every code point (`transforms.tags.sound_phrases.mark_roles`).
    """
    data, text_offsets = texts
    size = len(token_starts)
    first, last = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    wordlike, begun = np.ones(size, np.bool_), np.zeros(size, np.int32)
    attached, closing = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    enclosures = np.zeros(len(text_offsets), np.int64)
    opened = _Open(np.zeros(DEPTH, np.int64), np.zeros(DEPTH, np.int64))
    openings, closings = np.empty(64, np.int32), np.empty(64, np.int32)
    count: Integer = np.int64(0)
    for text in range(len(text_offsets) - 1):
        text_begin, stop = np.int64(text_offsets[text]), np.int64(text_offsets[text + 1])
        own = slice(token_offsets[text], token_offsets[text + 1])
        plain, encloses = _scan(data, text_begin, stop, marks)
        if encloses:
            if count + stop - text_begin > len(openings):
                openings = enlarged(openings, count, 2 * (count + stop - text_begin))
                closings = enlarged(closings, count, 2 * (count + stop - text_begin))
            count = _find_enclosures(
                data,
                (text_begin, stop),
                token_starts[own],
                token_ends[own],
                marks,
                opened,
                _Enclosures(openings, closings),
                count,
            )
        for one in range(enclosures[text], count):
            closing[token_offsets[text] + closings[one]] = True
        enclosures[text + 1] = count
        at, position, before_end = text_begin, np.int64(0), np.int64(-1)
        before, previous = np.int64(0), np.int64(-1)
        ended, wide, sentences = False, False, np.int32(0)
        for token in range(token_offsets[text], token_offsets[text + 1]):
            start, end = np.int64(token_starts[token]), np.int64(token_ends[token])
            if start == end:  # an empty piece
                wordlike[token], begun[token] = False, sentences
                continue
            length = end - start
            if plain:
                begin, finish, after = at + start, at + end - 1, at + end
                final = np.int64(data[finish])
                head, tail = np.int64(marks[data[begin]]), np.int64(marks[final])
            else:
                begin = np.int64(advance(data, at, start - position))
                finish = np.int64(advance(data, begin, end - start - 1))
                at, position = finish, end - 1
                edges = _visible(data, begin, finish, length, marks)
                begin, finish, length = np.int64(edges[0]), np.int64(edges[1]), np.int64(edges[2])
                point, width = utf8.decode(data, finish, stop)
                final, after = np.int64(point), finish + np.int64(width)
                head = np.int64(marks[utf8.decode(data, begin, stop)[0]])
                tail = np.int64(marks[final])
            if start == before_end:
                if head & WORD:
                    closed = closing[previous]
                    attached[token] = is_attached_letter(data, begin, after, before, closed)
                elif before:
                    attached[token] = head & APOSTROPHE != 0 or head & MARK == COLON
            before, previous = final if tail & WORD else np.int64(0), np.int64(token)
            closes = False
            if not head & tail & WORD:
                word = np.bool_((head | tail) & WORD != 0)
                if not word and length > 2:
                    word = np.bool_(_has_letter(data, begin, after, marks))
                wordlike[token] = word
                attached[token] &= word
                first[token], last[token] = _edge(head, word), _edge(tail, word)
                if length > 1 and not word:
                    if first[token] == FULL_STOP:
                        first[token] = ELLIPSIS
                    if last[token] == FULL_STOP:
                        last[token] = ELLIPSIS
                closes = not word and head & CLOSES != 0 and start == before_end
            if ended and not closes:
                if wide or (start > before_end and not head & SMALL):
                    sentences += 1
                ended = False
            begun[token] = sentences
            if not ended and FULL_STOP <= tail & MARK <= EXCLAMATION:
                if tail & MARK != FULL_STOP or tail & WIDE_STOP:
                    ended = True
                elif wordlike[token]:
                    ended = bool(length > LONG)
                elif length == 1:
                    ended = not _follows_abbreviation(data, begin, text_begin, marks)
                wide = tail & WIDE_STOP != 0
            before_end = end
    return TokenMarks(
        token_offsets,
        first,
        last,
        wordlike,
        attached,
        begun,
        enclosures,
        openings[:count],
        closings[:count],
    )


@uncounted
def _is_whole(marks: TokenMarks, text: Integer, first: Integer, end: Integer) -> bool:
    """Tell whether a span contains no end of a sentence and cuts no enclosure."""
    base = marks.token_offsets[text]
    if marks.begun[base + first] != marks.begun[base + end - 1]:
        return False
    for one in range(marks.enclosures[text], marks.enclosures[text + 1]):
        opening = first <= marks.openings[one] < end
        closing = first <= marks.closings[one] < end
        if opening != closing:
            return False
    return True


@uncounted
def _has_word(marks: TokenMarks, first: Integer, end: Integer) -> bool:
    """Tell whether a range of the tokens of all texts has a letter or a digit."""
    for token in range(first, end):  # noqa: SIM110 - Numba has no generators
        if marks.wordlike[token]:
            return True
    return False


@numba.njit(nogil=True, cache=True)
def find_sound(
    phrase_offsets: np.ndarray,
    boxes: np.ndarray,
    source: TokenMarks,
    target: TokenMarks,
    punctuation: int,
) -> np.ndarray:
    """Flag the phrase pairs that respect the punctuation and the words of both texts.

    Args:
        phrase_offsets: Start of each pair's phrase pairs, int64 ``[pair + 1]``.
        boxes: Source start, source end, target start and target end in tokens, half-open, int16
            ``[4, phrase pair]``.
        source: Punctuation of the source.
        target: Punctuation of the target.
        punctuation: 1 to also flag phrase pairs with a side that has no letter or digit.

    Returns:
        bool ``[phrase pair]``.
    """
    sound = np.zeros(boxes.shape[1], np.bool_)
    for pair in range(len(phrase_offsets) - 1):
        base, other_base = source.token_offsets[pair], target.token_offsets[pair]
        for phrase in range(phrase_offsets[pair], phrase_offsets[pair + 1]):
            begin, end = np.int64(boxes[0, phrase]), np.int64(boxes[1, phrase])
            other_begin, other_end = np.int64(boxes[2, phrase]), np.int64(boxes[3, phrase])
            sound[phrase] = (
                not source.attached[base + begin]
                and not target.attached[other_base + other_begin]
                and source.first[base + begin] == target.first[other_base + other_begin]
                and source.last[base + end - 1] == target.last[other_base + other_end - 1]
                and (punctuation or _has_word(source, base + begin, base + end))
                and (
                    punctuation
                    or _has_word(target, other_base + other_begin, other_base + other_end)
                )
                and _is_whole(source, pair, begin, end)
                and _is_whole(target, pair, other_begin, other_end)
            )
    return sound
