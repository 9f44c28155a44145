"""Numbers in texts: where they end, and what equal ones have in common.

`pairweave.transforms.kernels.filtering.marks` says what a number is.
"""

import numba
import numpy as np

from pairweave.transforms.kernels.filtering.characters import DIGIT
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text.utf8 import decode

GROUP = 3
"""Digits of a group behind the first one."""

OFFSET = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
"""Of the 64-bit FNV-1a hash (Fowler, Noll and Vo)."""


@numba.njit(nogil=True, cache=True)
def read_number(
    data: np.ndarray,
    at: Integer,
    end: Integer,
    classes: np.ndarray,
    before: Integer,
    last: Integer,
    digits: np.ndarray,
) -> tuple[Integer, np.uint64, Integer, bool]:
    """Read a number.

    Args:
        data: UTF-8.
        at: Its first byte.
        end: Of the text.
        classes: Of every code point.
        before: The mark between the number before and this one, 0 if there is more or no number.
        last: The mark before the last group of that number.
        digits: Receives how often each digit stands in the text, int32 ``[10]``.

    Returns:
        Where it ends, the hash of its digits, the mark before its last group, and whether it
        consists of zeros behind a decimal mark.
    """
    stop, size, digest, short = _group(data, at, end, classes, OFFSET, digits)
    mark: Integer = 0
    while size <= GROUP and stop < end:
        point, width = decode(data, stop, end)
        if not _parts_groups(point) or (mark != 0 and point != mark):
            break
        if _digits_from(data, stop + width, end, classes) != GROUP:
            break
        mark = point
        stop, _, digest, short = _group(data, stop + width, end, classes, digest, digits)
    if mark != 0:
        return stop, digest, mark, False
    if not _is_decimal(before) or before == last:
        return stop, digest, before, False
    if stop < end:
        point, width = decode(data, stop, end)
        if point == before and _digits_from(data, stop + width, end, classes) > 0:
            return stop, digest, before, False
    return stop, short, before, short == OFFSET


@numba.njit(nogil=True, cache=True)
def _group(
    data: np.ndarray,
    at: Integer,
    end: Integer,
    classes: np.ndarray,
    digest: np.uint64,
    digits: np.ndarray,
) -> tuple[Integer, Integer, np.uint64, np.uint64]:
    """Return where digits end, how many they are, and the hash with and without zeros at the end.

    Args:
        data: UTF-8.
        at: The first digit.
        end: Of the text.
        classes: Of every code point.
        digest: The hash of the digits before.
        digits: Receives how often each digit stands there.
    """
    short = digest
    stop: Integer = at
    size: Integer = 0
    while stop < end:
        point, width = decode(data, stop, end)
        if not classes[point] & DIGIT:
            break
        value = point - _zero_of(point, classes)
        digits[value] += 1
        digest = (digest ^ np.uint64(value + 48)) * PRIME
        if value != 0:
            short = digest
        size += 1
        stop += width
    return stop, size, digest, short


@numba.njit(nogil=True, cache=True)
def _digits_from(data: np.ndarray, at: Integer, end: Integer, classes: np.ndarray) -> Integer:
    """Return how many digits stand at a place, at most one more than `GROUP`."""
    place: Integer = at
    size: Integer = 0
    while place < end and size <= GROUP:
        point, width = decode(data, place, end)
        if not classes[point] & DIGIT:
            break
        size += 1
        place += width
    return size


@numba.njit(nogil=True, cache=True)
def only_mark(data: np.ndarray, begin: Integer, end: Integer) -> Integer:
    """Return the mark that alone stands between the end of a number and a place; 0 if none does."""
    if begin < 0 or begin >= end:
        return 0
    point, width = decode(data, begin, end)
    return point if begin + width == end and _parts_groups(point) else 0


@numba.njit(nogil=True, cache=True)
def _is_decimal(point: Integer) -> bool:
    """Tell whether a mark may stand before the decimals of a number."""
    return point == 0x2C or point == 0x2E or point == 0x66B


@numba.njit(nogil=True, cache=True)
def _parts_groups(point: Integer) -> bool:
    """Tell whether a mark may stand between groups of digits."""
    return (
        point == 0x20
        or point == 0x2C
        or point == 0x2E
        or point == 0x27
        or point == 0x2019
        or point == 0xA0
        or point == 0x202F
        or point == 0x2009
        or point == 0x66B
        or point == 0x66C
    )


@numba.njit(nogil=True, cache=True)
def _zero_of(point: Integer, classes: np.ndarray) -> Integer:
    """Return the zero of a decimal digit's ten.

    Decimal digits are contiguous, from 0 to 9 (Unicode Standard, 4.6); several tens may stand one
    behind the other, as the mathematical ones do.
    """
    if point < 0x80:
        return 48
    begin: Integer = point
    while classes[begin - 1] & DIGIT:
        begin -= 1
    return point - (point - begin) % 10
