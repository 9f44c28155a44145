"""Find indexed tags in UTF-8 text, and replace them with other symbols."""

import numba
import numpy as np

from pairweave.transforms.indexed_tag import MAX_DIGITS, PREFIX
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.tags.tag_names import CLOSE, EMPTY, KINDS, OPEN
from pairweave.transforms.kernels.text.spans import FlatSpans
from pairweave.transforms.kernels.text.utf8 import FlatTexts
from pairweave.transforms.kernels.uncounted import uncounted

_BEGIN, _SLASH, _LETTER, _LINE, _END = f"</{PREFIX}>".encode()


@uncounted
def _read(data: np.ndarray, at: Integer, end: Integer) -> tuple[Integer, Integer]:
    """Return the end of the tag at a place, and the tag; (-1, -1) if there is none."""
    closes = at + 1 < end and data[at + 1] == _SLASH
    name = at + 1 + closes
    if name + 2 >= end or data[name] != _LETTER or data[name + 1] != _LINE:
        return -1, -1
    place = name + 2
    number: Integer = 0
    while place < end and 48 <= data[place] <= 57 and place - name - 2 < MAX_DIGITS:
        number = 10 * number + np.int64(data[place]) - 48
        place += 1
    if place == name + 2:
        return -1, -1
    empty = place < end and data[place] == _SLASH
    place += empty
    if place >= end or data[place] != _END or (closes and empty):
        return -1, -1
    return place + 1, KINDS * number + (CLOSE if closes else EMPTY if empty else OPEN)


@numba.njit(nogil=True, cache=True)
def find_tags(
    data: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Find ``<a_0>``, ``</a_0>`` and ``<a_0/>``, numbers of up to `MAX_DIGITS` digits.

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``.

    Returns:
        Start of each text's tags, int64 ``[text + 1]``; for each tag its first byte, the byte
        after it, and its number (`transforms.kernels.tags.tag_names`), int64 ``[tag]``.
    """
    texts = len(offsets) - 1
    begins = np.zeros(texts + 1, np.int64)
    size = np.int64(64)
    tags = np.empty((3, size), np.int64)
    count = np.int64(0)
    for text in range(texts):
        at, end = offsets[text], offsets[text + 1]
        while at < end:
            stop: Integer = -1
            if data[at] == _BEGIN:
                stop, tag = _read(data, at, end)
            if stop < 0:
                at += 1
                continue
            if count == size:
                larger = np.empty((3, 2 * size), np.int64)
                larger[:, :size] = tags
                tags = larger
                size *= 2
            tags[0, count] = at
            tags[1, count] = stop
            tags[2, count] = tag
            count += 1
            at = stop
        begins[text + 1] = count
    return begins, tags[0, :count].copy(), tags[1, :count].copy(), tags[2, :count].copy()


@numba.njit(nogil=True, cache=True)
def replace_tags(
    texts_with_tags: FlatTexts,
    tags: FlatSpans,
    symbols: np.ndarray,
    names: FlatTexts,
    parted: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Copy texts and replace their tags with symbols.

    Args:
        texts_with_tags: The texts.
        tags: The tags of each text, in bytes of all texts, from `find_tags`.
        symbols: The symbol of each tag, int64 ``[tag]``.
        names: Text of each symbol.
        parted: Bytes before which an underscore is written after a symbol, bool ``[256]``.

    Returns:
        UTF-8 of all texts uint8 ``[byte]``, and the start of each int64 ``[text + 1]``.
    """
    data, offsets = texts_with_tags
    begins, starts, ends = tags
    symbol_data, symbol_offsets = names
    texts = len(offsets) - 1
    length = offsets[texts] - offsets[0]
    for tag in range(len(starts)):
        size = symbol_offsets[symbols[tag] + 1] - symbol_offsets[symbols[tag]]
        length += size + 1 - (ends[tag] - starts[tag])
    out = np.empty(length, np.uint8)
    out_offsets = np.zeros(texts + 1, np.int64)
    to = 0
    for text in range(texts):
        at = offsets[text]
        for tag in range(begins[text], begins[text + 1]):
            for place in range(at, starts[tag]):
                out[to] = data[place]
                to += 1
            at = ends[tag]
            for place in range(symbol_offsets[symbols[tag]], symbol_offsets[symbols[tag] + 1]):
                out[to] = symbol_data[place]
                to += 1
            joined = tag + 1 < begins[text + 1] and starts[tag + 1] == at
            if not joined and at < offsets[text + 1] and parted[data[at]]:
                out[to] = 95  # _
                to += 1
        for place in range(at, offsets[text + 1]):
            out[to] = data[place]
            to += 1
        out_offsets[text + 1] = to
    return out[:to].copy(), out_offsets
