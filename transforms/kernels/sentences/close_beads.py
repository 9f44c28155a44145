"""The beads of all paths through a band that score nearly as well as the best one.

With these few beads, a score that is too slow for all beads of a band can still choose the path.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.sentences.beads import (
    NO_BEAD,
    NO_PATH,
    Band,
    ForRows,
    Kinds,
    Told,
    row_groups,
    search,
    trace,
)
from pairweave.transforms.kernels.uncounted import uncounted


class CloseBeads(NamedTuple):
    """Beads in the order of their rows, then of their positions, then of their kinds.

    Attributes:
        rows: Source sentences up to each bead's end, int32 ``[bead]``.
        positions: Target sentences up to its end, int32 ``[bead]``.
        kinds: Its kind, uint8 ``[bead]``.
        scores: Its score, float64 ``[bead]``.
        behind: By how much the best path through it is worse than the best path; -infinity for the
            beads of the best path itself. float64 ``[bead]``.
    """

    rows: np.ndarray
    positions: np.ndarray
    kinds: np.ndarray
    scores: np.ndarray
    behind: np.ndarray


def close_beads(
    band: Band,
    kinds: Kinds,
    scorers: Sequence[ForRows],
    margin: float,
    most: int,
    told: Told | None = None,
) -> CloseBeads:
    """Find the beads of the best path, and others whose paths are almost as good.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        scorers: Functions that score the beads of some rows, as for `beads.best_beads`.
        margin: By how much a path may be worse than the best one.
        most: Maximum number of beads besides those of the best path. The nearest to it are kept
            and, of equally near ones, the last; so a path of other beads may be incomplete.
        told: Called after each block of rows.

    Returns:
        The beads; none if no path leads through the band.
    """
    rows = len(band.low)
    before = np.full(int(band.begins[-1]), NO_PATH)
    after = np.full(len(before), NO_PATH)
    after[-1] = 0.0
    back = np.full(len(before), NO_BEAD, dtype=np.uint8)
    half = None if told is None else partial(_tell_half, told)
    search(band, kinds, [*scorers, partial(_reach, band, kinds, (before, back))], half)
    path = trace(band, kinds, back)
    found: list[CloseBeads] = []
    for first, last in reversed(list(row_groups(band, kinds))):
        begin, end = band.begins[first], band.begins[last]
        scores, behind = (np.empty((end - begin, len(kinds.sources))) for _ in range(2))
        for scorer in scorers:
            scorer(first, last, scores)
        _reach_back(band, kinds, (before, after), (first, last), scores, behind)
        _mark_path(band, kinds, path, (first, last), behind)
        cells, kind = np.nonzero(behind <= margin)
        row = np.searchsorted(band.begins, cells + begin, side="right") - 1
        found.append(
            CloseBeads(
                row.astype(np.int32),
                (cells + begin - band.begins[row] + band.low[row]).astype(np.int32),
                kind.astype(np.uint8),
                scores[cells, kind],
                behind[cells, kind],
            )
        )
        if sum(len(beads.rows) for beads in found) > 2 * most + len(path):
            found, margin = _nearest(found, most)
        if told is not None:
            told(2 * rows - first, 2 * rows)
    (close,), _ = _nearest(found, most)
    return close


def _tell_half(told: Told, done: int, rows: int) -> None:
    """Report the first half of the work."""
    told(done, 2 * rows)


def _nearest(found: list[CloseBeads], most: int) -> tuple[list[CloseBeads], float]:
    """Join beads, and keep those of the best path and the nearest ``most`` others.

    The result does not depend on how often this is done, because beads are found from the
    document's end, and of equally near ones the last are kept.

    Args:
        found: Beads, those with the last rows first.
        most: Maximum number of beads besides those of the best path.

    Returns:
        The beads, and how far the farthest may be behind.
    """
    close = CloseBeads(*map(np.concatenate, zip(*reversed(found), strict=True)))
    others = np.flatnonzero(close.behind > -np.inf)
    if len(others) <= most:
        return [close], np.inf
    farthest = float(np.partition(close.behind[others], most - 1)[most - 1])
    kept = close.behind < farthest
    equal = np.flatnonzero(close.behind == farthest)
    kept[equal[len(equal) - (most - int(kept[others].sum())) :]] = True
    return [CloseBeads(*(column[kept] for column in close))], farthest


@uncounted
def _reach(
    band: Band,
    kinds: Kinds,
    paths: tuple[np.ndarray, np.ndarray],
    first: int,
    last: int,
    scores: np.ndarray,
) -> None:
    """Find the best path to each position of some rows; in a tie, by the first kind of bead.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        paths: The score of the best path to each position, float64 ``[position]``, and its last
            bead, uint8 ``[position]``; those of these rows are written.
        first: The first row; those before it are done.
        last: The row after the last.
        scores: Score of each kind of bead that ends at each position of these rows.
    """
    before, back = paths
    for row in range(first, last):
        place = band.begins[row] - band.low[row]
        for position in range(band.low[row], band.high[row]):
            highest = 0.0 if row == 0 and position == 0 else NO_PATH
            last_kind = NO_BEAD
            for kind in range(len(kinds.sources)):
                start = row - kinds.sources[kind]
                at = position - kinds.targets[kind]
                if start < 0 or at < band.low[start] or at >= band.high[start]:
                    continue
                score = before[band.begins[start] + at - band.low[start]]
                score += scores[place + position - band.begins[first], kind]
                if score > highest:
                    highest = score
                    last_kind = kind
            before[place + position] = highest
            back[place + position] = last_kind


@uncounted
def _reach_back(
    band: Band,
    kinds: Kinds,
    paths: tuple[np.ndarray, np.ndarray],
    rows: tuple[int, int],
    scores: np.ndarray,
    behind: np.ndarray,
) -> None:
    """Compute how far the best path through each bead of some rows is behind the best path.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        paths: Scores of the best paths to each position, and of those from each position to the
            end, which are written as far as the beads of these rows begin there; float64
            ``[position]``.
        rows: The first row, and the row after the last; those after it are done.
        scores: Score of each kind of bead that ends at each position of these rows.
        behind: Receives the distances, in the form of ``scores``; infinity if there is no path.
    """
    before, after = paths
    first, last = rows
    best = before[len(before) - 1]
    for row in range(last - 1, first - 1, -1):
        place = band.begins[row] - band.low[row]
        for position in range(band.high[row] - 1, band.low[row] - 1, -1):
            rest = after[place + position]
            for kind in range(len(kinds.sources)):
                inside = place + position - band.begins[first]
                behind[inside, kind] = np.inf
                start = row - kinds.sources[kind]
                at = position - kinds.targets[kind]
                if start < 0 or at < band.low[start] or at >= band.high[start]:
                    continue
                cell = band.begins[start] + at - band.low[start]
                score = scores[inside, kind] + rest
                after[cell] = max(after[cell], score)
                if before[cell] + score > 0.5 * NO_PATH:
                    behind[inside, kind] = best - (before[cell] + score)


@uncounted
def _mark_path(
    band: Band, kinds: Kinds, path: np.ndarray, rows: tuple[int, int], behind: np.ndarray
) -> None:
    """Set the distances of a path's own beads that end in some rows to -infinity.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        path: The kind of each of its beads, uint8 ``[bead]``.
        rows: The first row, and the row after the last.
        behind: The distances, float64 ``[position, kind]``.
    """
    row = 0
    position = 0
    for kind in path:
        row += kinds.sources[kind]
        position += kinds.targets[kind]
        if rows[0] <= row < rows[1]:
            at = band.begins[row] - band.begins[rows[0]] + position - band.low[row]
            behind[at, kind] = -np.inf


@numba.njit(nogil=True, cache=True)
def best_of_close(band: Band, kinds: Kinds, close: CloseBeads, scores: np.ndarray) -> np.ndarray:
    """Find the best path of some beads; in a tie, by the first kind of bead.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        close: The beads, among them those of a whole path; or none.
        scores: Their scores, float64 ``[bead]``.

    Returns:
        The kind of each bead in order, uint8 ``[bead]``; empty if there are no beads.
    """
    best = np.full(band.begins[-1], NO_PATH)
    back = np.full(band.begins[-1], -1)
    best[0] = 0.0
    for bead in range(len(scores)):
        row, position, kind = close.rows[bead], close.positions[bead], close.kinds[bead]
        start = row - kinds.sources[kind]
        cell = band.begins[start] + position - kinds.targets[kind] - band.low[start]
        score = best[cell] + scores[bead]
        end = band.begins[row] + position - band.low[row]
        if score > best[end]:
            best[end] = score
            back[end] = bead
    path = np.empty(len(scores), dtype=np.uint8)
    used = len(path)
    cell = band.begins[-1] - 1
    while back[cell] >= 0:
        bead = back[cell]
        kind = close.kinds[bead]
        used -= 1
        path[used] = kind
        start = close.rows[bead] - kinds.sources[kind]
        cell = band.begins[start] + close.positions[bead] - kinds.targets[kind] - band.low[start]
    return path[used:].copy()
