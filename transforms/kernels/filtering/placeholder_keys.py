"""What placeholders and tags stand for: two with the same key are the same for a translation.

`pairweave.transforms.kernels.text.unbreakable` tells where a placeholder begins and ends, for
tokens as for ``filter``. A translation must keep its argument, and the type that the argument is
converted to; the width, the format and the filters with which it is shown may differ:

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
are not placeholders.
"""

import html.entities

import numba
import numpy as np

from pairweave.transforms.kernels.filtering.characters import OFFSET, PRIME
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import unbreakable
from pairweave.transforms.kernels.text.unbreakable import DIGIT, NAME_START, is_kind, skip
from pairweave.transforms.kernels.uncounted import uncounted

CURRENCY_LETTERS = 3
"""Maximum capital letters after a ``$`` that make a currency, as in ``5 $CAN`` and ``$US50``."""

TAG, PLACEHOLDER, ENTITY, ESCAPE, TEXT = range(5)
"""Kinds of matches; an `ESCAPE` is not a mark, and `TEXT` only looks like a placeholder."""

FORMS, CONVERSIONS, FIELDS = range(3)
"""Places in the state of a text: open sub-messages of ICU, and numbers of the last arguments."""
STATE = 3

_C_TYPES = np.zeros(256, np.uint8)
"""The first conversion of the same C type."""
for _members in ("di", "ouxX", "eEfFgGaA", "cC", "sS", "r", "p", "@"):
    _C_TYPES[[ord(member) for member in _members]] = ord(_members[0])


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
def add_byte(digest: np.uint64, byte: Integer) -> np.uint64:
    """Return the FNV-1a hash of a text and a further byte."""
    return (digest ^ np.uint64(byte)) * PRIME


@uncounted
def add_text(digest: np.uint64, data: np.ndarray, at: Integer, end: Integer) -> np.uint64:
    """Return the FNV-1a hash of a text and a further one."""
    for place in range(at, end):
        digest = add_byte(digest, data[place])
    return digest


@numba.njit(nogil=True, cache=True)
def _add_number(digest: np.uint64, number: Integer) -> np.uint64:
    """Hash a number as its decimal digits."""
    power = 1
    while number // power >= 10:
        power *= 10
    while power > 0:
        digest = add_byte(digest, 48 + number // power % 10)
        power //= 10
    return digest


@numba.njit(nogil=True, cache=True)
def _is_blank(byte: Integer) -> bool:
    return bool(byte == 32 or 9 <= byte <= 13)


@uncounted
def skip_blanks(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Return the end of a run of ASCII white space."""
    while at < end and _is_blank(data[at]):
        at += 1
    return at


@uncounted
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
        state: The state of the text, int64 ``[STATE]``; its numbers of arguments count up.
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
        return PLACEHOLDER, add_text(OFFSET, data, at, end)  # #URL1#, %NAME%
    if lead == 36:  # $
        return _variable_key(data, text[0], at, end)
    if lead == 37 and data[at + 1] != 123:
        return _printf_key(data, text, at, end, state)
    return PLACEHOLDER, add_text(OFFSET, data, at, end)  # #{x}, %{x}


@uncounted
def _tag_key(data: np.ndarray, at: Integer, end: Integer) -> np.uint64:
    digest = OFFSET
    here = at + 1
    if data[here] == 47:  # /
        digest = add_byte(digest, 47)
        here += 1
    name = skip(data, here, end, unbreakable.IN_TAG_NAME)
    for place in range(here, name):
        byte = data[place]
        digest = add_byte(digest, byte | 32 if 65 <= byte <= 90 else byte)
    here = name
    while True:
        here = skip_blanks(data, here, end)
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
            digest = add_text(add_byte(digest, 35), data, value, stop)


@uncounted
def _entity_key(data: np.ndarray, at: Integer, end: Integer) -> tuple[Integer, np.uint64]:
    if data[at + 1] == 35:  # #
        return ENTITY, OFFSET
    lower = OFFSET
    for place in range(at + 1, end - 1):
        byte = data[place]
        lower = add_byte(lower, byte | 32 if 65 <= byte <= 90 else byte)
    slot = np.searchsorted(_HTML, lower)
    if slot < len(_HTML) and _HTML[slot] == lower:
        return ENTITY, OFFSET
    return PLACEHOLDER, add_text(OFFSET, data, at, end)


@uncounted
def _braces_key(data: np.ndarray, at: Integer, end: Integer, state: np.ndarray) -> np.uint64:
    """Return the key of ``{0:>10}``, ``{{ x | y }}``, ``{{{x}}}`` or ``{% x %}``."""
    if data[at + 1] == 37:  # {%
        first, last = at + 2, end - 2
        if first < last and (data[first] == 45 or data[first] == 43):  # {%-
            first += 1
        if first < last and (data[last - 1] == 45 or data[last - 1] == 43):
            last -= 1
        return _content_key(add_byte(add_byte(OFFSET, 123), 37), data, first, last)
    first = at
    digest = OFFSET
    while data[first] == 123 and first - at < 3:
        digest = add_byte(digest, 123)
        first += 1
    last = end - (first - at)
    if first > at + 1:
        bar = first
        while bar < last and data[bar] != 124:
            bar += 1
        return _content_key(digest, data, first, bar)
    return _field_key(data, first, last, state)


@uncounted
def _field_key(data: np.ndarray, first: Integer, last: Integer, state: np.ndarray) -> np.uint64:
    """Return the key of a field in single braces; one without a name takes the next number."""
    digest = add_byte(OFFSET, 123)
    stop = first
    while stop < last and data[stop] != 33 and data[stop] != 44 and data[stop] != 58:  # ! , :
        stop += 1
    if stop > first:
        return add_text(digest, data, first, stop)
    state[FIELDS] += 1
    return _add_number(digest, state[FIELDS] - 1)


@uncounted
def _content_key(digest: np.uint64, data: np.ndarray, first: Integer, last: Integer) -> np.uint64:
    """Hash a range with one space for each run of white space, and none at the border."""
    first = skip_blanks(data, first, last)
    while last > first and _is_blank(data[last - 1]):
        last -= 1
    while first < last:
        if _is_blank(data[first]):
            digest = add_byte(digest, 32)
            first = skip_blanks(data, first, last)
        else:
            digest = add_byte(digest, data[first])
            first += 1
    return digest


@uncounted
def _variable_key(
    data: np.ndarray, begin: Integer, at: Integer, end: Integer
) -> tuple[Integer, np.uint64]:
    """Return the key of ``${name}`` or ``$name``, which no letter or digit may precede."""
    digest = add_byte(OFFSET, 36)
    if data[at + 1] == 123:
        return PLACEHOLDER, add_text(digest, data, at + 2, end - 1)
    if at > begin and is_kind(data[at - 1], NAME_START | DIGIT):
        return TEXT, digest
    capitals = at + 1
    while capitals < end and 65 <= data[capitals] <= 90:
        capitals += 1
    if 0 < capitals - at - 1 <= CURRENCY_LETTERS and skip(data, capitals, end, DIGIT) == end:
        return TEXT, digest
    return PLACEHOLDER, add_text(digest, data, at + 1, end)


@uncounted
def _printf_key(
    data: np.ndarray,
    text: tuple[Integer, Integer],
    at: Integer,
    end: Integer,
    state: np.ndarray,
) -> tuple[Integer, np.uint64]:
    digest = add_byte(OFFSET, 37)
    here = at + 1
    named = True
    if data[here] == 40:  # (
        first = here
        while data[here] != 41:
            here += 1
        here += 1
        digest = add_text(digest, data, first, here)
    else:
        digits = skip(data, here, end, DIGIT)
        named = bool(digits > here and data[digits] == 36)  # 1$
        if named:
            number: Integer = 0
            for place in range(here, digits):
                number = number * 10 + np.int64(data[place]) - 48
                if number > 10**6:
                    number = np.int64(10**6)
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
    digest = add_byte(digest, 36)
    digest = add_text(digest, data, here, end - 1)  # the length modifier
    return PLACEHOLDER, add_byte(digest, _C_TYPES[data[end - 1]])


@uncounted
def _is_percent_sign(
    data: np.ndarray,
    text: tuple[Integer, Integer],
    at: Integer,
    width: Integer,
    end: Integer,
) -> bool:
    """Tell whether a ``%`` is the sign of a number or a word rather than the start of a conversion.

    It is a sign right after a digit (``5%-a``). After a digit and a space, it is one if a letter
    follows the conversion (``50 %ige``), or if the conversion begins with a hyphen and has no width
    (``5 %-os``); and it is one anywhere if both are the case (``%-encoding``).

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
    return bool(before == at or hyphen or letter)
