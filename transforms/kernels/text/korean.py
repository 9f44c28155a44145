"""Splits of Korean words into a noun and what is attached to it, as ranges of code points."""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.text.spans import advance
from pairweave.transforms.kernels.uncounted import uncounted

SYLLABLES = 0xAC00
"""The first of the Hangul syllables (Unicode Standard, section 3.12)."""

_LAST_SYLLABLE = 0xD7A3

FIRST_LEAD, LAST_LEAD = 0xEA, 0xED
"""The first and the last byte that a syllable begins with in UTF-8; few other code points do."""

_FINALS = 28  # final consonants of a syllable, of which 0 is none
_RIEUL = 8  # the final consonant after which some particles take the form for vowels
_KEY = 0xD0A4  # the noun 키, "key", which follows the name of a key without a space
_AFTER_VOWELS = (0xB97C, 0xAC00, 0xB294, 0xC640)  # 를 가 는 와
_AFTER_CONSONANTS = (0xC744, 0xC774, 0xC740, 0xACFC)  # 을 이 은 과

AFTER_CONSONANT, AFTER_RIEUL, AFTER_VOWEL = 1, 2, 4
"""Flags of an ending: it may follow a syllable that ends in a consonant, in rieul, in a vowel."""

AFTER_NUMBER = 8
"""It may follow a number."""

LONG_STEM = 16
"""It may follow two syllables or more."""

WHOLE = 32
"""It counts only if it is the whole run of syllables."""

LISTED = 64
"""The ending is in the list."""

CUT_SHIFT = 8
"""Above the flags is the number of syllables to cut off; 0 for an ending that is never cut."""


class EndingTable(NamedTuple):
    """Endings of words, as a tree that is read from the last syllable (open addressing).

    Attributes:
        keys: 1 more than the node times 65,536 plus the syllable's number; 0 if the slot is empty,
            int64 ``[slot]``; their number is a power of two.
        nodes: The node that the syllable leads to, int32 ``[slot]``.
        entries: Flags and cut of each node, int32 ``[node]``; 0 if no ending begins there.
    """

    keys: np.ndarray
    nodes: np.ndarray
    entries: np.ndarray


@numba.njit(nogil=True, cache=True)
def slot_of(node: Integer, syllable: Integer, size: Integer) -> int:
    """Return the first slot of a table to search, by Fibonacci hashing (Knuth, volume 3, 6.4)."""
    return int(((node << 16 | syllable) * 40503 >> 4) & (size - 1))


@uncounted
def _child(table: EndingTable, node: Integer, syllable: Integer) -> Integer:
    """Return the node that a syllable leads to, or 0."""
    size = len(table.keys)
    key = 1 + (node << 16 | syllable)
    slot = slot_of(node, syllable, size)
    while table.keys[slot]:
        if table.keys[slot] == key:
            return np.int64(table.nodes[slot])
        slot = (slot + 1) & (size - 1)
    return np.int64(0)


@numba.njit(nogil=True, cache=True)
def _is_syllable(point: Integer) -> bool:
    return bool(SYLLABLES <= point <= _LAST_SYLLABLE)


@numba.njit(nogil=True, cache=True)
def _sound(point: Integer) -> int:
    """Return the flag of an ending that may follow a syllable; 0 if no noun ends in it.

    Of the final consonants, nj, nh, lh, double s and h end only stems of verbs and adjectives.
    """
    final = (point - SYLLABLES) % _FINALS
    if final in (5, 6, 15, 20, 27):
        return 0
    if not final:
        return AFTER_VOWEL
    return AFTER_RIEUL if final == _RIEUL else AFTER_CONSONANT


@uncounted
def _cut_of(
    data: np.ndarray, begin: Integer, end: Integer, table: EndingTable
) -> tuple[Integer, Integer]:
    """Find what is attached to the end of a run of syllables, by the longest listed ending.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        begin: First byte of the run, whose code points have three bytes each.
        end: End of the run, exclusive.
        table: The endings.

    Returns:
        The number of syllables to cut off, the whole run's entry in the table, 0 if it has none.
    """
    length = (end - begin) // 3
    cut: Integer = np.int64(0)
    node: Integer = np.int64(0)
    at = end
    read = np.int64(0)
    whole: Integer = np.int64(0)
    while read < length:
        point, _ = utf8.decode(data, at - 3, end)
        node = _child(table, node, point - SYLLABLES)
        if not node:
            break
        at -= 3
        read += 1
        entry = np.int64(table.entries[node])
        if not entry or (entry & WHOLE and read < length):
            continue
        syllables = entry >> CUT_SHIFT
        cut = np.int64(0)
        if read == length and syllables == length:
            whole = entry
        elif syllables:
            stem = length - syllables
            before, _ = utf8.decode(data, begin + 3 * (stem - 1), end)
            fits = entry & _sound(before) and (stem > 1 or not entry & LONG_STEM)
            cut = syllables if fits else np.int64(0)
    return cut, whole


@numba.njit(nogil=True, cache=True)
def _are_alternatives(one: Integer, other: Integer) -> bool:
    """Tell whether two syllables are both forms of one particle, such as 을 and 를."""
    for vowel, consonant in zip(_AFTER_VOWELS, _AFTER_CONSONANTS):  # noqa: B905 - not in a kernel
        if (one == vowel and other == consonant) or (one == consonant and other == vowel):
            return True
    return False


@uncounted
def _has_alternative(data: np.ndarray, at: Integer, end: Integer) -> bool:
    """Tell whether a run of syllables ends in a particle whose other form follows.

    Software that does not know the noun before a particle writes both: 을(를), 은(는), 이/가.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        at: End of the run, exclusive.
        end: End of the text.
    """
    if at + 4 > end or data[at] not in (40, 47):  # ( /
        return False
    if data[at] == 40 and (at + 4 == end or data[at + 4] != 41):  # )
        return False
    if data[at] == 47 and at + 4 < end:
        behind, _ = utf8.decode(data, at + 4, end)
        if _is_syllable(behind):  # 높이/가로, height and width
            return False
    last, _ = utf8.decode(data, at - 3, end)
    other, _ = utf8.decode(data, at + 1, end)
    return _are_alternatives(last, other)


@uncounted
def _may_have_syllable(data: np.ndarray, begin: Integer, end: Integer) -> bool:
    possible = False
    for at in range(begin, end):
        possible |= FIRST_LEAD <= data[at] <= LAST_LEAD
    return possible


@uncounted
def _run_begin(data: np.ndarray, begin: Integer, end: Integer) -> Integer:
    """Return the start of the Hangul syllables at the end of a token; its end if there are none."""
    at = end
    while at - 3 >= begin and FIRST_LEAD <= data[at - 3] <= LAST_LEAD:
        point, _ = utf8.decode(data, at - 3, end)
        if not _is_syllable(point):
            break
        at -= 3
    return at


@numba.njit(nogil=True, cache=True)
def _is_jamo(point: Integer) -> bool:
    """Tell whether a code point may be part of the syllable after it (conjoining jamo)."""
    return bool(0x1100 <= point <= 0x11FF or 0xA960 <= point <= 0xA97F)


@uncounted
def _parts_from_name(
    data: np.ndarray,
    begin: Integer,
    run: Integer,
    whole: Integer,
    properties: np.ndarray,
) -> bool:
    """Tell whether a token is divided before the syllables at its end.

    A name in another script is separated from them (Tab|키, USB|를), but not the single letter of
    a compound (e메일). A number is separated only from a particle (10|에서, but 3개), text with a
    full stop only from an ending, and a URL or a placeholder from nothing.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        begin: First byte of the token.
        run: First byte of the syllables at its end.
        whole: The entry of all these syllables in the table; 0 if they are not an ending.
        properties: Properties of every code point, uint16.
    """
    at: Integer = begin
    letters, digits, stops = 0, 0, 0
    point: Integer = np.int64(0)
    unbreakable = False
    while at < run:
        point, width = utf8.decode(data, at, run)
        bits = properties[point]
        if bits & utf8.CLASS == utf8.NUMERIC:
            digits += 1
        elif bits & utf8.WORD:
            letters += 1
        elif point == 46:
            stops += 1
        elif point < 0x80 and point not in (39, 45, 58, 95):  # ' - : _
            unbreakable = True
        at += width
    last = properties[point]
    if not last & utf8.WORD or last & utf8.PREPEND or _is_jamo(point):
        return False
    if not letters:
        return bool(whole & AFTER_NUMBER)
    if unbreakable:
        return False
    if whole:
        return True
    first, _ = utf8.decode(data, run, len(data))
    return not stops and (letters + digits > 1 or first == _KEY)


@numba.njit(nogil=True, cache=True)
def split_endings(
    data: np.ndarray,
    offsets: np.ndarray,
    chosen: np.ndarray,
    token_offsets: np.ndarray,
    token_starts: np.ndarray,
    token_ends: np.ndarray,
    table: EndingTable,
    properties: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split tokens that end in Hangul syllables before what Korean attaches to nouns.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        chosen: The texts whose tokens are split, bool ``[text]``.
        token_offsets: Tokens of each text, int32 ``[text + 1]``, from 0.
        token_starts: Start of each token in code points, ascending and disjoint within a text,
            int32 ``[token]``.
        token_ends: End of each token, exclusive, int32 ``[token]``.
        table: The endings (`transforms.text.korean_endings`).
        properties: Properties of every code point, uint16
            (`transforms.text.codepoints.properties`).

    Returns:
        Offsets, starts and ends of the resulting tokens.
    """
    split_offsets = np.zeros_like(token_offsets)
    room = len(token_starts)
    for text in range(len(chosen)):
        if chosen[text]:
            room += 2 * (token_offsets[text + 1] - token_offsets[text])
    starts = np.empty(room, np.int32)
    ends = np.empty(room, np.int32)
    count = 0
    for text in range(len(chosen)):
        at: Integer = offsets[text]
        end = offsets[text + 1]
        position = np.int64(0)
        look = chosen[text] and _may_have_syllable(data, at, end)
        for token in range(token_offsets[text], token_offsets[text + 1]):
            start, stop = token_starts[token], token_ends[token]
            starts[count] = start
            if look:
                at = advance(data, at, np.int64(start) - position)
                begin = at
                at = advance(data, at, np.int64(stop) - np.int64(start))
                position = np.int64(stop)
                run = _run_begin(data, begin, at)
                if run < at:
                    cut, whole = _cut_of(data, run, at, table)
                    if not cut and run < at - 3 and _has_alternative(data, at, end):
                        cut = np.int64(1)
                    if run > begin and _parts_from_name(data, begin, run, whole, properties):
                        ends[count] = stop - (at - run) // 3
                        count += 1
                        starts[count] = ends[count - 1]
                    if cut:
                        ends[count] = stop - cut
                        count += 1
                        starts[count] = ends[count - 1]
            ends[count] = stop
            count += 1
        split_offsets[text + 1] = count
    return split_offsets, starts[:count].copy(), ends[:count].copy()
