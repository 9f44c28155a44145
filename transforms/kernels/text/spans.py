"""Ranges of code points of texts: their bytes, slices, and replacement by a mask."""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.uncounted import uncounted


class FlatSpans(NamedTuple):
    """Half-open spans of several texts.

    Attributes:
        offsets: Start of each text's spans, int64 ``[text + 1]``.
        starts: First unit of each span, numbered within its text ``[span]``.
        ends: End of each span, exclusive ``[span]``.
    """

    offsets: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


@uncounted
def advance(data: np.ndarray, at: Integer, points: Integer) -> Integer:
    """Return the byte offset of the code point ``points`` code points after the one at ``at``."""
    end = len(data)
    while points > 0:
        at += 1
        while at < end and data[at] & 0xC0 == 0x80:
            at += 1
        points -= 1
    return at


@numba.njit(nogil=True, cache=True)
def token_bytes(
    data: np.ndarray,
    offsets: np.ndarray,
    token_offsets: np.ndarray,
    token_starts: np.ndarray,
    token_ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts and ends of tokens, in bytes of ``data``.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        token_offsets: Tokens of each text, int64 ``[text + 1]``; the first need not be 0.
        token_starts: Start of each token in code points, ascending and disjoint within a text,
            int32 ``[token]``.
        token_ends: End of each token, exclusive, int32 ``[token]``.

    Returns:
        int64 ``[token]`` twice.
    """
    starts = np.zeros(len(token_starts), np.int64)
    ends = np.zeros(len(token_starts), np.int64)
    for text in range(len(offsets) - 1):
        at = offsets[text]
        position = np.int64(0)
        for token in range(token_offsets[text], token_offsets[text + 1]):
            at = advance(data, at, np.int64(token_starts[token]) - position)
            starts[token] = at
            at = advance(data, at, np.int64(token_ends[token]) - np.int64(token_starts[token]))
            ends[token] = at
            position = np.int64(token_ends[token])
    return starts, ends


@uncounted
def same_bytes(
    data: np.ndarray, start: Integer, end: Integer, other: np.ndarray, at: Integer, stop: Integer
) -> bool:
    """Tell whether two ranges of bytes are equal."""
    if end - start != stop - at:
        return False
    for byte in range(end - start):  # noqa: SIM110 - Numba has no generators
        if data[start + byte] != other[at + byte]:
            return False
    return True


@numba.njit(nogil=True, cache=True)
def text_lengths(data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the number of code points of each text, int64 ``[text]``."""
    lengths = np.zeros(len(offsets) - 1, np.int64)
    for text in range(len(lengths)):
        lengths[text] = utf8.count_points(data, offsets[text], offsets[text + 1])
    return lengths


@numba.njit(nogil=True, cache=True)
def splice(
    data: np.ndarray,
    offsets: np.ndarray,
    row_text: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    mask: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Copy texts, each with one range replaced by a mask.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        row_text: The text of each row, int64 ``[row]``.
        starts: Start of the range of each row, in code points, int64 ``[row]``.
        ends: End of the range of each row, exclusive, int64 ``[row]``.
        mask: The replacement, uint8 ``[byte]``.

    Returns:
        UTF-8 of all rows uint8 ``[byte]``, and the start of each int64 ``[row + 1]``.
    """
    rows = len(row_text)
    cuts = np.empty((rows, 2), np.int64)
    out_offsets = np.zeros(rows + 1, np.int64)
    for row in range(rows):
        text = row_text[row]
        cuts[row, 0] = advance(data, offsets[text], starts[row])
        cuts[row, 1] = advance(data, cuts[row, 0], ends[row] - starts[row])
        length = offsets[text + 1] - offsets[text] - (cuts[row, 1] - cuts[row, 0]) + len(mask)
        out_offsets[row + 1] = out_offsets[row] + length
    out = np.empty(out_offsets[rows], np.uint8)
    for row in range(rows):
        text = row_text[row]
        to = out_offsets[row]
        head = cuts[row, 0] - offsets[text]
        out[to : to + head] = data[offsets[text] : cuts[row, 0]]
        out[to + head : to + head + len(mask)] = mask
        out[to + head + len(mask) : out_offsets[row + 1]] = data[cuts[row, 1] : offsets[text + 1]]
    return out, out_offsets


@numba.njit(nogil=True, cache=True)
def slices(
    data: np.ndarray,
    offsets: np.ndarray,
    row_text: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Copy a range of each text; arguments and result are those of `splice`."""
    rows = len(row_text)
    cuts = np.empty(rows, np.int64)
    out_offsets = np.zeros(rows + 1, np.int64)
    for row in range(rows):
        cuts[row] = advance(data, offsets[row_text[row]], starts[row])
        end = advance(data, cuts[row], ends[row] - starts[row])
        out_offsets[row + 1] = out_offsets[row] + end - cuts[row]
    out = np.empty(out_offsets[rows], np.uint8)
    for row in range(rows):
        length = out_offsets[row + 1] - out_offsets[row]
        out[out_offsets[row] : out_offsets[row + 1]] = data[cuts[row] : cuts[row] + length]
    return out, out_offsets


@numba.njit(nogil=True, cache=True)
def wordlike_tokens(
    data: np.ndarray, starts: np.ndarray, ends: np.ndarray, properties: np.ndarray
) -> np.ndarray:
    """Flag tokens that contain a letter or a digit.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        starts: First byte of each token (`token_bytes`), int64 ``[token]``.
        ends: End of each token, exclusive, int64 ``[token]``.
        properties: Properties of every code point, uint16
            (`transforms.text.codepoints.properties`).

    Returns:
        Booleans ``[token]``.
    """
    wordlike = np.zeros(len(starts), np.bool_)
    for token in range(len(starts)):
        at = starts[token]
        while at < ends[token]:
            point, width = utf8.decode(data, at, ends[token])
            if properties[point] & utf8.WORD:
                wordlike[token] = True
                break
            at += width
    return wordlike
