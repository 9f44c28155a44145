"""What placeholders and tags stand for: two with the same key are the same for a translation.

`pairweave.transforms.kernels.text.unbreakable` tells where a placeholder begins and ends, for
tokens as for ``filter``. A translation must keep its argument, and the type that the argument is
converted to; how wide, in which format and behind which filter it is shown may differ:

- printf (``%s``, ``%1$-10s``, ``%(name)5.2f``, ``%*d``): the name, or the number of the argument,
  which counts up where none is given; the length modifier; the C type of the conversion. So
  ``%s %d`` is ``%2$d %1$s``, but not ``%d %s``;
- ``{0}``, ``{name!r:>10}``, ``{0,10:N2}``, ``{count, number}``, ``{count, plural, …``: the number
  or name before ``!``, ``:`` or ``,``; ``{}`` counts up from 0;
- ``{{ name | filter }}``, ``{{{name}}}``: the number of braces, and what is before ``|``;
- ``{% tag %}``: the content;
- ``$name`` and ``${name}``: the name; ``#{name}``, ``%{name}`` and ``#URL1#``: the text;
- ``&name;`` that HTML does not define: the name;
- a tag: its name in lower case, whether it closes, and its ``id``, as in XLIFF's ``<x id="1"/>``.

Spaces at the border of braces do not count. ``%%`` is an escaped character and has no argument; a
percent sign of a number or a word (``5%-a``, ``50 %ige``, ``%-encoding``) and a currency (``$US``)
are no placeholders.
"""

import html.entities

import numba
import numpy as np

from pairweave.transforms.kernels.filtering.characters import OFFSET, PRIME
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import unbreakable
from pairweave.transforms.kernels.text.unbreakable import DIGIT, NAME_START, is_kind, skip

CURRENCY_LETTERS = 3
"""A ``$`` and so many capital letters at most are a currency, as in ``5 $CAN`` and ``$US50``."""

TAG, PLACEHOLDER, ENTITY, ESCAPE, TEXT = range(5)
"""Kinds of matches; an `ESCAPE` is no mark, and `TEXT` only looks like a placeholder."""

FORMS, CONVERSIONS, FIELDS = range(3)
"""Places in the state of a text: open sub-messages of ICU, and numbers of the last arguments."""
STATE = 3

_C_TYPES = np.zeros(256, np.uint8)
"""The first conversion of the same C type."""
for _members in ("di", "ouxX", "eEfFgGaA", "cC", "sS", "r", "p", "@"):
    _C_TYPES[[ord(member) for member in _members]] = ord(_members[0])

_SIMPLE_TYPES = tuple(
    np.frombuffer(word, np.uint8)
    for word in (b"number", b"date", b"time", b"spellout", b"ordinal", b"duration")
)
_FORM_TYPES = tuple(
    np.frombuffer(word, np.uint8) for word in (b"plural", b"select", b"selectordinal")
)
_OFFSET_WORD = np.frombuffer(b"offset:", np.uint8)


def _fnv(text: bytes) -> int:
    digest = int(OFFSET)
    for byte in text:
        digest = (digest ^ byte) * int(PRIME) & 0xFFFFFFFFFFFFFFFF
    return digest


_HTML = np.array(
    sorted({_fnv(name.lower().encode()[:-1]) for name in html.entities.html5 if name[-1] == ";"}),
    np.uint64,
)
"""Hashes of the names that HTML defines, in lower case."""


@numba.njit(nogil=True, cache=True)
def _add(digest: np.uint64, byte: Integer) -> np.uint64:
    return (digest ^ np.uint64(byte)) * PRIME


@numba.njit(nogil=True, cache=True)
def _add_text(digest: np.uint64, data: np.ndarray, at: Integer, end: Integer) -> np.uint64:
    for place in range(at, end):
        digest = _add(digest, data[place])
    return digest


@numba.njit(nogil=True, cache=True)
def _add_number(digest: np.uint64, number: Integer) -> np.uint64:
    """Hash a number as its decimal digits."""
    power = 1
    while number // power >= 10:
        power *= 10
    while power > 0:
        digest = _add(digest, 48 + number // power % 10)
        power //= 10
    return digest


@numba.njit(nogil=True, cache=True)
def _is_blank(byte: Integer) -> bool:
    return byte == 32 or 9 <= byte <= 13


@numba.njit(nogil=True, cache=True)
def _skip_blanks(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    while at < end and _is_blank(data[at]):
        at += 1
    return at


@numba.njit(nogil=True, cache=True)
def key(
    data: np.ndarray,
    text: tuple[Integer, Integer],
    at: Integer,
    end: Integer,
    state: np.ndarray,
) -> tuple[Integer, np.uint64]:
    """Return the kind and the key of a match of `unbreakable.placeholder`.

    Args:
        data: UTF-8, uint8 ``[byte]``.
        text: The end of the last match, or the start of the text; the end of the text.
        at: First byte of the match.
        end: Its end.
        state: Of the text, int64 ``[STATE]``; its numbers of arguments count up.
    """
    lead = data[at]
    if lead == 60:  # <
        return TAG, _tag_key(data, at, end)
    if lead == 38:  # &
        return _entity_key(data, at, end)
    if lead == 123:  # {
        return PLACEHOLDER, _braces_key(data, at, end, state)
    if data[end - 1] == lead:
        if end == at + 2:  # %%
            return ESCAPE, OFFSET
        return PLACEHOLDER, _add_text(OFFSET, data, at, end)  # #URL1#, %NAME%
    if lead == 36:  # $
        return _variable_key(data, text[0], at, end)
    if lead == 37 and data[at + 1] != 123:
        return _printf_key(data, text, at, end, state)
    return PLACEHOLDER, _add_text(OFFSET, data, at, end)  # #{x}, %{x}


@numba.njit(nogil=True, cache=True)
def _tag_key(data: np.ndarray, at: Integer, end: Integer) -> np.uint64:
    digest = OFFSET
    here = at + 1
    if data[here] == 47:  # /
        digest = _add(digest, 47)
        here += 1
    name = skip(data, here, end, unbreakable.IN_TAG_NAME)
    for place in range(here, name):
        byte = data[place]
        digest = _add(digest, byte | 32 if 65 <= byte <= 90 else byte)
    here = name
    while True:
        here = _skip_blanks(data, here, end)
        if data[here] == 62 or data[here] == 47:  # > or />
            return digest
        named = skip(data, here, end, unbreakable.IN_TAG_NAME)
        is_id = named == here + 2 and data[here] | 32 == 105 and data[here + 1] | 32 == 100
        value = named + 1
        quote = data[value]
        if quote == 34 or quote == 39:
            value += 1
            here = value
            while data[here] != quote:
                here += 1
            stop = here
            here += 1
        else:
            here = value
            while not (
                _is_blank(data[here])
                or data[here] == 62
                or (data[here] == 47 and data[here + 1] == 62)
            ):
                here += 1
            stop = here
        if is_id:
            digest = _add_text(_add(digest, 35), data, value, stop)


@numba.njit(nogil=True, cache=True)
def _entity_key(data: np.ndarray, at: Integer, end: Integer) -> tuple[Integer, np.uint64]:
    if data[at + 1] == 35:  # #
        return ENTITY, OFFSET
    lower = OFFSET
    for place in range(at + 1, end - 1):
        byte = data[place]
        lower = _add(lower, byte | 32 if 65 <= byte <= 90 else byte)
    slot = np.searchsorted(_HTML, lower)
    if slot < len(_HTML) and _HTML[slot] == lower:
        return ENTITY, OFFSET
    return PLACEHOLDER, _add_text(OFFSET, data, at, end)


@numba.njit(nogil=True, cache=True)
def _braces_key(data: np.ndarray, at: Integer, end: Integer, state: np.ndarray) -> np.uint64:
    """Return the key of ``{0:>10}``, ``{{ x | y }}``, ``{{{x}}}`` or ``{% x %}``."""
    if data[at + 1] == 37:  # {%
        first, last = at + 2, end - 2
        if first < last and (data[first] == 45 or data[first] == 43):  # {%-
            first += 1
        if first < last and (data[last - 1] == 45 or data[last - 1] == 43):
            last -= 1
        return _content_key(_add(_add(OFFSET, 123), 37), data, first, last)
    first = at
    digest = OFFSET
    while data[first] == 123 and first - at < 3:
        digest = _add(digest, 123)
        first += 1
    last = end - (first - at)
    if first > at + 1:
        bar = first
        while bar < last and data[bar] != 124:
            bar += 1
        return _content_key(digest, data, first, bar)
    return _field_key(data, first, last, state)


@numba.njit(nogil=True, cache=True)
def _field_key(data: np.ndarray, first: Integer, last: Integer, state: np.ndarray) -> np.uint64:
    """Return the key of a field in single braces; one without a name takes the next number."""
    digest = _add(OFFSET, 123)
    stop = first
    while stop < last and data[stop] != 33 and data[stop] != 44 and data[stop] != 58:  # ! , :
        stop += 1
    if stop > first:
        return _add_text(digest, data, first, stop)
    state[FIELDS] += 1
    return _add_number(digest, state[FIELDS] - 1)


@numba.njit(nogil=True, cache=True)
def _content_key(digest: np.uint64, data: np.ndarray, first: Integer, last: Integer) -> np.uint64:
    """Hash a range with one space for each run of white space, and none at the border."""
    first = _skip_blanks(data, first, last)
    while last > first and _is_blank(data[last - 1]):
        last -= 1
    while first < last:
        if _is_blank(data[first]):
            digest = _add(digest, 32)
            first = _skip_blanks(data, first, last)
        else:
            digest = _add(digest, data[first])
            first += 1
    return digest


@numba.njit(nogil=True, cache=True)
def _variable_key(
    data: np.ndarray, begin: Integer, at: Integer, end: Integer
) -> tuple[Integer, np.uint64]:
    """Return the key of ``${name}`` or ``$name``, which no letter or digit may precede."""
    digest = _add(OFFSET, 36)
    if data[at + 1] == 123:
        return PLACEHOLDER, _add_text(digest, data, at + 2, end - 1)
    if at > begin and is_kind(data[at - 1], NAME_START | DIGIT):
        return TEXT, digest
    capitals = at + 1
    while capitals < end and 65 <= data[capitals] <= 90:
        capitals += 1
    if 0 < capitals - at - 1 <= CURRENCY_LETTERS and skip(data, capitals, end, DIGIT) == end:
        return TEXT, digest
    return PLACEHOLDER, _add_text(digest, data, at + 1, end)


@numba.njit(nogil=True, cache=True)
def _printf_key(
    data: np.ndarray,
    text: tuple[Integer, Integer],
    at: Integer,
    end: Integer,
    state: np.ndarray,
) -> tuple[Integer, np.uint64]:
    digest = _add(OFFSET, 37)
    here = at + 1
    named = True
    if data[here] == 40:  # (
        first = here
        while data[here] != 41:
            here += 1
        here += 1
        digest = _add_text(digest, data, first, here)
    else:
        digits = skip(data, here, end, DIGIT)
        named = digits > here and data[digits] == 36  # 1$
        if named:
            number: Integer = 0
            for place in range(here, digits):
                number = min(number * 10 + np.int64(data[place]) - 48, 10**6)
            digest = _add_number(digest, number)
            here = digits + 1
    here = skip(data, here, end, unbreakable.PRINTF_FLAG)
    if not named and _is_percent_sign(data, text, at, here, end):
        return TEXT, digest
    stars = 0
    while is_kind(data[here], DIGIT) or data[here] == 42 or data[here] == 46:
        stars += data[here] == 42
        here += 1
    if not named:
        state[CONVERSIONS] = min(state[CONVERSIONS] + stars + 1, 10**6)
        digest = _add_number(digest, state[CONVERSIONS])
    digest = _add(digest, 36)
    digest = _add_text(digest, data, here, end - 1)  # the length modifier
    return PLACEHOLDER, _add(digest, _C_TYPES[data[end - 1]])


@numba.njit(nogil=True, cache=True)
def _is_percent_sign(
    data: np.ndarray,
    text: tuple[Integer, Integer],
    at: Integer,
    width: Integer,
    end: Integer,
) -> bool:
    """Tell whether a ``%`` is the sign of a number or a word rather than the start of a conversion.

    It is if a digit is right before it; with a space between, if a letter follows the conversion,
    or if it begins with a hyphen and has no width; and wherever both are so: ``5%-a``, ``50 %ige``,
    ``5 %-os``, ``%-encoding``.

    Args:
        data: UTF-8.
        text: As for `key`.
        at: The percent sign.
        width: End of the flags.
        end: End of the conversion.
    """
    begin, text_end = text
    hyphen = width > at + 1 and data[width - 1] == 45 and not is_kind(data[width], DIGIT)
    letter = end < text_end and (is_kind(data[end], NAME_START) or data[end] >= 0x80)
    if hyphen and letter:
        return True
    before = at
    if before > begin and data[before - 1] == 32:
        before -= 1
    elif before >= begin + 2 and data[before - 2] == 0xC2 and data[before - 1] == 0xA0:
        before -= 2  # no-break space
    elif before >= begin + 3 and data[before - 3] == 0xE2 and data[before - 2] == 0x80:
        narrow = data[before - 1] == 0xAF or data[before - 1] == 0x89  # U+202F, U+2009
        before -= 3 if narrow else 0
    if before == begin or not is_kind(data[before - 1], DIGIT):
        return False
    return before == at or hyphen or letter


@numba.njit(nogil=True, cache=True)
def _is_word(data: np.ndarray, at: Integer, end: Integer, word: np.ndarray) -> bool:
    if end - at < len(word):
        return False
    equal = 0
    for place in range(len(word)):
        equal += data[at + place] == word[place]
    return equal == len(word)


@numba.njit(nogil=True, cache=True)
def message_argument(
    data: np.ndarray, at: Integer, end: Integer, state: np.ndarray
) -> tuple[Integer, np.uint64]:
    """Match an argument of an ICU message with a type, at its brace.

    ``{when, date, short}`` is matched whole. ``{count, plural, one {# file} other {# files}}`` is
    matched up to the first sub-message, whose text is text to translate; `next_form` matches what
    is between its sub-messages.

    Returns:
        The end, or ``at`` if there is none, and the key.
    """
    first = _skip_blanks(data, at + 1, end)
    last = skip(data, first, min(end, first + unbreakable.LONGEST), NAME_START | DIGIT)
    here = _skip_blanks(data, last, end)
    if last == first or here >= end or data[here] != 44:
        return at, OFFSET
    digest = _add_text(_add(OFFSET, 123), data, first, last)
    first = _skip_blanks(data, here + 1, end)
    last = skip(data, first, min(end, first + unbreakable.LONGEST), NAME_START)
    here = _skip_blanks(data, last, end)
    for word in _FORM_TYPES:
        if last - first == len(word) and _is_word(data, first, end, word):
            if here >= end or data[here] != 44:
                return at, digest
            here = _skip_blanks(data, here + 1, end)
            if _is_word(data, here, end, _OFFSET_WORD):
                here = _skip_blanks(data, here + len(_OFFSET_WORD), end)
                here = _skip_blanks(data, skip(data, here, end, DIGIT), end)
            stop = _form(data, here, end)
            if stop == here:
                return at, digest
            state[FORMS] += 1
            return stop, digest
    for word in _SIMPLE_TYPES:
        if last - first == len(word) and _is_word(data, first, end, word):
            limit = min(end, at + unbreakable.LONGEST)
            if here < limit and data[here] == 44:
                while here < limit and data[here] not in (10, 123, 125):
                    here += 1
            return (here + 1 if here < limit and data[here] == 125 else at), digest
    return at, digest


@numba.njit(nogil=True, cache=True)
def _form(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Match the selector of a sub-message and its opening brace: ``one {`` or ``=1 {``."""
    here = at
    if here < end and data[here] == 61:  # =
        selector = skip(data, here + 1, end, DIGIT)
        here += 1
    else:
        selector = skip(data, here, min(end, here + unbreakable.LONGEST), NAME_START | DIGIT)
    brace = _skip_blanks(data, selector, end)
    return brace + 1 if selector > here and brace < end and data[brace] == 123 else at


@numba.njit(nogil=True, cache=True)
def next_form(data: np.ndarray, at: Integer, end: Integer, state: np.ndarray) -> Integer:
    """Match what follows a sub-message at its closing brace; ``at`` if it is another brace."""
    here = _skip_blanks(data, at + 1, end)
    if here < end and data[here] == 125:
        state[FORMS] -= 1
        return here + 1
    stop = _form(data, here, end)
    return stop if stop > here else at
