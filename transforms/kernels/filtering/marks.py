"""Marks in texts: numbers, web and e-mail addresses, placeholders, tags and HTML entities.

At each position, the first of these that matches is used, in this order. Letters are ASCII, of any
case; lengths are limited, so that no text takes quadratic time.

- web address: ``http://``, ``https://``, ``ftp://`` or ``www.``, not after a letter or digit, up
  to white space or one of ``<>"``, less punctuation at its end;
- tag: ``<`` or ``</``, a letter, then anything but ``<>`` up to ``>``;
- placeholder: ``{{x}}``, ``{x}``, ``${x}``, ``%s``, ``%1$s``, ``%(x)s`` and the like;
- entity: ``&amp;``, ``&#39;``, ``&#x27;``;
- e-mail address: a local part, ``@``, and names, the last of which follows a full stop;
- number: digits of any script. One to three digits join with groups of three digits after them,
  all separated by the same comma, full stop, apostrophe or space.

Marks of one kind are equal if their hashes are: numbers by their digits alone, so that 1 000,
1,000, 1.000 and 1000 are equal; tags by name and whether they close; placeholders and entities by
their text; all addresses are equal, because translations often link to the page of their own
language.

Other digits separated by a mark are separate numbers, so that 10:30 and 10.30, 2020-01-02 and
02.01.2020, 3.5 and 3,5 have the same numbers. Digits after a decimal mark (a comma or full stop
that does not also separate groups on either side) lose their trailing zeros: 3.50 is 3.5. If
nothing is left, as in 1.0, they are a mark of the kind `ZEROS`, which is not compared.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.filtering.characters import DIGIT, LETTER, WHITE
from pairweave.transforms.kernels.filtering.numbers import OFFSET, PRIME, only_mark, read_number
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text.utf8 import decode, step_back

ADDRESS, TAG, PLACEHOLDER, ENTITY, EMAIL, NUMBER, ZEROS = range(7)
KINDS = 7

MOST_TAG = 256
MOST_NAME = 64
MOST_LOCAL = 64

_ALNUM = np.zeros(256, np.bool_)
_ALNUM[[*range(48, 58), *range(65, 91), *range(97, 123)]] = True
_ALPHA = _ALNUM.copy()
_ALPHA[48:58] = False
_LOCAL = _ALNUM.copy()
_LOCAL[[ord(mark) for mark in "._%+-"]] = True
_NAME = _ALNUM.copy()
_NAME[[ord(mark) for mark in "_.:-"]] = True
_FINAL = np.zeros(256, np.bool_)
_FINAL[[ord(mark) for mark in ".,;:!?)]}'"]] = True
_LEADS = np.zeros(256, np.bool_)
_LEADS[[ord(mark) for mark in "{$%"]] = True
_SCHEMES = np.zeros(256, np.bool_)
_SCHEMES[[ord(mark) for mark in "hHfFwW"]] = True
_BEGINNINGS = _LEADS | _SCHEMES
_BEGINNINGS[[*range(48, 58), 60, 38]] = True
_HTTP, _HTTPS, _FTP, _WWW = (
    np.frombuffer(word, np.uint8) for word in (b"http://", b"https://", b"ftp://", b"www.")
)


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
def find_marks(data: np.ndarray, offsets: np.ndarray, classes: np.ndarray) -> Marks:
    """Find the marks of texts.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Where each text begins, int64 ``[text + 1]``.
        classes: Of every code point, uint16 (`transforms.kernels.filtering.characters`).
    """
    texts = len(offsets) - 1
    mark_offsets = np.zeros(texts + 1, np.int64)
    room = 1024
    kinds = np.empty(room, np.int8)
    hashes = np.empty(room, np.uint64)
    places = np.empty((2, room), np.int64)
    marks = 0
    digits = np.zeros((texts, 10), np.int32)
    for text in range(texts):
        number_end: Integer = -1
        parted: Integer = 0
        at = offsets[text]
        end = offsets[text + 1]
        mails = _holds(data, at, end, 64)
        behind_word = False
        inside_local = False
        while at < end:
            lead = data[at]
            if lead < 0x80 and not mails:
                # This is the usual case: no mark begins here.
                quick = not _BEGINNINGS[lead]
                if _SCHEMES[lead]:
                    second = data[at + 1] | 32 if at + 1 < end else 0
                    quick = behind_word or (second != 116 and second != 119)
                if quick:
                    behind_word = _ALNUM[lead]
                    inside_local = _LOCAL[lead]
                    at += 1
                    continue
            stop: Integer = at
            kind = -1
            digest = np.uint64(0)
            if lead < 0x80:
                if not behind_word and _SCHEMES[lead]:
                    stop = _address(data, at, end, classes)
                    kind = ADDRESS
                elif lead == 60:
                    stop, digest = _tag(data, at, end)
                    kind = TAG
                elif lead == 38:
                    stop = _entity(data, at, end)
                    kind = ENTITY
                elif _LEADS[lead]:
                    stop = _placeholder(data, at, end)
                    kind = PLACEHOLDER
                if stop > at and kind in (ENTITY, PLACEHOLDER):
                    digest = _hash(data, at, stop)
                if stop == at and mails and not inside_local and _LOCAL[lead]:
                    stop = _email(data, at, end)
                    kind = EMAIL
                if stop == at and 48 <= lead <= 57:
                    kind = NUMBER
            else:
                point, width = decode(data, at, end)
                if classes[point] & DIGIT:
                    kind = NUMBER
            if kind == NUMBER and stop == at:
                before = only_mark(data, number_end, at)
                last = parted if before else 0
                stop, digest, parted, zeros = read_number(
                    data, at, end, classes, before, last, digits[text]
                )
                kind = ZEROS if zeros else NUMBER
                number_end = stop
            if stop > at:
                if marks == room:
                    room *= 2
                    kinds = _grown(kinds, room)
                    hashes = _grown(hashes, room)
                    wider = np.empty((2, room), np.int64)
                    wider[:, :marks] = places
                    places = wider
                kinds[marks] = kind
                hashes[marks] = digest
                places[0, marks] = at
                places[1, marks] = stop
                marks += 1
                at = step_back(data, stop, at)  # the next character is checked against the last one
            point, width = decode(data, at, end)
            behind_word = classes[point] & (LETTER | DIGIT) != 0
            inside_local = bool(point < 0x80 and _LOCAL[point])
            at += width
        mark_offsets[text + 1] = marks
    return Marks(
        mark_offsets,
        kinds[:marks].copy(),
        hashes[:marks].copy(),
        places[0, :marks].copy(),
        places[1, :marks].copy(),
        digits,
    )


@numba.njit(nogil=True, cache=True)
def _grown(values: np.ndarray, room: Integer) -> np.ndarray:
    wider = np.empty(room, values.dtype)
    wider[: len(values)] = values
    return wider


@numba.njit(nogil=True, cache=True)
def _holds(data: np.ndarray, at: Integer, end: Integer, byte: Integer) -> bool:
    times = 0
    for place in range(at, end):
        times += data[place] == byte
    return times > 0


@numba.njit(nogil=True, cache=True)
def _hash(data: np.ndarray, at: Integer, end: Integer) -> np.uint64:
    digest = OFFSET
    for place in range(at, end):
        digest = (digest ^ np.uint64(data[place])) * PRIME
    return digest


@numba.njit(nogil=True, cache=True)
def _begins(data: np.ndarray, at: Integer, end: Integer, word: np.ndarray) -> bool:
    """Tell whether the text at a position is an ASCII word (given in lower case), in any case."""
    if at + len(word) > end:
        return False
    for place in range(len(word)):
        byte = data[at + place]
        if 65 <= byte <= 90:
            byte |= 32
        if byte != word[place]:
            return False
    return True


@numba.njit(nogil=True, cache=True)
def _address(data: np.ndarray, at: Integer, end: Integer, classes: np.ndarray) -> Integer:
    """Return the end of a web address; the start itself if there is none."""
    if _begins(data, at, end, _HTTP) or _begins(data, at, end, _FTP):
        begin = at + (7 if data[at] | 32 == 104 else 6)
    elif _begins(data, at, end, _HTTPS):
        begin = at + 8
    elif _begins(data, at, end, _WWW):
        begin = at + 4
    else:
        return at
    stop: Integer = begin
    while stop < end:
        byte = data[stop]
        if byte == 60 or byte == 62 or byte == 34:
            break
        point, width = decode(data, stop, end)
        if classes[point] & WHITE:
            break
        stop += width
    while stop > begin and _FINAL[data[stop - 1]]:
        stop -= 1
    return stop if stop > begin else at


@numba.njit(nogil=True, cache=True)
def _email(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Return the end of an e-mail address; the start itself if there is none."""
    place: Integer = at
    while place < end and _LOCAL[data[place]] and place - at < MOST_LOCAL:
        place += 1
    if place == at or place >= end or data[place] != 64:
        return at
    place += 1
    stop: Integer = at
    labels = 0
    while True:
        begin = place
        while place < end and (_ALNUM[data[place]] or data[place] == 45):
            place += 1
        if place == begin:
            break
        labels += 1
        if labels > 1:
            stop = place
        if place >= end or data[place] != 46:
            break
        place += 1
    return stop


@numba.njit(nogil=True, cache=True)
def _tag(data: np.ndarray, at: Integer, end: Integer) -> tuple[Integer, np.uint64]:
    """Return the end and the hash of a tag; the start itself if there is none."""
    place: Integer = at + 1
    digest = OFFSET
    if place < end and data[place] == 47:
        digest = (digest ^ np.uint64(47)) * PRIME
        place += 1
    if place >= end or not _ALPHA[data[place]]:
        return at, digest
    while place < end and _NAME[data[place]]:
        byte = np.uint64(data[place])
        if 65 <= byte <= 90:
            byte |= np.uint64(32)
        digest = (digest ^ byte) * PRIME
        place += 1
    while place < end and place - at < MOST_TAG:
        if data[place] == 62:
            return place + 1, digest
        if data[place] == 60:
            break
        place += 1
    return at, digest


@numba.njit(nogil=True, cache=True)
def _name_end(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Return the end of a run of name characters of at most `MOST_NAME`."""
    place: Integer = at
    while place < end and _NAME[data[place]] and place - at < MOST_NAME:
        place += 1
    return place


@numba.njit(nogil=True, cache=True)
def _placeholder(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Return the end of a placeholder; the start itself if there is none."""
    if data[at] == 37:
        place: Integer = at + 1
        if place < end and data[place] == 40:
            place = _name_end(data, at + 2, end)
            if place == at + 2 or place >= end or data[place] != 41:
                return at
            place += 1
        else:
            begin = place
            while place < end and 48 <= data[place] <= 57 and place - begin < 2:
                place += 1
            if place > begin:
                if place >= end or data[place] != 36:
                    return at
                place += 1
        if place >= end or not _is_conversion(data[place]):
            return at
        place += 1
        return at if place < end and _ALPHA[data[place]] else place
    begin = at + 1 if data[at] == 36 else at
    if begin >= end or data[begin] != 123:
        return at
    braces = 2 if begin == at and begin + 1 < end and data[begin + 1] == 123 else 1
    place = _name_end(data, begin + braces, end)
    if braces == 2 and place == begin + braces:
        return at
    for brace in range(braces):
        if place + brace >= end or data[place + brace] != 125:
            return at
    return place + braces


@numba.njit(nogil=True, cache=True)
def _is_conversion(byte: Integer) -> bool:
    """Tell whether a byte is one of ``sdifux@``."""
    return (
        byte == 115
        or byte == 100
        or byte == 105
        or byte == 102
        or byte == 117
        or (byte == 120 or byte == 64)
    )


@numba.njit(nogil=True, cache=True)
def _entity(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Return the end of an HTML entity; the start itself if there is none."""
    place: Integer = at + 1
    if place < end and data[place] == 35:
        place += 1
        hexadecimal = place < end and data[place] | 32 == 120
        place += 1 if hexadecimal else 0
        begin = place
        while place < end and place - begin < 7:
            byte = data[place]
            if not (48 <= byte <= 57 or (hexadecimal and 97 <= (byte | 32) <= 102)):
                break
            place += 1
    else:
        begin = place
        if place < end and not _ALPHA[data[place]]:
            return at
        while place < end and place - begin < 32 and _ALNUM[data[place]]:
            place += 1
    if place == begin or place >= end or data[place] != 59:
        return at
    return place + 1


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
    found = np.empty(marks.offsets[text + 1] - marks.offsets[text], np.uint64)
    count = 0
    for mark in range(marks.offsets[text], marks.offsets[text + 1]):
        if marks.kinds[mark] == kind:
            found[count] = marks.hashes[mark]
            count += 1
    return np.sort(found[:count])


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
