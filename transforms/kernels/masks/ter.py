"""Translation edit rate: the cheapest way found from one sentence to another, with shifts.

Source: Snover, Dorr, Schwartz, Micciulla and Makhoul (2006): insertions, deletions, substitutions
and shifts of word sequences cost 1 each; shifts are searched greedily, as in section 2. The limits,
the ranking of shifts and the beam round the diagonal are those of sacreBLEU 2 (`TER`), so that
edits, shifts and the path are equal to its own on the same words.

A candidate shift changes a stretch of the sentence alone. Its cost is read off where the rows of
the edit distance behind the stretch meet what the rest costs from there, computed once, backwards.
"""

import math
from typing import NamedTuple

import numba
import numpy as np

MAX_SHIFTED = 10
"""Longest shifted sequence, in words (sacreBLEU 2, as Tercom)."""

FARTHEST = 50
"""Largest distance between the places of a shifted sequence in the two sentences (likewise)."""

BEAM = 25
"""Cells on each side of the diagonal that the edit distance looks at (sacreBLEU 2)."""

MAX_CANDIDATES = 1000
"""Shifts tried in one pair (sacreBLEU 2); the round that reaches it shifts nothing."""

_FAR = np.int32(1 << 29)
"""The cost of what lies outside the beam."""


class Rows(NamedTuple):
    """The cells of the edit distance that lie in the beam.

    Row ``i`` is what the first ``i`` words cost, cell ``j`` as the first ``j`` others.

    Attributes:
        low: First cell of each row, int64 ``[row]``.
        high: Cell behind its last, int64 ``[row]``.
        begins: Where its cells begin where those of all rows follow each other, int64
            ``[row + 1]``.
    """

    low: np.ndarray
    high: np.ndarray
    begins: np.ndarray


class _Costs(NamedTuple):
    """Edit distances at the cells in the beam.

    Attributes:
        ahead: Cost of the beginnings of both sentences, int32 ``[cell]`` (`_fill_ahead`).
        behind: Cost of the ends of both sentences, int32 ``[cell]`` (`_fill_behind`).
    """

    ahead: np.ndarray
    behind: np.ndarray


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
        Edits of each pair, shifts included, and shifts alone, int32 ``[pair]``; and the target
        word, counted in its pair, that each source word is kept as or replaced by, -1 for a
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
    """Edit one sentence into another; both have words.

    Args:
        words: The sentence; is shifted about.
        others: The other.
        partners: Receives what becomes of each word, int32 ``[word]``.

    Returns:
        Edits, shifts included, and shifts alone.
    """
    rows = _beam(len(words), len(others))
    ahead = np.empty(rows.begins[-1], dtype=np.int32)
    behind = np.empty(rows.begins[-1], dtype=np.int32)
    costs = _Costs(ahead, behind)
    line = np.empty(len(others) + 1, dtype=np.int32)
    places = np.arange(len(words))
    path = np.empty(len(words), dtype=np.int32)
    insertions = np.empty(len(others), dtype=np.int32)
    shifts = 0
    tried = 0
    while True:
        _fill_ahead(words, others, rows, line, ahead)
        cost = ahead[rows.begins[-1] - 1]
        _trace(words, others, rows, ahead, path, insertions)
        if cost == 0:
            break
        _fill_behind(words, others, rows, behind)
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
    """Return which cells of the edit distance are looked at."""
    low = np.zeros(words + 1, dtype=np.int64)
    high = np.full(words + 1, others + 1, dtype=np.int64)
    slope = others / words
    width = BEAM
    if slope / 2 > BEAM:  # or rows of very unlike lengths would not meet
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
        last_high: Cell behind the row's last.
        low: First cell of the next row.
        high: Cell behind its last.
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
    # Cells that the beam has left behind: the row after next never looks further back.
    if low > 0:
        line[low - 1] = _FAR
    for at in range(high, last_high):
        line[at] = _FAR


@numba.njit(nogil=True, cache=True)
def _fill_ahead(
    words: np.ndarray,
    others: np.ndarray,
    rows: Rows,
    line: np.ndarray,
    ahead: np.ndarray,
) -> None:
    """Compute what the beginnings of both sentences cost.

    Args:
        words: The sentence.
        others: The other.
        rows: Their cells.
        line: Scratch.
        ahead: Receives the cells of all rows.
    """
    low, high, begins = rows
    for at in range(len(line)):
        line[at] = at
    ahead[: len(line)] = line
    for row in range(1, len(words) + 1):
        _advance(line, words[row - 1], others, high[row - 1], low[row], high[row])
        ahead[begins[row] : begins[row + 1]] = line[low[row] : high[row]]


@numba.njit(nogil=True, cache=True)
def _fill_behind(
    words: np.ndarray,
    others: np.ndarray,
    rows: Rows,
    behind: np.ndarray,
) -> None:
    """Compute what the ends of both sentences cost, behind each cell; arguments as before."""
    low, high, begins = rows
    row = len(words)
    for at in range(low[row], high[row]):
        behind[begins[row] + at - low[row]] = len(others) - at
    for row in range(len(words) - 1, 0, -1):
        below = begins[row + 1] - low[row + 1]
        right = _FAR
        for at in range(high[row] - 1, low[row] - 1, -1):
            best = right
            if low[row + 1] <= at:
                best = min(best, behind[below + at])
            best += np.int32(1)
            if low[row + 1] <= at + 1 < high[row + 1]:
                best = min(best, behind[below + at + 1] + np.int32(words[row] != others[at]))
            behind[begins[row] + at - low[row]] = best
            right = best


@numba.njit(nogil=True, cache=True)
def _trace(
    words: np.ndarray,
    others: np.ndarray,
    rows: Rows,
    ahead: np.ndarray,
    path: np.ndarray,
    before: np.ndarray,
) -> None:
    """Follow the cheapest path back; it prefers keeping and replacing, then deleting.

    Args:
        words: As in `_fill_ahead`, and so are the next two.
        others: See there.
        rows: See there.
        ahead: What it found.
        path: Receives the other word of each word, -1 for none.
        before: Receives for each other word the word that it stands for or is inserted behind,
            -1 for the beginning.
    """
    low, high, begins = rows
    row, at = len(words), len(others)
    path[:] = -1
    while row > 0 or at > 0:
        cost = ahead[begins[row] + at - low[row]]
        if row > 0:
            above = begins[row - 1] - low[row - 1]
            if at > 0 and low[row - 1] < at <= high[row - 1]:
                differ = np.int32(words[row - 1] != others[at - 1])
                if cost == ahead[above + at - 1] + differ:
                    row -= 1
                    at -= 1
                    path[row] = at
                    before[at] = row
                    continue
            if low[row - 1] <= at < high[row - 1] and cost == ahead[above + at] + 1:
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
    """Find the shift that saves most.

    Of shifts that save as much, the longest is taken, then that of the first words, then that to
    the first place.

    Args:
        words: The sentence.
        others: The other.
        rows: Their cells.
        line: Scratch.
        costs: Their edit distances.
        path: From `_trace`.
        before: From `_trace`.
        tried: Shifts tried so far.

    Returns:
        How much the shift saves; the two adjacent sequences that it swaps, as three bounds; and
        the shifts tried so far.
    """
    cost = int(costs.ahead[rows.begins[-1] - 1])
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
                # An other word that no word stands for is inserted, and lacks.
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

    A place inside the shifted words stands for one as far behind them (sacreBLEU 2).

    Args:
        start: First shifted word.
        length: Shifted words.
        place: Word before which they go.
        words: Words of the sentence.
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
    """Return the edit distance with ``words[lower:middle]`` put behind ``words[middle:upper]``."""
    low, high, begins = rows
    ahead, behind = costs
    line[max(low[lower] - 1, 0) : min(high[upper] + 1, len(line))] = _FAR
    line[low[lower] : high[lower]] = ahead[begins[lower] : begins[lower + 1]]
    row = lower
    for at in range(middle, upper):
        row += 1
        _advance(line, words[at], others, high[row - 1], low[row], high[row])
    for at in range(lower, middle):
        row += 1
        _advance(line, words[at], others, high[row - 1], low[row], high[row])
    rest = behind[begins[upper] : begins[upper + 1]]
    cost = _FAR
    for at in range(len(rest)):
        cost = min(cost, line[low[upper] + at] + rest[at])
    return int(cost)


@numba.njit(nogil=True, cache=True)
def _swap(items: np.ndarray, lower: int, middle: int, upper: int) -> None:
    """Put ``items[lower:middle]`` behind ``items[middle:upper]``."""
    first = items[lower:middle].copy()
    for at in range(upper - middle):
        items[lower + at] = items[middle + at]
    items[upper - len(first) : upper] = first
