"""Pharaoh text to and from flat arrays: ``i-j`` for each link, one line for each pair."""

import numba
import numpy as np

MAX_INDEX = 32_766
"""The largest word index: the end of a half-open span must still fit 16 bits."""

_TAB, _NEWLINE, _RETURN, _BLANK = 9, 10, 13, 32
_HYPHEN, _ZERO, _NINE, _COLON, _POSSIBLE = 45, 48, 57, 58, 112


@numba.njit(nogil=True, cache=True)
def _ends_token(data: np.ndarray, position: int) -> bool:
    if position >= len(data):
        return True
    byte = data[position]
    if byte == _RETURN:
        return position + 1 >= len(data) or data[position + 1] == _NEWLINE
    return byte in (_BLANK, _NEWLINE, _TAB)


@numba.njit(nogil=True, cache=True)
def _read_number(data: np.ndarray, position: int) -> tuple[int, int]:
    """Return the number that starts here and where it ends; -1 if none or one out of range."""
    value = 0
    start = position
    while position < len(data) and _ZERO <= data[position] <= _NINE:
        value = value * 10 + data[position] - _ZERO
        if value > MAX_INDEX:
            return -1, position
        position += 1
    return (value if position > start else -1), position


@numba.njit(nogil=True, cache=True)
def parse(
    data: np.ndarray, allow_possible: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Read whole lines of links.

    Links are parted by blanks or tabs; lines end with LF or CR LF and may be empty.

    Args:
        data: Text, uint8 ``[byte]``; a last line without its end counts.
        allow_possible: Whether ``ipj`` is a link too, 0 or 1.

    Returns:
        Where each line's links start, int64 ``[line + 1]``; source and target words, int16
        ``[link]``; whether a link is written with ``p``, bool ``[link]``; and where the first
        token starts that is no link or has an index over `MAX_INDEX`, or -1. Up to that token
        the arrays are right, with its line as the last.
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
    position = 0
    bad = -1
    while position < len(data):
        if data[position] == _NEWLINE:
            line += 1
            offsets[line] = link
        elif not _ends_token(data, position):
            row, middle = _read_number(data, position)
            mark = data[middle] if middle < len(data) else np.uint8(0)
            column, end = _read_number(data, middle + 1)
            good = mark == _HYPHEN or (mark == _POSSIBLE and allow_possible)
            if not good or row < 0 or column < 0 or not _ends_token(data, end):
                bad = position
                break
            source[link] = row
            target[link] = column
            possible[link] = mark == _POSSIBLE
            link += 1
            position = end
            continue
        position += 1
    if bad >= 0 or (len(data) > 0 and data[-1] != _NEWLINE):
        line += 1
        offsets[line] = link
    return offsets[: line + 1], source[:link], target[:link], possible[:link], bad


@numba.njit(nogil=True, cache=True)
def _write_number(out: np.ndarray, position: int, value: int) -> int:
    """Write a number of at most five digits; return where it ends."""
    digits = 1 + (value >= 10) + (value >= 100) + (value >= 1000) + (value >= 10000)
    end = position + digits
    at = end
    while at > position:
        at -= 1
        out[at] = _ZERO + value % 10
        value //= 10
    return end


@numba.njit(nogil=True, cache=True)
def format_links(
    offsets: np.ndarray, source: np.ndarray, target: np.ndarray, end_lines: int
) -> tuple[np.ndarray, np.ndarray]:
    """Write links as Pharaoh text.

    Args:
        offsets: Where each pair's links start, int64 ``[pair + 1]``.
        source: Source words, int16 ``[link]``.
        target: Target words, the same.
        end_lines: Whether LF ends each pair's text, 0 or 1.

    Returns:
        Text, uint8 ``[byte]``, and where each pair's text starts, int64 ``[pair + 1]``.
    """
    pairs = len(offsets) - 1
    starts = np.zeros(pairs + 1, np.int64)
    out = np.empty(pairs + 12 * (offsets[pairs] - offsets[0]), np.uint8)
    position = 0
    for pair in range(pairs):
        for link in range(offsets[pair], offsets[pair + 1]):
            if link > offsets[pair]:
                out[position] = _BLANK
                position += 1
            position = _write_number(out, position, int(source[link]))
            out[position] = _HYPHEN
            position = _write_number(out, position + 1, int(target[link]))
        if end_lines:
            out[position] = _NEWLINE
            position += 1
        starts[pair + 1] = position
    return out[:position], starts


@numba.njit(nogil=True, cache=True)
def format_phrases(
    offsets: np.ndarray,
    source_start: np.ndarray,
    source_end: np.ndarray,
    target_start: np.ndarray,
    target_end: np.ndarray,
) -> np.ndarray:
    """Write phrase pairs as ``i1-i2:j1-j2``, ends included.

    Args:
        offsets: Where each pair's phrase pairs start, int64 ``[pair + 1]``.
        source_start: First source word, int16 ``[phrase]``.
        source_end: The word after the last source word.
        target_start: First target word.
        target_end: The word after the last target word.

    Returns:
        Text, uint8 ``[byte]``: a line for each pair, ended by LF.
    """
    pairs = len(offsets) - 1
    out = np.empty(pairs + 24 * (offsets[pairs] - offsets[0]), np.uint8)
    position = 0
    for pair in range(pairs):
        for phrase in range(offsets[pair], offsets[pair + 1]):
            if phrase > offsets[pair]:
                out[position] = _BLANK
                position += 1
            position = _write_number(out, position, int(source_start[phrase]))
            out[position] = _HYPHEN
            position = _write_number(out, position + 1, int(source_end[phrase]) - 1)
            out[position] = _COLON
            position = _write_number(out, position + 1, int(target_start[phrase]))
            out[position] = _HYPHEN
            position = _write_number(out, position + 1, int(target_end[phrase]) - 1)
        out[position] = _NEWLINE
        position += 1
    return out[:position]
