"""The best path by words on which the ends of paragraphs should meet.

A corner is a position at which a paragraph ends on both sides; so are a document's start and end.
The corners that a path leads through divide it into beads of paragraphs: one or more paragraphs of
each side, whose sentences are aligned with each other, or only unaligned sentences of one side.
Each paragraph's end that is not a corner of the path has a cost. So a bead of paragraphs scores as
the best alignment of its sentences, and each further paragraph on a side costs one end more.

A path may leave sentences unaligned on the way from a paragraph's end to a corner, so whether the
end has a cost is known only where the path continues. Each position therefore has states: none,
`WAITING` (the path has yet to meet a corner in the row or the column of a paragraph's end), and
`SKIPPING` (it has left a corner for the next in the same row or column: the sentences of a
paragraph without a counterpart do not end apart from the other side's paragraphs, so they lose no
`Weights.unequal`).
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
    Document,
    ForRows,
    Kinds,
    Told,
    search,
    widest_row,
)
from pairweave.transforms.kernels.uncounted import uncounted

WAITING = 1
SKIPPING = 2
STATES = 3


class Step(NamedTuple):
    """A bead and the state of the position before it.

    Attributes:
        row: Source sentences up to the bead's end.
        position: Target sentences up to its end.
        sources: Source sentences of the bead.
        targets: Target sentences of the bead.
        state: That state: 0, `WAITING` or `SKIPPING`.
    """

    row: int
    position: int
    sources: int
    targets: int
    state: int


@uncounted
def ends_at(breaks: np.ndarray, position: int) -> bool:
    """Tell whether a paragraph ends at a position; the text's start counts as an end."""
    return position == 0 or breaks[position] > breaks[position - 1]


@uncounted
def ends_within(breaks: np.ndarray, before: int, after: int) -> int:
    """Return the number of paragraphs that end strictly between two positions."""
    return breaks[after - 1] - breaks[before] if after > before else 0


@uncounted
def follow(step: Step, ours: np.ndarray, theirs: np.ndarray) -> tuple[int, int]:
    """Return the number of paragraphs' ends that a bead leaves unmet, and the state after it.

    Args:
        step: The bead.
        ours: Paragraphs of the source that end at or before each position.
        theirs: The same for the target.
    """
    row, position, sources, targets, state = step
    before, at = row - sources, position - targets
    unmet = ends_within(ours, before, row) + ends_within(theirs, at, position)
    if state == WAITING and (sources if ends_at(ours, before) else targets):
        unmet += 1
    ends, others_end = ends_at(ours, row), ends_at(theirs, position)
    if ends == others_end:
        return unmet, 0
    if sources if ends else targets:
        return unmet, WAITING
    return unmet, state


@uncounted
def skips(step: Step, ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Tell whether a bead leads from a corner, or on from there, along its row or column.

    Arguments are those of `follow`.
    """
    row, position, sources, targets, state = step
    if state == WAITING or (sources and targets):
        return False
    ends = ends_at(ours, row - sources)
    others_end = ends_at(theirs, position - targets)
    if state == SKIPPING:
        return bool(targets if ends else sources)
    return ends and others_end


@uncounted
def advance(
    band: Band,
    kinds: Kinds,
    breaks: tuple[np.ndarray, np.ndarray],
    costs: tuple[float, float],
    paths: tuple[np.ndarray, np.ndarray],
    first: int,
    last: int,
    scores: np.ndarray,
) -> None:
    """Find the best path to each position and state of some rows.

    In a tie, it is the one with the first kind of bead.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        breaks: Paragraphs that end at or before each position, of both sides.
        costs: Cost of a paragraph's end that meets none of the other side, and what ``scores`` have
            lost for the sentences of a paragraph that is skipped.
        paths: These rows of both are written. Scores of the best paths of the last rows, as a ring
            buffer, float64 ``[rows kept, widest row, state]``; the last bead of the best path to
            each position and state, and the state before it: ``STATES * kind + state``, uint8
            ``[position, state]``.
        first: The first row; those before it are done.
        last: The row after the last.
        scores: Score of each kind of bead that ends at each position of these rows, without costs
            of paragraphs, as in `beads.ForRows`.
    """
    best, back = paths
    kept = best.shape[0]
    begin = band.begins[first]
    for row in range(first, last):
        low = band.low[row]
        place = band.begins[row] - low
        for position in range(low, band.high[row]):
            here = best[row % kept, position - low]
            beads = back[place + position]
            here[:] = NO_PATH
            beads[:] = NO_BEAD
            if row == 0 and position == 0:
                here[0] = 0.0
            for kind in range(len(kinds.sources)):
                sources, targets = kinds.sources[kind], kinds.targets[kind]
                before, at = row - sources, position - targets
                if before < 0 or at < band.low[before] or at >= band.high[before]:
                    continue
                for state in range(STATES):
                    score = best[before % kept, at - band.low[before], state]
                    if score <= NO_PATH:
                        continue
                    score += scores[place + position - begin, kind]
                    bead = Step(row, position, sources, targets, state)
                    unmet, after = follow(bead, breaks[0], breaks[1])
                    if skips(bead, breaks[0], breaks[1]):
                        meets = ends_at(breaks[0], row) and ends_at(breaks[1], position)
                        gone = 0 if meets else SKIPPING
                        gained = score if meets else score + costs[1]
                        if gained > here[gone]:
                            here[gone] = gained
                            beads[gone] = STATES * kind + state
                    if state != SKIPPING and score - costs[0] * unmet > here[after]:
                        here[after] = score - costs[0] * unmet
                        beads[after] = STATES * kind + state


def best_beads(
    band: Band,
    kinds: Kinds,
    document: Document,
    unmet: float,
    unequal: float,
    scorers: Sequence[ForRows],
    told: Told | None = None,
) -> np.ndarray:
    """Find the best path on which paragraphs' ends should meet.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        document: The document.
        unmet: Cost of each paragraph's end that is not a corner of the path, besides the scores.
        unequal: `Weights.unequal` of the scores.
        scorers: Functions that score the beads of some rows, as in `beads.best_beads`.
        told: Called after each block of rows.

    Returns:
        The last beads of the best paths as in `advance`, uint8 ``[position, state]``.
    """
    rows = int(kinds.sources.max()) + 1
    best = np.full((rows, widest_row(band), STATES), NO_PATH)
    back = np.empty((int(band.begins[-1]), STATES), dtype=np.uint8)
    breaks = document.source_breaks, document.target_breaks
    onward = partial(advance, band, kinds, breaks, (unmet, unequal), (best, back))
    search(band, kinds, [*scorers, onward], told)
    return back


@numba.njit(nogil=True, cache=True)
def trace(band: Band, kinds: Kinds, back: np.ndarray) -> np.ndarray:
    """Follow the best path back from its end.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        back: From `advance`, of all rows.

    Returns:
        The kind of each bead in order, uint8 ``[bead]``; empty if no path reaches the end.
    """
    row = len(band.low) - 1
    position = band.high[row] - 1
    state = 0
    path = np.empty(row + position, dtype=np.uint8)
    used = len(path)
    while row > 0 or position > 0:
        last = back[band.begins[row] + position - band.low[row], state]
        if last == NO_BEAD:
            return path[:0].copy()
        used -= 1
        path[used] = last // STATES
        state = last % STATES
        row -= kinds.sources[path[used]]
        position -= kinds.targets[path[used]]
    return path[used:].copy()


@uncounted
def unmet_ends(path: np.ndarray, kinds: Kinds, ours: np.ndarray, theirs: np.ndarray) -> int:
    """Return the number of paragraphs' ends, of both sides, that are not corners of a path.

    Args:
        path: The kind of each bead, uint8 ``[bead]``.
        kinds: The kinds of beads.
        ours: Paragraphs of the source that end at or before each position.
        theirs: The same for the target.
    """
    row = 0
    position = 0
    state = 0
    total = 0
    for kind in path:
        row += kinds.sources[kind]
        position += kinds.targets[kind]
        bead = Step(row, position, kinds.sources[kind], kinds.targets[kind], state)
        unmet, state = follow(bead, ours, theirs)
        total += unmet
    return total


@uncounted
def charge_passing(
    band: Band,
    kinds: Kinds,
    corners: np.ndarray,
    following: np.ndarray,
    cost: float,
    first: int,
    last: int,
    scores: np.ndarray,
) -> None:
    """Lower the score of each bead that leads a path past a corner, once for each such corner.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        corners: Positions through which a path should lead, int64 ``[corner, side]``, ascending.
        following: The first corner in each row or after it, int64 ``[row]``.
        cost: By how much each is lowered.
        first: The first row.
        last: The row after the last.
        scores: Scores so far, as in `beads.ForRows`.
    """
    for row in range(first, last):
        place = band.begins[row] - band.low[row] - band.begins[first]
        for kind in range(len(kinds.sources)):
            before = row - kinds.sources[kind]
            corner = following[max(before, 0)]
            while corner < len(corners) and corners[corner, 0] <= row:
                met, at = corners[corner]
                for position in range(band.low[row], band.high[row]):
                    reaches = row == met and position <= at
                    leaves = before == met and position - kinds.targets[kind] >= at
                    if not reaches and not leaves:
                        scores[place + position, kind] -= cost
                corner += 1
