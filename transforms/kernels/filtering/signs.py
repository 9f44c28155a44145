"""Signs in texts: brackets by shape, and traces of a wrong encoding."""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text.utf8 import CAPITAL, decode

MOJIBAKE = 3
"""The row of `count_signs` for traces of a wrong encoding; earlier rows are for brackets."""


@numba.njit(nogil=True, cache=True)
def count_signs(data: np.ndarray, offsets: np.ndarray, properties: np.ndarray) -> np.ndarray:
    """Count brackets by shape, and traces of text decoded in a wrong encoding.

    Such traces are U+FFFD, C1 controls other than U+0085, and the typical results of decoding UTF-8
    as Latin-1 or windows-1252: one of ``Â Ã Ð Ñ`` before U+0080 to U+00BF, ``â`` before U+20AC,
    U+201A or U+201E. After two capital letters, as in ``IRMÃ »``, no-break spaces and angle quotes
    are legitimate.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Where each text begins, int64 ``[text + 1]``.
        properties: Properties of every code point, uint32
            (`transforms.text.codepoints.all_properties`).

    Returns:
        Round, square and curly brackets (ASCII and full-width), then traces, int64 ``[4, text]``.
    """
    texts = len(offsets) - 1
    counts = np.zeros((4, texts), np.int64)
    for text in range(texts):
        at = offsets[text]
        end = offsets[text + 1]
        last: Integer = 0
        second: Integer = 0
        third: Integer = 0
        while at < end:
            lead = data[at]
            if lead < 0x80:
                point: Integer = np.int64(lead)
                width: Integer = 1
            else:
                point, width = decode(data, at, end)
                if 0xFF08 <= point <= 0xFF5D:
                    point -= 0xFEE0
                elif _is_trace(last, point) and not (
                    _follows_word(point) and properties[second] & properties[third] & CAPITAL
                ):
                    counts[MOJIBAKE, text] += 1
            if point == 40 or point == 41:
                counts[0, text] += 1
            elif point == 91 or point == 93:
                counts[1, text] += 1
            elif point == 123 or point == 125:
                counts[2, text] += 1
            third = second
            second = last
            last = point
            at += width
    return counts


@numba.njit(nogil=True, cache=True)
def _follows_word(point: Integer) -> bool:
    """Tell whether a character is a no-break space or an angle quote, which may follow a word."""
    return point == 0xA0 or point == 0xAB or point == 0xBB


@numba.njit(nogil=True, cache=True)
def _is_trace(last: Integer, point: Integer) -> bool:
    """Tell whether a character after another one is a trace of a wrong encoding."""
    if point == 0xFFFD or (point < 0xA0 and point != 0x85):
        return True
    if point < 0xC0:
        return bool(0xC2 <= last <= 0xC3 or 0xD0 <= last <= 0xD1)
    return bool(last == 0xE2 and (point == 0x20AC or point == 0x201A or point == 0x201E))
