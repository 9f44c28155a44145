"""Pharaoh format to and from flat arrays: ``i-j`` for each link, one line per pair."""

import numba
import numpy as np

from pairweave.transforms.kernels.uncounted import uncounted

MAX_INDEX = 32_766
"""The largest word index: the end of a half-open span must still fit 16 bits."""

_TAB, _NEWLINE, _RETURN, _BLANK = 9, 10, 13, 32
_HYPHEN, _ZERO, _COLON, _POSSIBLE = 45, 48, 58, 112
_ONE = np.uint64(1)


@numba.njit(nogil=True, cache=True)
def parse(
    data: np.ndarray, allow_possible: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Read whole lines of links.

    Links are separated by blanks or tabs; lines end with LF or CR LF and may be empty.

    Args:
        data: Text, uint8 ``[byte]``; the last line may lack its line break.
        allow_possible: Whether ``ipj`` is also a link, 0 or 1.

    Returns:
        Start of each line's links, int64 ``[line + 1]``; source and target words, int16
        ``[link]``; whether a link is written with ``p``, bool ``[link]``; and the start of
        the first token that is not a link or has an index over `MAX_INDEX`, or -1. The arrays
        contain the links before that token, and its line is the last.
    """
    lines = 1
    most = 0
    for byte in data:
        lines += byte == _NEWLINE
        most += (byte == _HYPHEN) | (byte == _POSSIBLE)
    offsets = np.zeros(lines + 1, np.int64)
    source = np.empty(most, np.int16)
    target = np.empty(most, np.int16)
    possible = np.empty(most, np.bool_)
    line = 0
    link = 0
    token = 0  # its start
    value = np.int64(0)
    digits = 0
    row = np.int64(-1)  # the source word, after its hyphen
    mark = np.int64(_HYPHEN)
    bad = -1
    for position in range(len(data) + 1):
        byte = np.int64(data[position]) if position < len(data) else np.int64(_BLANK)
        digit = byte - _ZERO
        if 0 <= digit <= 9:
            value = value * 10 + digit
            digits += 1
            if value > MAX_INDEX:
                bad = token
                break
        elif byte == _HYPHEN or (byte == _POSSIBLE and allow_possible):
            if digits == 0 or row >= 0:
                bad = token
                break
            row, mark = value, byte
            value, digits = np.int64(0), 0
        elif byte in (_BLANK, _NEWLINE, _TAB) or (
            byte == _RETURN and (position + 1 == len(data) or data[position + 1] == _NEWLINE)
        ):
            if (digits > 0) != (row >= 0):
                bad = token
                break
            if digits:
                source[link] = row
                target[link] = value
                possible[link] = mark == _POSSIBLE
                link += 1
                value, digits, row = np.int64(0), 0, np.int64(-1)
            if byte == _NEWLINE:
                line += 1
                offsets[line] = link
            token = position + 1
        else:
            bad = token
            break
    if bad >= 0 or (len(data) > 0 and data[-1] != _NEWLINE):
        line += 1
        offsets[line] = link
    return offsets[: line + 1], source[:link], target[:link], possible[:link], bad


@uncounted
def _write_number(out: np.ndarray, position: np.uint64, value: int, end: int) -> np.uint64:
    """Write a number of at most five digits and the byte after it; return their end."""
    rest = np.uint32(value)
    ten = np.uint32(10)
    if rest < 100:
        # Branchless: whether there are two digits is hard to predict.
        tens = rest // ten
        out[position] = _ZERO + tens
        position += np.uint64(tens != 0)
        out[position] = _ZERO + (rest - tens * ten)
        position += _ONE
    else:
        position += np.uint64(3 + (rest >= 1000) + (rest >= 10000))
        at = position
        while rest > 0:
            at -= _ONE
            out[at] = _ZERO + rest % ten
            rest //= ten
    out[position] = end
    return position + _ONE


@numba.njit(nogil=True, cache=True)
def format_links(
    offsets: np.ndarray, source: np.ndarray, target: np.ndarray, end_lines: int
) -> tuple[np.ndarray, np.ndarray]:
    """Write links in Pharaoh format.

    Args:
        offsets: Start of each pair's links, int64 ``[pair + 1]``.
        source: Source words, int16 ``[link]``.
        target: Target words, the same.
        end_lines: Whether LF ends each pair's text, 0 or 1.

    Returns:
        Text, uint8 ``[byte]``, and the start of each pair's text, int64 ``[pair + 1]``.
    """
    pairs = len(offsets) - 1
    starts = np.zeros(pairs + 1, np.int64)
    out = np.empty(pairs + 12 * (offsets[pairs] - offsets[0]), np.uint8)
    position = np.uint64(0)
    for pair in range(pairs):
        for link in range(offsets[pair], offsets[pair + 1]):
            position = _write_number(out, position, source[link], _HYPHEN)
            position = _write_number(out, position, target[link], _BLANK)
        if offsets[pair + 1] > offsets[pair]:
            position -= _ONE
        if end_lines:
            out[position] = _NEWLINE
            position += _ONE
        starts[pair + 1] = position
    return out[: np.int64(position)], starts


@numba.njit(nogil=True, cache=True)
def format_phrases(
    offsets: np.ndarray,
    source_start: np.ndarray,
    source_end: np.ndarray,
    target_start: np.ndarray,
    target_end: np.ndarray,
) -> np.ndarray:
    """Write phrase pairs as ``i1-i2:j1-j2``, with inclusive ends.

    Args:
        offsets: Start of each pair's phrase pairs, int64 ``[pair + 1]``.
        source_start: First source word, int16 ``[phrase]``.
        source_end: The word after the last source word.
        target_start: First target word.
        target_end: The word after the last target word.

    Returns:
        Text, uint8 ``[byte]``: a line for each pair, ended by LF.
    """
    pairs = len(offsets) - 1
    out = np.empty(pairs + 24 * (offsets[pairs] - offsets[0]), np.uint8)
    position = np.uint64(0)
    for pair in range(pairs):
        for phrase in range(offsets[pair], offsets[pair + 1]):
            position = _write_number(out, position, source_start[phrase], _HYPHEN)
            position = _write_number(out, position, source_end[phrase] - 1, _COLON)
            position = _write_number(out, position, target_start[phrase], _HYPHEN)
            position = _write_number(out, position, target_end[phrase] - 1, _BLANK)
        if offsets[pair + 1] > offsets[pair]:
            position -= _ONE
        out[position] = _NEWLINE
        position += _ONE
    return out[: np.int64(position)]
