"""SentencePiece's encoded texts, as ranges of code points of the original text."""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.kernels.uncounted import uncounted


@uncounted
def _varint(data: np.ndarray, at: Integer) -> tuple[Integer, Integer]:
    """Return an unsigned number of Protocol Buffers, and its end."""
    value = np.int64(0)
    shift = 0
    while True:
        byte = np.int64(data[at])
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


@uncounted
def _skip_field(data: np.ndarray, at: Integer, wire: Integer) -> Integer:
    """Return the end of a field's value, by its wire type."""
    if wire == 0:
        _, at = _varint(data, at)
        return at
    if wire == 1:
        return at + 8
    if wire == 2:
        length, at = _varint(data, at)
        return at + length
    return at + 4


@uncounted
def _surface(data: np.ndarray, at: Integer, end: Integer) -> tuple[Integer, Integer]:
    """Return begin (field 4) and end (field 5) of one piece, in bytes of its text."""
    first: Integer = np.int64(0)
    last: Integer = np.int64(0)
    while at < end:
        key, at = _varint(data, at)
        if key == 4 << 3:
            first, at = _varint(data, at)
        elif key == 5 << 3:
            last, at = _varint(data, at)
        else:
            at = _skip_field(data, at, key & 7)
    return first, last


@numba.njit(nogil=True, cache=True)
def find_pieces(
    messages: np.ndarray,
    message_offsets: np.ndarray,
    data: np.ndarray,
    offsets: np.ndarray,
    properties: np.ndarray,
    marks_end_words: Integer,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read the spans of pieces from serialized ``SentencePieceText`` messages.

    White space at the ends of a piece is left out. The span of a lone word mark is empty. If one
    character has several pieces, the last spans the character and the others are empty.

    Args:
        messages: The messages of all texts, concatenated, uint8 ``[byte]``.
        message_offsets: Start of each message, int64 ``[text + 1]``.
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.
        properties: Properties of every code point, uint16
            (`transforms.text.codepoints.properties`).
        marks_end_words: Whether word marks end words (treat_whitespace_as_suffix). The empty span
            of a lone mark is then before the white space instead of after it.

    Returns:
        Start of each text's pieces, int64 ``[text + 1]``, and the pieces' starts and ends in
        code points of their text, int32 ``[piece]``: ascending and disjoint.
    """
    texts = len(offsets) - 1
    piece_offsets = np.zeros(texts + 1, np.int64)
    limit = len(messages) // 2  # a piece takes at least two bytes of its message
    starts = np.empty(limit, np.int32)
    ends = np.empty(limit, np.int32)
    pieces = 0
    for text in range(texts):
        begin = offsets[text]
        stop = offsets[text + 1]
        walked = begin  # first byte of code point `position`
        position = 0
        at = message_offsets[text]
        message_end = message_offsets[text + 1]
        while at < message_end:
            key, at = _varint(messages, at)
            if key != (2 << 3 | 2):
                at = _skip_field(messages, at, key & 7)
                continue
            length, at = _varint(messages, at)
            first, last = _surface(messages, at, at + length)
            at += length
            first = min(max(begin + first, walked), stop)
            last = max(min(begin + last, stop), first)
            raw = first
            while first < last:
                point, width = utf8.decode(data, first, last)
                if not properties[point] & utf8.WHITE:
                    break
                first += width
            while first < last:
                before = utf8.step_back(data, last, first)
                point, _ = utf8.decode(data, before, last)
                if not properties[point] & utf8.WHITE:
                    break
                last = before
            if first == last and marks_end_words:
                first = last = raw
            position += utf8.count_points(data, walked, first)
            starts[pieces] = position
            position += utf8.count_points(data, first, last)
            ends[pieces] = position
            pieces += 1
            walked = last
        piece_offsets[text + 1] = pieces
    return piece_offsets, starts[:pieces].copy(), ends[:pieces].copy()
