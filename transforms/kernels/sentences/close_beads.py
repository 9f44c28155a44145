"""The beads of all paths through a band that score nearly as well as the best one.

With these few beads, a score that is too slow for all beads of a band can still choose the path.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from pairweave.transforms.kernels.sentences.beads import (
    NO_PATH,
    Band,
    ForRows,
    Kinds,
    Told,
    advance,
    best_beads,
    row_groups,
    search,
    trace,
)
from pairweave.transforms.kernels.uncounted import uncounted


class CloseBeads(NamedTuple):
    """Beads in the order of their ends, then of their kinds.

    Attributes:
        cells: The number of the position of the band at which each bead ends, int64 ``[bead]``.
        kinds: Its kind, uint8 ``[bead]``.
        scores: Its score, float64 ``[bead]``.
        behind: By how much the best path through it is worse than the best path; -infinity for the
            beads of the best path itself. float64 ``[bead]``.
    """

    cells: np.ndarray
    kinds: np.ndarray
    scores: np.ndarray
    behind: np.ndarray

    def ends(self, band: Band) -> tuple[np.ndarray, np.ndarray]:
        """Return the source and the target sentences up to the end of each, int64 ``[bead]``."""
        rows = np.searchsorted(band.begins, self.cells, side="right") - 1
        return rows, self.cells - band.begins[rows] + band.low[rows]


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
    back = np.empty(len(before), dtype=np.uint8)
    half = None if told is None else partial(_tell_half, told)
    onward = partial(advance, band, kinds, before, band.begins, back)
    search(band, kinds, [*scorers, onward], half)
    path = trace(band, kinds, back)
    ends = np.cumsum(kinds.sources[path]), np.cumsum(kinds.targets[path])
    path_cells = band.begins[ends[0]] + ends[1] - band.low[ends[0]]
    found: list[CloseBeads] = []
    for first, last in reversed(list(row_groups(band, kinds))):
        begin, end = band.begins[first], band.begins[last]
        scores, behind = (np.empty((end - begin, len(kinds.sources))) for _ in range(2))
        for scorer in scorers:
            scorer(first, last, scores)
        _reach_back(band, kinds, (before, after), (first, last), scores, behind)
        own = slice(*np.searchsorted(path_cells, [begin, end]))
        behind[path_cells[own] - begin, path[own]] = -np.inf
        cells, kind = np.nonzero(behind <= margin)
        values = scores[cells, kind], behind[cells, kind]
        found.append(CloseBeads(cells + begin, kind.astype(np.uint8), *values))
        if sum(len(beads.cells) for beads in found) > 2 * most + len(path):
            found = [_nearest(found, most)]
            margin = min(margin, float(found[0].behind.max()))
        if told is not None:
            told(2 * rows - first, 2 * rows)
    return _nearest(found, most)


def _tell_half(told: Told, done: int, rows: int) -> None:
    """Report the first half of the work."""
    told(done, 2 * rows)


def _nearest(found: Sequence[CloseBeads], most: int) -> CloseBeads:
    """Join beads, and keep those of the best path and the nearest ``most`` others.

    The result does not depend on how often this is done, because beads are found from the
    document's end, and of equally near ones the last are kept.

    Args:
        found: Beads, the last of the document first.
        most: Maximum number of beads besides those of the best path.
    """
    close = CloseBeads(*map(np.concatenate, zip(*reversed(found), strict=True)))
    others = np.flatnonzero(close.behind > -np.inf)
    if len(others) <= most:
        return close
    farthest = np.partition(close.behind[others], most - 1)[most - 1]
    kept = close.behind < farthest
    equal = np.flatnonzero(close.behind == farthest)
    kept[equal[len(equal) - (most - int(kept[others].sum())) :]] = True
    return CloseBeads(*(column[kept] for column in close))


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

    def score(first: int, last: int, out: np.ndarray) -> None:
        begin, end = band.begins[first], band.begins[last]
        part = slice(*np.searchsorted(close.cells, [begin, end]))
        out[: end - begin] = NO_PATH
        out[close.cells[part] - begin, close.kinds[part]] = scores[part]

    return trace(band, kinds, best_beads(band, kinds, [score]))
