"""Text that is never split: placeholders, tags, entities, URLs, addresses, 24/7.

Each function matches at one place of a text and returns the end of the match, or the place itself
if there is none. ``at``, ``begin`` and ``end`` are byte positions; a match never crosses ``end``.
Tokens and the rules of ``filter`` use the same functions, so that they agree on what is text.
"""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.uncounted import uncounted

LONGEST = 100
"""Maximum bytes between the delimiters of a placeholder; longer text in braces is not one."""
_LONGEST_TAG = 2000
"""Maximum bytes of a tag with its attributes."""

DIGIT = 1
NAME_START = 2  # letter or _
PRINTF_FLAG = 4
CONVERSION = 8
_IN_BRACES = 16  # allowed in a format field
_IN_URL = 32
IN_TAG_NAME = 64
_TRAILING = 128  # punctuation that ends the sentence rather than the URL
LENGTH = 256  # length modifier of a printf conversion


def _ascii_table() -> np.ndarray:
    table = np.zeros(256, np.uint16)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    digits = "0123456789"
    for members, bit in (
        (digits, DIGIT),
        (letters + "_", NAME_START),
        ("-+#0", PRINTF_FLAG),
        ("diouxXeEfFgGcCrsSaAp@", CONVERSION),
        (letters + digits + "_.-[]!:$@,<>=^+#/|*%", _IN_BRACES),
        (letters + digits + "-._~:/?#[]{}@!$&()*+,;=%|", _IN_URL),
        (letters + digits + "_:.-", IN_TAG_NAME),
        (".,;:!?*", _TRAILING),
        ("hlLqjzt", LENGTH),
    ):
        for character in members:
            table[ord(character)] |= bit
    return table


_ASCII = _ascii_table()


@numba.njit(nogil=True, cache=True)
def is_kind(byte: np.uint8, kinds: int) -> bool:
    """Tell whether a byte is an ASCII character of one of several kinds."""
    return _ASCII[byte] & kinds != 0


@uncounted
def skip(data: np.ndarray, at: Integer, end: Integer, kinds: int) -> Integer:
    """Return the end of a run of ASCII characters of several kinds."""
    while at < end and _ASCII[data[at]] & kinds != 0:
        at += 1
    return at


@uncounted
def _in_braces(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Match ``{...}`` at a brace: not empty, without spaces and braces inside."""
    inner = at + 1
    stop = min(end, inner + LONGEST)
    while inner < stop and data[inner] > 32 and data[inner] != 123 and data[inner] != 125:
        inner += 1
    if inner < stop and data[inner] == 125 and inner > at + 1:
        return inner + 1
    return at


@uncounted
def _number_or_star(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    if at < end and data[at] == 42:  # *
        return at + 1
    return skip(data, at, end, DIGIT)


@uncounted
def _printf(data: np.ndarray, begin: Integer, at: Integer, end: Integer) -> Integer:
    """Match ``%%``, ``%s``, ``%1$s``, ``%-5.2f``, ``%(name)s``, ``%{name}`` or ``%@``.

    The space flag is not supported: ``50 % des`` has no placeholder. For the same reason a ``%``
    after a digit whose conversion is followed by a letter, as in ``20%ige``, is not one.
    """
    here = at + 1
    if here >= end:
        return at
    if data[here] == 37:  # %%
        return here + 1
    if data[here] == 123:  # %{
        close = _in_braces(data, here, end)
        return close if close > here else at
    named = False
    if data[here] == 40:  # (
        stop = min(end, here + 1 + LONGEST)
        name = here + 1
        while name < stop and data[name] > 32 and data[name] != 40 and data[name] != 41:
            name += 1
        if name == here + 1 or name >= stop or data[name] != 41:
            return at
        here = name + 1
        named = True
    else:
        digits = skip(data, here, end, DIGIT)
        if digits > here and digits < end and data[digits] == 36:  # 1$
            here = digits + 1
            named = True
    here = skip(data, here, end, PRINTF_FLAG)
    here = _number_or_star(data, here, end)
    if here < end and data[here] == 46:  # .
        here = _number_or_star(data, here + 1, end)
    if here + 1 < end and data[here] == data[here + 1] and (data[here] == 104 or data[here] == 108):
        here += 2  # hh, ll
    elif here + 1 < end and is_kind(data[here + 1], CONVERSION) and is_kind(data[here], LENGTH):
        here += 1
    if here >= end or not is_kind(data[here], CONVERSION):
        return at
    here += 1
    after_digit = not named and at > begin and is_kind(data[at - 1], DIGIT)
    before_letter = here < end and (is_kind(data[here], NAME_START) or data[here] >= 0x80)
    return at if after_digit and before_letter else here


@uncounted
def _braces(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Match ``{}``, ``{0}``, ``{name!r:>10}``, ``{{ x }}``, ``{{{x}}}`` or ``{% x %}``."""
    here = at + 1
    stop = min(end, here + LONGEST)
    if here < end and data[here] == 37:  # {%
        while here + 2 < stop:
            here += 1
            if data[here] == 37 and data[here + 1] == 125:
                return here + 2
            if data[here] == 10 or data[here] == 123:
                return at
        return at
    while here < end and data[here] == 123 and here - at < 3:
        here += 1
    opened = here - at
    if opened == 1:
        here = min(skip(data, here, end, _IN_BRACES | NAME_START | DIGIT), stop)
    else:
        inner = here
        while here < stop and data[here] != 123 and data[here] != 125 and data[here] != 10:
            here += 1
        if here == inner:
            return at
    for _ in range(opened):
        if here >= end or data[here] != 125:
            return at
        here += 1
    return here


@uncounted
def _variable(data: np.ndarray, at: Integer, end: Integer, properties: np.ndarray) -> Integer:
    """Match ``${name}`` or ``$name``."""
    here = at + 1
    if here < end and data[here] == 123:
        close = _in_braces(data, here, end)
        return close if close > here else at
    if here >= end or not is_kind(data[here], NAME_START):
        return at
    here = skip(data, here, end, NAME_START | DIGIT)
    if here < end and data[here] >= 0x80:
        point, _ = utf8.decode(data, here, end)
        if properties[point] & (utf8.WORD | utf8.MARK):
            return at
    return here


@uncounted
def _tag(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Match an opening, closing or empty tag; its attributes must have values."""
    end = min(end, at + _LONGEST_TAG)
    here = at + 1
    if here < end and data[here] == 47:  # /
        here += 1
    if here >= end or data[here] == 95 or not is_kind(data[here], NAME_START):
        return at
    here = skip(data, here, end, IN_TAG_NAME)
    while here < end:
        spaced = here
        while here < end and (data[here] == 32 or 9 <= data[here] <= 13):
            here += 1
        if here < end and data[here] == 62:  # >
            return here + 1
        if here + 1 < end and data[here] == 47 and data[here + 1] == 62:  # />
            return here + 2
        if here == spaced or here >= end or not is_kind(data[here], NAME_START):
            return at
        here = skip(data, here, end, IN_TAG_NAME)
        if here + 1 >= end or data[here] != 61:  # =
            return at
        here += 1
        quote = data[here]
        value = here
        if quote == 34 or quote == 39:
            here += 1
            while here < end and data[here] != quote and data[here] != 60:
                here += 1
            if here >= end or data[here] != quote:
                return at
            here += 1
        else:
            while (
                here < end
                and data[here] > 32
                and not (
                    data[here] == 62
                    or (data[here] == 47 and here + 1 < end and data[here + 1] == 62)
                )
                and data[here] not in (34, 39, 60, 61, 96)
            ):
                here += 1
            if here == value:
                return at
    return at


@uncounted
def _entity(data: np.ndarray, at: Integer, end: Integer) -> Integer:
    """Match a character reference such as ``&amp;``, ``&#160;`` or ``&#xA0;``."""
    here = at + 1
    if here < end and data[here] == 35:  # #
        here += 1
        first = here
        if here < end and (data[here] == 120 or data[here] == 88):  # x
            here += 1
            first = here
            while here < end and (
                is_kind(data[here], DIGIT) or 65 <= data[here] <= 70 or 97 <= data[here] <= 102
            ):
                here += 1
        else:
            here = skip(data, here, end, DIGIT)
        shortest, longest = 1, 7
    else:
        first = here
        if here >= end or data[here] == 95 or not is_kind(data[here], NAME_START):
            return at
        while here < end and data[here] != 95 and is_kind(data[here], NAME_START | DIGIT):
            here += 1
        shortest, longest = 2, 32
    if shortest <= here - first <= longest and here < end and data[here] == 59:
        return here + 1
    return at


@uncounted
def _fenced(data: np.ndarray, begin: Integer, at: Integer, end: Integer) -> Integer:
    """Match ``#URL1#``, ``%NAME%``, ``@NAME@`` or ``$NAME$``: a name between two equal marks.

    The name has at least two characters: capitals, digits and underscores, of which the first is
    not a digit; between ``#`` also lower-case letters. No ASCII letter or digit is next to a mark.
    """
    fence = data[at]
    here = at + 1
    if at > begin and is_kind(data[at - 1], NAME_START | DIGIT):
        return at
    if here >= end or not is_kind(data[here], NAME_START):
        return at
    stop = min(end, here + LONGEST)
    while here < stop and is_kind(data[here], NAME_START | DIGIT):
        if fence != 35 and 97 <= data[here] <= 122:
            return at
        here += 1
    if here >= stop or data[here] != fence or here < at + 3:
        return at
    here += 1
    if here < end and (is_kind(data[here], NAME_START | DIGIT) or data[here] == fence):
        return at
    return here


@uncounted
def placeholder(
    data: np.ndarray, begin: Integer, at: Integer, end: Integer, properties: np.ndarray
) -> Integer:
    """Match a placeholder, a tag or a character reference."""
    trigger = data[at]
    if trigger == 35 or trigger == 36 or trigger == 37 or trigger == 64:  # # $ % @
        fenced = _fenced(data, begin, at, end)
        if fenced > at:
            return fenced
    if trigger == 37:  # %
        return _printf(data, begin, at, end)
    if trigger == 123:  # {
        return _braces(data, at, end)
    if trigger == 60:  # <
        return _tag(data, at, end)
    if trigger == 38:  # &
        return _entity(data, at, end)
    if trigger == 36:  # $
        return _variable(data, at, end, properties)
    if trigger == 35 and at + 1 < end and data[at + 1] == 123:  # #{
        close = _in_braces(data, at + 1, end)
        return close if close > at + 1 else at
    return at


@numba.njit(nogil=True, cache=True)
def url_tail(data: np.ndarray, at: Integer, end: Integer, properties: np.ndarray) -> Integer:
    """Match the rest of a URL, after its scheme or after a name that begins with ``www.``.

    Non-ASCII letters belong to it, but ideographs do not: Chinese and Japanese have no space after
    a URL. Punctuation at the end, and a closing bracket without an opening one, do not.
    """
    here = at
    unopened = np.zeros(128, np.int64)  # by closing bracket: how many more close than open
    while here < end:
        byte = data[here]
        if byte < 0x80:
            if not is_kind(byte, _IN_URL):
                break
            if byte == 40:  # ( and ) are neighbours, [ ] and { } are two apart
                unopened[41] -= 1
            elif byte == 91 or byte == 123:
                unopened[byte + 2] -= 1
            else:
                unopened[byte] += 1
            here += 1
        else:
            point, width = utf8.decode(data, here, end)
            kind = properties[point] & utf8.CLASS
            joins = kind == utf8.LETTER or kind == utf8.HEBREW or kind == utf8.NUMERIC
            if not joins and not properties[point] & utf8.MARK:
                break
            here += width
    while here > at:
        last = data[here - 1]
        if is_kind(last, _TRAILING):
            here -= 1
        elif (last == 41 or last == 93 or last == 125) and unopened[last] > 0:
            unopened[last] -= 1
            here -= 1
        else:
            break
    return here


@uncounted
def scheme_start(data: np.ndarray, begin: Integer, at: Integer) -> Integer:
    """Return the start of the URL scheme that ends at a byte; ``at`` if there is none."""
    start = at
    while start > begin and (
        (is_kind(data[start - 1], IN_TAG_NAME) and data[start - 1] not in (58, 95))
        or data[start - 1] == 43
    ):
        start -= 1
    while start < at and (data[start] == 95 or not is_kind(data[start], NAME_START)):
        start += 1
    return start


@numba.njit(nogil=True, cache=True)
def _in_address(point: Integer, kinds: Integer) -> bool:
    kind = kinds & utf8.CLASS
    return (
        kind == utf8.LETTER
        or kind == utf8.HEBREW
        or kind == utf8.NUMERIC
        or kind == utf8.CONNECTOR
        or kinds & utf8.MARK != 0
        or point == 45  # -
    )


@uncounted
def address_start(data: np.ndarray, begin: Integer, at: Integer, properties: np.ndarray) -> Integer:
    """Return the start of the local part before an ``@``; ``at`` if there is none."""
    start = at
    while start > begin:
        before = utf8.step_back(data, start, begin)
        point, _ = utf8.decode(data, before, at)
        if not _in_address(point, properties[point]) and point not in (37, 43, 46):  # % + .
            break
        start = before
    while start < at and data[start] in (37, 43, 45, 46):
        start += 1
    if start < at:
        point, _ = utf8.decode(data, start, at)
        if properties[point] & utf8.MARK:
            return at
    return start


@uncounted
def domain_end(data: np.ndarray, at: Integer, end: Integer, properties: np.ndarray) -> Integer:
    """Return the end of the domain after an ``@``; ``at`` if there is none.

    A domain has at least two labels; the last begins with a letter and has at least two characters.
    """
    here = at
    matched = at
    labels = 0
    while here < end:
        label = here
        points = 0
        letter_first = False
        while here < end:
            point, width = utf8.decode(data, here, end)
            if not _in_address(point, properties[point]):
                break
            if here == label:
                kind = properties[point] & utf8.CLASS
                letter_first = kind == utf8.LETTER or kind == utf8.HEBREW
            here += width
            points += 1
        if here == label:
            break
        labels += 1
        stop = here
        while stop > label and data[stop - 1] == 45:
            stop -= 1
            points -= 1
        if labels > 1 and letter_first and points > 1:
            matched = stop
        if here >= end or data[here] != 46:
            break
        here += 1
    return matched


@uncounted
def _is_digit(point: Integer, properties: np.ndarray) -> bool:
    bits = properties[point]
    return bits & utf8.CLASS == utf8.NUMERIC and bits & utf8.WORD != 0


@uncounted
def slash_in_number(
    data: np.ndarray, begin: Integer, at: Integer, end: Integer, properties: np.ndarray
) -> bool:
    """Tell whether the slash at a byte is between two digits, as in ``24/7`` or ``2018/19``."""
    if at == begin or at + 1 >= end:
        return False
    before, _ = utf8.decode(data, utf8.step_back(data, at, begin), at)
    after, _ = utf8.decode(data, at + 1, end)
    return _is_digit(before, properties) and _is_digit(after, properties)
