"""Beads, bands, and the best path of beads through a band.

A bead is a group of consecutive source sentences and consecutive target sentences that translate
each other (Brown, Lai and Mercer 1991). A path is a sequence of beads that contains every sentence
once. It leads through positions ``(source, target)``: the numbers of sentences of each side before
them. A band restricts the positions of each row.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.uncounted import uncounted

NO_PATH = -1e30
"""The score of a position that no path reaches."""

MIN_APART = 1e-3
"""Minimum distance from random sentences by which the cost of a bead is divided: far above the
rounding of float32, so that a text whose sentences are all alike costs 0."""

NO_BEAD = 255
"""Marks the last bead at a position that no path reaches."""

BLOCK_ROWS = 256
"""Rows that a kernel processes at a time. Python runs between two blocks, so that it can handle
signals and show progress; in the widest band that is allowed, a block takes under a second."""

SCORES_HELD = 1 << 19
"""Scores of beads that a search holds at a time, 4 MiB: few enough for a processor's cache, but so
many that calling the kernels costs little compared with their work."""

Told = Callable[[int, int], None]
"""Called after each block with the number of rows done and the number of all rows."""

ForRows = Callable[[int, int, np.ndarray], None]
"""Called with the first of some rows, the row after their last, and the scores of the beads that
end in them, float64 ``[position, kind]``: the positions of these rows, row after row."""


class Kinds(NamedTuple):
    """The kinds of beads.

    Attributes:
        sources: Number of source sentences of each kind, int64 ``[kind]``.
        targets: Number of target sentences of each kind, int64 ``[kind]``.
        log_priors: Logarithm of the probability of each kind, float64 ``[kind]``.
    """

    sources: np.ndarray
    targets: np.ndarray
    log_priors: np.ndarray


class Band(NamedTuple):
    """The positions of each row that a path may use: from ``low`` to before ``high``.

    Neither decreases from row to row; row 0 contains position 0, and the last row the last one.

    Attributes:
        low: First position of each row, int64 ``[source sentence + 1]``.
        high: End of each row, exclusive, int64 ``[source sentence + 1]``.
        begins: Start of each row in the concatenation of all rows, int64 ``[row + 1]``.
    """

    low: np.ndarray
    high: np.ndarray
    begins: np.ndarray


class Document(NamedTuple):
    """Lengths and paragraphs of both sides.

    Attributes:
        source_ends: Words before each position, int64 ``[source sentence + 1]``.
        target_ends: The same for the target.
        source_breaks: Paragraphs that end at or before each position, int64 ``[position]``.
        target_breaks: The same for the target.
        ratio: Target words per source word.
    """

    source_ends: np.ndarray
    target_ends: np.ndarray
    source_breaks: np.ndarray
    target_breaks: np.ndarray
    ratio: float


class Weights(NamedTuple):
    """Weights of the parts of a bead's score (`models.sentences.bead_weights`).

    Attributes:
        words: Weight of the words' scores.
        length: Weight of the difference of the lengths.
        inside: Cost of each paragraph that ends inside a bead.
        unequal: Cost of a bead at whose end a paragraph of only one side ends.
    """

    words: float
    length: float
    inside: float
    unequal: float


@uncounted
def prior(
    row: int, position: int, kind: int, kinds: Kinds, document: Document, weights: Weights
) -> float:
    """Return the score of a bead by its kind and the ends of paragraphs alone.

    Args:
        row: Source sentences up to the bead's end.
        position: Target sentences up to its end.
        kind: Its kind.
        kinds: The kinds of beads.
        document: The document.
        weights: Weights of the parts of the score.

    Returns:
        The score; `NO_PATH` if the bead would begin before the text.
    """
    sources, targets = kinds.sources[kind], kinds.targets[kind]
    if row < sources or position < targets:
        return NO_PATH
    ours, theirs = document.source_breaks, document.target_breaks
    inside = 0
    ends = False
    if sources:
        inside += ours[row - 1] - ours[row - sources]
    if targets:
        inside += theirs[position - 1] - theirs[position - targets]
    if row:
        ends = ours[row] > ours[row - 1]
    others_end = position > 0 and theirs[position] > theirs[position - 1]
    cost = weights.inside * inside
    if ends != others_end:
        cost += weights.unequal
    return kinds.log_priors[kind] - cost


@uncounted
def score_priors(
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    first: int,
    last: int,
    scores: np.ndarray,
) -> None:
    """Score the beads of some rows by `prior` alone.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        document: The document.
        weights: Weights of the ends of paragraphs.
        first: The first row.
        last: The row after the last.
        scores: Receives the scores, as in `ForRows`.
    """
    at = 0
    for row in range(first, last):
        for position in range(band.low[row], band.high[row]):
            for kind in range(len(kinds.sources)):
                scores[at, kind] = prior(row, position, kind, kinds, document, weights)
            at += 1


def best_beads(
    band: Band, kinds: Kinds, scorers: Sequence[ForRows], told: Told | None = None
) -> np.ndarray:
    """Find the best path through a band.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        scorers: Functions that score the beads of some rows, in this order: the first one writes
            their scores, the others add to them.
        told: Called after each block of rows.

    Returns:
        The last bead of the best path to each position of the band, uint8 ``[position]``.
    """
    # The scores of the last rows are enough, so rows take turns.
    kept, widest = int(kinds.sources.max()) + 1, widest_row(band)
    best, places = np.full(kept * widest, NO_PATH), np.arange(len(band.low)) % kept * widest
    back = np.empty(int(band.begins[-1]), dtype=np.uint8)
    search(band, kinds, [*scorers, partial(advance, band, kinds, best, places, back)], told)
    return back


def search(band: Band, kinds: Kinds, stages: Sequence[ForRows], told: Told | None = None) -> None:
    """Process the rows of a band in several stages, a few rows at a time.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        stages: Functions that score the beads of these rows, then one that continues the paths
            through them.
        told: Called after each block of rows.
    """
    scores = np.empty((min(_most_held(band, kinds), int(band.begins[-1])), len(kinds.sources)))
    for first, end in blocks(0, len(band.low), told):
        for group in _groups_of(band, kinds, first, end):
            for stage in stages:
                stage(*group, scores)


def row_groups(band: Band, kinds: Kinds) -> Iterator[tuple[int, int]]:
    """Yield the groups of rows that `search` processes: the first row, and that after the last."""
    for first, end in blocks(0, len(band.low)):
        yield from _groups_of(band, kinds, first, end)


def _groups_of(band: Band, kinds: Kinds, first: int, end: int) -> Iterator[tuple[int, int]]:
    most = _most_held(band, kinds)
    while first < end:
        last = int(np.searchsorted(band.begins, band.begins[first] + most, side="right")) - 1
        last = min(last, end)
        yield first, last
        first = last


def _most_held(band: Band, kinds: Kinds) -> int:
    """Return the maximum number of positions whose scores are held at a time."""
    return max(SCORES_HELD // len(kinds.sources), widest_row(band))


def blocks(begin: int, end: int, told: Told | None = None) -> Iterator[tuple[int, int]]:
    """Yield the first row of each block and the row after its last.

    Args:
        begin: The first row.
        end: The row after the last.
        told: Called after each block, if given.
    """
    for first in range(begin, end, BLOCK_ROWS):
        last = min(first + BLOCK_ROWS, end)
        yield first, last
        if told is not None:
            told(last - begin, end - begin)


def each_row(begin: int, end: int, told: Told | None = None) -> Iterator[int]:
    """Yield each row; arguments are those of `blocks`."""
    for first, last in blocks(begin, end, told):
        yield from range(first, last)


def widest_row(band: Band) -> int:
    """Return the maximum number of positions in a row of a band."""
    return int((band.high - band.low).max())


@uncounted
def advance(
    band: Band,
    kinds: Kinds,
    best: np.ndarray,
    places: np.ndarray,
    back: np.ndarray,
    first: int,
    last: int,
    scores: np.ndarray,
) -> None:
    """Find the best path to each position of some rows; in a tie, by the first kind of bead.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        best: Scores of the best paths to the positions of the last rows, or of all rows, float64;
            those of these rows are written.
        places: Where the scores of each row begin there, int64 ``[row]``.
        back: The last bead of the best path to each position, uint8 ``[position]``; these rows are
            written.
        first: The first row; those before it are done.
        last: The row after the last.
        scores: Score of each kind of bead that ends at each position of these rows, as in
            `ForRows`.
    """
    begin = band.begins[first]
    for row in range(first, last):
        low = band.low[row]
        place = band.begins[row] - low
        for position in range(low, band.high[row]):
            highest = NO_PATH
            last_kind = NO_BEAD
            if row == 0 and position == 0:
                highest = 0.0
            for kind in range(len(kinds.sources)):
                before = row - kinds.sources[kind]
                at = position - kinds.targets[kind]
                if before < 0 or at < band.low[before] or at >= band.high[before]:
                    continue
                score = best[places[before] + at - band.low[before]]
                if score <= NO_PATH:
                    continue
                score += scores[place + position - begin, kind]
                if score > highest:
                    highest = score
                    last_kind = kind
            best[places[row] + position - low] = highest
            back[place + position] = last_kind


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
    path = np.empty(row + position, dtype=np.uint8)
    used = len(path)
    while row > 0 or position > 0:
        kind = back[band.begins[row] + position - band.low[row]]
        if kind == NO_BEAD:
            return path[:0].copy()
        used -= 1
        path[used] = kind
        row -= kinds.sources[kind]
        position -= kinds.targets[kind]
    return path[used:].copy()
