"""Marks in texts: numbers, web and e-mail addresses, placeholders, tags and HTML entities.

Addresses, placeholders, tags and entities are those that a tokenizer keeps whole
(`transforms.kernels.text.unbreakable`), each as long as possible, from left to right; no mark
is looked for inside another. Two things are recognized only here: arguments of ICU messages,
whose sub-messages are text (`icu_messages`), and percent signs and currencies that look like
placeholders (`placeholder_keys`).

A number consists of digits of any script, outside all of these and outside the sub-messages of an
ICU message, which differ between languages. One to three digits join with groups of three
digits after them, all separated by the same comma, full stop, apostrophe or space. Zeros do not
join with digits after a decimal mark: 0.500 is 0,5.

Marks of one kind are equal if their hashes are: numbers only by their digits, so that 1 000, 1,000,
1.000 and 1000 are equal; placeholders and tags by their keys (`placeholder_keys`); all addresses
are equal, because translations often link to the page of their own language, and so are all
entities.

Other digits separated by a mark are separate numbers, so that 10:30 and 10.30, 2020-01-02 and
02.01.2020, 3.5 and 3,5 have the same numbers. Digits after a decimal mark (a comma or full stop
that does not also separate groups on either side) lose their trailing zeros: 3.50 is 3.5. If
nothing is left, as in 1.0, they are a mark of the kind `ZEROS`, which is not compared.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.filtering import icu_messages, placeholder_keys
from pairweave.transforms.kernels.filtering.characters import OFFSET
from pairweave.transforms.kernels.filtering.numbers import only_mark, read_number
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import unbreakable, utf8
from pairweave.transforms.kernels.text.word_breaks import www_end
from pairweave.transforms.kernels.uncounted import uncounted

ADDRESS, TAG, PLACEHOLDER, ENTITY, EMAIL, NUMBER, ZEROS = range(7)
KINDS = 7

_SILENT = -1
"""The kind of a match that is not a mark, and in which no mark is looked for."""
_KINDS_OF_MATCHES = (TAG, PLACEHOLDER, ENTITY, _SILENT)
"""By the kinds of `placeholder_keys`."""

_TRIGGERS = np.zeros(256, np.bool_)
_TRIGGERS[[ord(mark) for mark in "#$%&<@{}:wW"]] = True


class Marks(NamedTuple):
    """The marks of texts, in order.

    Attributes:
        offsets: Start of each text's marks, int64 ``[text + 1]``.
        kinds: `ADDRESS` to `ZEROS`, int8 ``[mark]``.
        hashes: Equal for equal marks of a kind, uint64 ``[mark]``.
        starts: First byte in the data, int64 ``[mark]``.
        ends: End in the data, exclusive, int64 ``[mark]``.
        digits: Counts of each digit in the numbers of a text, int32 ``[text, 10]``.
    """

    offsets: np.ndarray
    kinds: np.ndarray
    hashes: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    digits: np.ndarray


@numba.njit(nogil=True, cache=True)
def find_marks(data: np.ndarray, offsets: np.ndarray, properties: np.ndarray) -> Marks:
    """Find the marks of texts.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Where each text begins, int64 ``[text + 1]``.
        properties: Properties of every code point, uint32
            (`transforms.text.codepoints.all_properties`).
    """
    texts = len(offsets) - 1
    mark_offsets = np.zeros(texts + 1, np.int64)
    room = 1024
    kinds = np.empty(room, np.int8)
    hashes = np.empty(room, np.uint64)
    places = np.empty((2, room), np.int64)
    marks = 0
    digits = np.zeros((texts, 10), np.int32)
    state = np.zeros(placeholder_keys.STATE, np.int64)
    for text in range(texts):
        number_end: Integer = -1
        parted: Integer = 0
        begin = offsets[text]
        end = offsets[text + 1]
        at: Integer = begin
        state[:] = 0
        while at < end:
            inside_form = state[placeholder_keys.FORMS] > 0
            start, stop, kind, digest = _next_match(data, (begin, end), at, properties, state)
            if inside_form:
                at = start
            at = _next_digit(data, at, start, properties)
            while at < start:
                before = only_mark(data, number_end, at)
                last = parted if before else 0
                number_end, number, parted, zeros = read_number(
                    data, at, start, properties, before, last, digits[text]
                )
                if marks == room:
                    room *= 2
                    kinds, hashes, places = _grown(kinds, hashes, places)
                kinds[marks] = ZEROS if zeros else NUMBER
                hashes[marks] = number
                places[0, marks] = at
                places[1, marks] = number_end
                marks += 1
                at = _next_digit(data, number_end, start, properties)
            if start < end and kind >= 0:
                if marks == room:
                    room *= 2
                    kinds, hashes, places = _grown(kinds, hashes, places)
                kinds[marks] = kind
                hashes[marks] = digest
                places[0, marks] = start
                places[1, marks] = stop
                marks += 1
            at = stop
        mark_offsets[text + 1] = marks
    return Marks(
        mark_offsets,
        kinds[:marks].copy(),
        hashes[:marks].copy(),
        places[0, :marks].copy(),
        places[1, :marks].copy(),
        digits,
    )


@uncounted
def _next_digit(data: np.ndarray, at: Integer, end: Integer, properties: np.ndarray) -> Integer:
    """Return the place of the next digit of any script; the end if there is none."""
    while at < end:
        lead = data[at]
        if 48 <= lead <= 57:
            return at
        if lead < 0x80:
            at += 1
            continue
        point, width = utf8.decode(data, at, end)
        if properties[point] & utf8.DIGIT:
            return at
        at += width
    return at


@numba.njit(nogil=True, cache=True)
def _grown(
    kinds: np.ndarray, hashes: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return copies with twice the room."""
    count = len(kinds)
    wider = np.empty(2 * count, kinds.dtype)
    wider[:count] = kinds
    longer = np.empty(2 * count, hashes.dtype)
    longer[:count] = hashes
    further = np.empty((2, 2 * count), places.dtype)
    further[:, :count] = places
    return wider, longer, further


@numba.njit(nogil=True, cache=True)
def _next_match(
    data: np.ndarray,
    text: tuple[Integer, Integer],
    floor: Integer,
    properties: np.ndarray,
    state: np.ndarray,
) -> tuple[Integer, Integer, Integer, np.uint64]:
    """Find the next mark that is not a number.

    Args:
        data: UTF-8.
        text: Start and end of the text.
        floor: The end of the last match, or the start of the text; no match begins earlier.
        properties: Properties of every code point.
        state: The state of the text, for `placeholder_keys`.

    Returns:
        Its start and end, its kind or `_SILENT`, and its hash; the end of the text twice if there
        is none.
    """
    begin, end = text
    at: Integer = floor
    while at < end:
        lead = data[at]
        if not _TRIGGERS[lead]:
            at += 1
            continue
        if lead == 119 or lead == 87:  # w
            stop = at
            www = at + 4 < end and (data[at + 1] | 32) == (data[at + 2] | 32) == 119
            if www and data[at + 3] == 46 and _begins_word(data, floor, at, properties):
                stop = www_end(data, begin, at, end, properties)
            if stop > at:
                return at, stop, ADDRESS, OFFSET
        elif lead == 58:  # :
            if at + 3 < end and data[at + 1] == 47 and data[at + 2] == 47:
                start = unbreakable.scheme_start(data, floor, at)
                stop = at + 3
                if start < at:
                    stop = unbreakable.url_tail(data, at + 3, end, properties)
                if stop > at + 3:
                    return start, stop, ADDRESS, OFFSET
        elif lead == 125:  # }
            if state[placeholder_keys.FORMS] > 0:
                stop = icu_messages.next_form(data, at, end, state)
                if stop > at:
                    return at, stop, _SILENT, OFFSET
        else:
            stop = unbreakable.placeholder(data, begin, at, end, properties)
            if stop > at:
                match, digest = placeholder_keys.key(data, (floor, end), at, stop, state)
                if match != placeholder_keys.TEXT:
                    return at, stop, _KINDS_OF_MATCHES[match], digest
            elif lead == 64:  # @
                start = unbreakable.address_start(data, floor, at, properties)
                stop = at + 1
                if start < at:
                    stop = unbreakable.domain_end(data, at + 1, end, properties)
                if stop > at + 1:
                    return start, stop, EMAIL, OFFSET
            elif lead == 123:  # {
                stop, digest = icu_messages.message_argument(data, at, end, state)
                if stop > at:
                    return at, stop, PLACEHOLDER, digest
        at += 1
    return end, end, _SILENT, OFFSET


@uncounted
def _begins_word(data: np.ndarray, floor: Integer, at: Integer, properties: np.ndarray) -> bool:
    """Tell whether no letter, digit, connector or mark is before a byte."""
    if at == floor:
        return True
    point, _ = utf8.decode(data, utf8.step_back(data, at, floor), at)
    kind = properties[point] & utf8.CLASS
    return not (
        kind == utf8.LETTER
        or kind == utf8.HEBREW
        or kind == utf8.NUMERIC
        or kind == utf8.CONNECTOR
        or properties[point] & utf8.MARK
    )


@numba.njit(nogil=True, cache=True)
def unmatched(source: Marks, target: Marks, kind: Integer) -> np.ndarray:
    """Count the marks of a kind without an equal one on the other side.

    If the numbers of both sides have the same digits, in any order, all have a counterpart, because
    dates and times are written in many ways.

    Args:
        source: Marks of the sources.
        target: Marks of the targets.
        kind: The kind.

    Returns:
        Unmatched marks of the source, of the target, and all marks of the kind on both sides, int64
        ``[3, pair]``.
    """
    pairs = len(source.offsets) - 1
    counts = np.zeros((3, pairs), np.int64)
    for pair in range(pairs):
        if source.offsets[pair] == source.offsets[pair + 1] and (
            target.offsets[pair] == target.offsets[pair + 1]
        ):
            continue
        ours = _of_kind(source, pair, kind)
        theirs = _of_kind(target, pair, kind)
        counts[2, pair] = len(ours) + len(theirs)
        if kind == NUMBER and (source.digits[pair] == target.digits[pair]).all():
            continue
        common = 0
        at = 0
        for digest in ours:
            while at < len(theirs) and theirs[at] < digest:
                at += 1
            if at < len(theirs) and theirs[at] == digest:
                common += 1
                at += 1
        counts[0, pair] = len(ours) - common
        counts[1, pair] = len(theirs) - common
    return counts


@numba.njit(nogil=True, cache=True)
def _of_kind(marks: Marks, text: Integer, kind: Integer) -> np.ndarray:
    """Return the sorted hashes of a text's marks of one kind."""
    hashes = np.empty(marks.offsets[text + 1] - marks.offsets[text], np.uint64)
    count = 0
    for mark in range(marks.offsets[text], marks.offsets[text + 1]):
        if marks.kinds[mark] == kind:
            hashes[count] = marks.hashes[mark]
            count += 1
    return np.sort(hashes[:count])


@numba.njit(nogil=True, cache=True)
def count_kind(marks: Marks, kind: Integer) -> np.ndarray:
    """Return the number of marks of a kind in each text, int64 ``[text]``."""
    texts = len(marks.offsets) - 1
    counts = np.zeros(texts, np.int64)
    for text in range(texts):
        for mark in range(marks.offsets[text], marks.offsets[text + 1]):
            counts[text] += marks.kinds[mark] == kind
    return counts


@numba.njit(nogil=True, cache=True)
def mask_texts(
    data: np.ndarray, offsets: np.ndarray, marks: Marks
) -> tuple[np.ndarray, np.ndarray]:
    """Replace addresses, e-mail addresses and numbers by one control character for each kind.

    Numbers with only a group separator between them are replaced together.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Where each text begins, int64 ``[text + 1]``.
        marks: Their marks.

    Returns:
        UTF-8 of the masked texts, and the start of each from 0, int64 ``[text + 1]``.
    """
    texts = len(offsets) - 1
    masked = np.empty(offsets[texts] - offsets[0], np.uint8)
    masked_offsets = np.zeros(texts + 1, np.int64)
    used = 0
    for text in range(texts):
        at = offsets[text]
        number_end: Integer = -1
        for mark in range(marks.offsets[text], marks.offsets[text + 1]):
            kind = NUMBER if marks.kinds[mark] == ZEROS else marks.kinds[mark]
            if kind == NUMBER and only_mark(data, number_end, marks.starts[mark]):
                at = number_end = marks.ends[mark]
            elif kind in (ADDRESS, EMAIL, NUMBER):
                for place in range(at, marks.starts[mark]):
                    masked[used] = data[place]
                    used += 1
                masked[used] = kind + 1
                used += 1
                at = marks.ends[mark]
                number_end = at if kind == NUMBER else -1
        for place in range(at, offsets[text + 1]):
            masked[used] = data[place]
            used += 1
        masked_offsets[text + 1] = used
    return masked[:used].copy(), masked_offsets
