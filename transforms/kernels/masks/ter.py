"""Translation edit rate: the cheapest edits found from one sentence to another, with shifts.

Source: Snover, Dorr, Schwartz, Micciulla and Makhoul (2006): insertions, deletions, substitutions
and shifts of word sequences cost 1 each; shifts are searched greedily, as in section 2. The limits,
the ranking of shifts and the beam around the diagonal are those of sacreBLEU 2 (`TER`), so that
edits, shifts and the path are the same on the same words.

A candidate shift changes only a segment of the sentence. Its cost is the minimum, over the row
of the edit distance at the end of the segment, of that row plus the cost of the rest, which is
computed once, backwards.
"""

import math
from typing import NamedTuple

import numba
import numpy as np

MAX_SHIFTED = 10
"""Maximum length of a shifted sequence, in words (sacreBLEU 2, as Tercom)."""

FARTHEST = 50
"""Maximum distance between the places of a shifted sequence in both sentences (sacreBLEU 2)."""

BEAM = 25
"""Cells of the edit distance on each side of the diagonal (sacreBLEU 2)."""

MAX_CANDIDATES = 1000
"""Maximum number of shifts tried in a pair (sacreBLEU 2). A round that reaches it makes none."""

_FAR = np.int32(1 << 29)
"""The cost of cells outside the beam."""


class Rows(NamedTuple):
    """The cells of the edit distance that are in the beam.

    Cell ``j`` of row ``i`` is the cost of editing the first ``i`` words into ``j`` other words.

    Attributes:
        low: First cell of each row, int64 ``[row]``.
        high: End of each row, exclusive, int64 ``[row]``.
        begins: Start of each row's cells among those of all rows, int64 ``[row + 1]``.
    """

    low: np.ndarray
    high: np.ndarray
    begins: np.ndarray


class _Costs(NamedTuple):
    """Edit distances at the cells in the beam.

    Attributes:
        prefixes: Cost of the beginnings of both sentences, up to the cell, int32 ``[cell]``
            (`_fill_prefixes`).
        suffixes: Cost of the ends of both sentences, after the cell, int32 ``[cell]``
            (`_fill_suffixes`).
    """

    prefixes: np.ndarray
    suffixes: np.ndarray


@numba.njit(nogil=True, cache=True)
def align_pairs(
    source_offsets: np.ndarray,
    source: np.ndarray,
    target_offsets: np.ndarray,
    target: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edit each source into its target.

    Args:
        source_offsets: Start of each pair's source words ``[pair + 1]``.
        source: Numbers or hashes of the words, equal for equal words, uint64 ``[source word]``.
        target_offsets: Start of each pair's target words ``[pair + 1]``.
        target: The same for the target.

    Returns:
        Edits of each pair, including shifts, and shifts alone, int32 ``[pair]``; and the target
        word, numbered within its pair, that each source word is kept as or replaced by, -1 for a
        deleted one, int32 ``[source word]`` from ``source_offsets[0]``.
    """
    pairs = len(source_offsets) - 1
    edits = np.zeros(pairs, dtype=np.int32)
    shifts = np.zeros(pairs, dtype=np.int32)
    partners = np.full(source_offsets[-1] - source_offsets[0], -1, dtype=np.int32)
    for pair in range(pairs):
        first, last = source_offsets[pair], source_offsets[pair + 1]
        others = target[target_offsets[pair] : target_offsets[pair + 1]]
        if first == last or len(others) == 0:
            edits[pair] = last - first + len(others)
            continue
        edits[pair], shifts[pair] = _edit(
            source[first:last].copy(),
            others,
            partners[first - source_offsets[0] : last - source_offsets[0]],
        )
    return edits, shifts, partners


@numba.njit(nogil=True, cache=True)
def _edit(words: np.ndarray, others: np.ndarray, partners: np.ndarray) -> tuple[int, int]:
    """Edit one sentence into another; neither is empty.

    Args:
        words: The sentence; reordered in place.
        others: The other.
        partners: Receives the other word of each word, -1 for a deleted one, int32 ``[word]``.

    Returns:
        Edits, including shifts, and shifts alone.
    """
    rows = _beam(len(words), len(others))
    prefixes = np.empty(rows.begins[-1], dtype=np.int32)
    suffixes = np.empty(rows.begins[-1], dtype=np.int32)
    costs = _Costs(prefixes, suffixes)
    line = np.empty(len(others) + 1, dtype=np.int32)
    places = np.arange(len(words))
    path = np.empty(len(words), dtype=np.int32)
    insertions = np.empty(len(others), dtype=np.int32)
    shifts = 0
    tried = 0
    while True:
        _fill_prefixes(words, others, rows, line, prefixes)
        cost = prefixes[rows.begins[-1] - 1]
        _trace(words, others, rows, prefixes, path, insertions)
        if cost == 0:
            break
        _fill_suffixes(words, others, rows, suffixes)
        gain, start, middle, end, tried = _best_shift(
            words, others, rows, line, costs, path, insertions, tried
        )
        if tried >= MAX_CANDIDATES or gain <= 0:
            break
        _swap(words, start, middle, end)
        _swap(places, start, middle, end)
        shifts += 1
    for place in range(len(words)):
        partners[places[place]] = path[place]
    return cost + shifts, shifts


@numba.njit(nogil=True, cache=True)
def _beam(words: int, others: int) -> Rows:
    """Return the cells of the edit distance in the beam."""
    low = np.zeros(words + 1, dtype=np.int64)
    high = np.full(words + 1, others + 1, dtype=np.int64)
    slope = others / words
    width = BEAM
    if slope / 2 > BEAM:  # or rows would not overlap
        width = math.ceil(slope / 2 + BEAM)
    for row in range(1, words + 1):
        diagonal = math.floor(row * slope)
        low[row] = max(0, diagonal - width)
        if row < words:
            high[row] = min(others + 1, diagonal + width)
    begins = np.zeros(len(low) + 1, dtype=np.int64)
    begins[1:] = np.cumsum(high - low)
    return Rows(low, high, begins)


@numba.njit(nogil=True, cache=True)
def _advance(
    line: np.ndarray,
    word: np.uint64,
    others: np.ndarray,
    last_high: int,
    low: int,
    high: int,
) -> None:
    """Turn one row of the edit distance into the next, in place.

    Args:
        line: The row; `_FAR` outside its beam, int32 ``[other + 1]``.
        word: The word of the next row.
        others: The other sentence.
        last_high: End of the row, exclusive.
        low: First cell of the next row.
        high: End of the next row, exclusive.
    """
    corner = line[low - 1] if low > 0 else _FAR
    left = _FAR
    for at in range(low, high):
        above = line[at]
        best = min(left, above) + np.int32(1)
        if at > 0:
            best = min(best, corner + np.int32(word != others[at - 1]))
        corner = above
        line[at] = best
        left = best
    # Clear cells that left the beam: the row after the next reads no earlier ones.
    if low > 0:
        line[low - 1] = _FAR
    for at in range(high, last_high):
        line[at] = _FAR


@numba.njit(nogil=True, cache=True)
def _fill_prefixes(
    words: np.ndarray,
    others: np.ndarray,
    rows: Rows,
    line: np.ndarray,
    prefixes: np.ndarray,
) -> None:
    """Compute the cost of the beginnings of both sentences.

    Args:
        words: The sentence.
        others: The other.
        rows: Their cells in the beam.
        line: Scratch.
        prefixes: Receives the cells of all rows.
    """
    low, high, begins = rows
    for at in range(len(line)):
        line[at] = at
    prefixes[: len(line)] = line
    for row in range(1, len(words) + 1):
        _advance(line, words[row - 1], others, high[row - 1], low[row], high[row])
        prefixes[begins[row] : begins[row + 1]] = line[low[row] : high[row]]


@numba.njit(nogil=True, cache=True)
def _fill_suffixes(
    words: np.ndarray,
    others: np.ndarray,
    rows: Rows,
    suffixes: np.ndarray,
) -> None:
    """Compute the cost of the ends of both sentences after each cell; see `_fill_prefixes`."""
    low, high, begins = rows
    row = len(words)
    for at in range(low[row], high[row]):
        suffixes[begins[row] + at - low[row]] = len(others) - at
    for row in range(len(words) - 1, 0, -1):
        below = begins[row + 1] - low[row + 1]
        right = _FAR
        for at in range(high[row] - 1, low[row] - 1, -1):
            best = right
            if low[row + 1] <= at:
                best = min(best, suffixes[below + at])
            best += np.int32(1)
            if low[row + 1] <= at + 1 < high[row + 1]:
                best = min(best, suffixes[below + at + 1] + np.int32(words[row] != others[at]))
            suffixes[begins[row] + at - low[row]] = best
            right = best


@numba.njit(nogil=True, cache=True)
def _trace(
    words: np.ndarray,
    others: np.ndarray,
    rows: Rows,
    prefixes: np.ndarray,
    path: np.ndarray,
    before: np.ndarray,
) -> None:
    """Follow the cheapest path back; it prefers keeping and replacing, then deleting.

    Args:
        words: The sentence.
        others: The other.
        rows: Their cells in the beam.
        prefixes: From `_fill_prefixes`.
        path: Receives the other word of each word, -1 for none.
        before: Receives for each other word the word that it replaces or is inserted after, -1 for
            the beginning.
    """
    low, high, begins = rows
    row, at = len(words), len(others)
    path[:] = -1
    while row > 0 or at > 0:
        cost = prefixes[begins[row] + at - low[row]]
        if row > 0:
            above = begins[row - 1] - low[row - 1]
            if at > 0 and low[row - 1] < at <= high[row - 1]:
                differ = np.int32(words[row - 1] != others[at - 1])
                if cost == prefixes[above + at - 1] + differ:
                    row -= 1
                    at -= 1
                    path[row] = at
                    before[at] = row
                    continue
            if low[row - 1] <= at < high[row - 1] and cost == prefixes[above + at] + 1:
                row -= 1
                continue
        at -= 1
        before[at] = row - 1


@numba.njit(nogil=True, cache=True)
def _best_shift(
    words: np.ndarray,
    others: np.ndarray,
    rows: Rows,
    line: np.ndarray,
    costs: _Costs,
    path: np.ndarray,
    before: np.ndarray,
    tried: int,
) -> tuple[int, int, int, int, int]:
    """Find the shift that saves the most.

    Ties go to the longest, then to the one of the first words, then to the one with the first goal.

    Args:
        words: The sentence.
        others: The other.
        rows: Their cells in the beam.
        line: Scratch.
        costs: Their edit distances.
        path: From `_trace`.
        before: From `_trace`.
        tried: Number of shifts tried so far.

    Returns:
        The saving of the shift; the two adjacent sequences that it swaps, as three bounds; and the
        number of shifts tried so far.
    """
    cost = int(costs.prefixes[rows.begins[-1] - 1])
    best = (-int(_FAR), 0, 0, 0)
    bounds = (0, 0, 0)
    for start in range(len(words)):
        for goal in range(max(0, start - FARTHEST), min(len(others), start + FARTHEST + 1)):
            length = 0
            wrong = False
            missing = False
            while (
                length < MAX_SHIFTED
                and start + length < len(words)
                and goal + length < len(others)
                and words[start + length] == others[goal + length]
            ):
                wrong |= path[start + length] < 0 or (
                    words[start + length] != others[path[start + length]]
                )
                # Another word without a word that it replaces is inserted, so it is missing.
                stands = before[goal + length]
                missing |= (
                    stands < 0
                    or path[stands] != goal + length
                    or words[stands] != others[goal + length]
                )
                length += 1
                if not wrong or not missing or start <= before[goal] < start + length:
                    continue
                last_place = -1
                for offset in range(-1, length):
                    place = before[goal + offset] + 1 if goal + offset >= 0 else 0
                    if place == last_place:
                        continue
                    last_place = place
                    lower, middle, upper = _parts(start, length, place, len(words))
                    saved = cost - _shifted_cost(
                        words, others, rows, line, costs, lower, middle, upper
                    )
                    tried += 1
                    rank = (saved, length, -start, -place)
                    if rank > best:
                        best = rank
                        bounds = (lower, middle, upper)
                if tried >= MAX_CANDIDATES:
                    return best[0], bounds[0], bounds[1], bounds[2], tried
    return best[0], bounds[0], bounds[1], bounds[2], tried


@numba.njit(nogil=True, cache=True)
def _parts(start: int, length: int, place: int, words: int) -> tuple[int, int, int]:
    """Return the bounds of the two neighbouring sequences that a shift swaps.

    A place inside the shifted words means the place at the same distance after them (sacreBLEU 2).

    Args:
        start: First shifted word.
        length: Number of shifted words.
        place: Word before which they are moved.
        words: Number of words of the sentence.
    """
    if place < start:
        return place, start, start + length
    if place > start + length:
        return start, start + length, place
    return start, start + length, max(start + length, min(words, place + length))


@numba.njit(nogil=True, cache=True)
def _shifted_cost(
    words: np.ndarray,
    others: np.ndarray,
    rows: Rows,
    line: np.ndarray,
    costs: _Costs,
    lower: int,
    middle: int,
    upper: int,
) -> int:
    """Return the edit distance with ``words[lower:middle]`` after ``words[middle:upper]``."""
    low, high, begins = rows
    prefixes, suffixes = costs
    line[max(low[lower] - 1, 0) : min(high[upper] + 1, len(line))] = _FAR
    line[low[lower] : high[lower]] = prefixes[begins[lower] : begins[lower + 1]]
    row = lower
    for at in range(middle, upper):
        row += 1
        _advance(line, words[at], others, high[row - 1], low[row], high[row])
    for at in range(lower, middle):
        row += 1
        _advance(line, words[at], others, high[row - 1], low[row], high[row])
    rest = suffixes[begins[upper] : begins[upper + 1]]
    cost = _FAR
    for at in range(len(rest)):
        cost = min(cost, line[low[upper] + at] + rest[at])
    return int(cost)


@numba.njit(nogil=True, cache=True)
def _swap(items: np.ndarray, lower: int, middle: int, upper: int) -> None:
    """Move ``items[lower:middle]`` after ``items[middle:upper]``."""
    first = items[lower:middle].copy()
    for at in range(upper - middle):
        items[lower + at] = items[middle + at]
    items[upper - len(first) : upper] = first
