"""Numbers in texts: their ends, and hashes that are the same for equal numbers.

`pairweave.transforms.kernels.filtering.marks` defines numbers.
"""

import numba
import numpy as np

from pairweave.transforms.kernels.filtering.characters import OFFSET, PRIME
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text.utf8 import DIGIT, decode
from pairweave.transforms.kernels.uncounted import uncounted

GROUP = 3
"""Number of digits in each group after the first."""


@uncounted
def read_number(
    data: np.ndarray,
    at: Integer,
    end: Integer,
    properties: np.ndarray,
    before: Integer,
    last: Integer,
    digits: np.ndarray,
) -> tuple[Integer, np.uint64, Integer, bool]:
    """Read a number.

    Args:
        data: UTF-8.
        at: Its first byte.
        end: End of the text.
        properties: Properties of every code point.
        before: The mark between the previous number and this one; 0 if there is no number, or more
            than a mark between them.
        last: The mark before the last group of the previous number.
        digits: Receives the counts of each digit in the text, int32 ``[10]``.

    Returns:
        Its end, the hash of its digits, the mark before its last group, and whether it consists of
        zeros after a decimal mark.
    """
    stop, size, digest, short = _group(data, at, end, properties, OFFSET, digits)
    mark: Integer = 0
    only_zeros = digest != OFFSET and short == OFFSET
    while size <= GROUP and stop < end:
        point, width = decode(data, stop, end)
        if not _parts_groups(point) or (mark != 0 and point != mark):
            break
        if only_zeros and _is_decimal(point):
            break
        if _digits_from(data, stop + width, end, properties) != GROUP:
            break
        mark = point
        stop, _, digest, short = _group(data, stop + width, end, properties, digest, digits)
    if mark != 0:
        return stop, digest, mark, False
    if not _is_decimal(before) or before == last:
        return stop, digest, before, False
    if stop < end:
        point, width = decode(data, stop, end)
        if point == before and _digits_from(data, stop + width, end, properties) > 0:
            return stop, digest, before, False
    return stop, short, before, short == OFFSET


@uncounted
def _group(
    data: np.ndarray,
    at: Integer,
    end: Integer,
    properties: np.ndarray,
    digest: np.uint64,
    digits: np.ndarray,
) -> tuple[Integer, Integer, np.uint64, np.uint64]:
    """Return the end and number of digits, and their hash with and without trailing zeros.

    Args:
        data: UTF-8.
        at: The first digit.
        end: End of the text.
        properties: Properties of every code point.
        digest: The hash of the previous digits.
        digits: Receives the counts of each digit.
    """
    short = digest
    stop: Integer = at
    size: Integer = 0
    while stop < end:
        point, width = decode(data, stop, end)
        if not properties[point] & DIGIT:
            break
        value = point - zero_of(point, properties)
        digits[value] += 1
        digest = (digest ^ np.uint64(value + 48)) * PRIME
        if value != 0:
            short = digest
        size += 1
        stop += width
    return stop, size, digest, short


@uncounted
def _digits_from(data: np.ndarray, at: Integer, end: Integer, properties: np.ndarray) -> Integer:
    """Return the number of digits at a position, at most one more than `GROUP`."""
    place: Integer = at
    size: Integer = 0
    while place < end and size <= GROUP:
        point, width = decode(data, place, end)
        if not properties[point] & DIGIT:
            break
        size += 1
        place += width
    return size


@uncounted
def only_mark(data: np.ndarray, begin: Integer, end: Integer) -> Integer:
    """Return the mark between the end of a number and a position; 0 unless it is exactly one."""
    if begin < 0 or begin >= end:
        return 0
    point, width = decode(data, begin, end)
    return point if begin + width == end and _parts_groups(point) else 0


@numba.njit(nogil=True, cache=True)
def _is_decimal(point: Integer) -> bool:
    """Tell whether a mark may precede the decimals of a number."""
    return point == 0x2C or point == 0x2E or point == 0x66B


@numba.njit(nogil=True, cache=True)
def _parts_groups(point: Integer) -> bool:
    """Tell whether a mark may separate groups of digits."""
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


@uncounted
def zero_of(point: Integer, properties: np.ndarray) -> Integer:
    """Return the code point of zero in a digit's set of decimal digits.

    A set is contiguous, from 0 to 9 (Unicode Standard, 4.6); several sets may be adjacent, such as
    the mathematical digits.
    """
    if point < 0x80:
        return 48
    begin: Integer = point
    while properties[begin - 1] & DIGIT:
        begin -= 1
    return point - (point - begin) % 10
