"""Beads scored by their pieces, with YiSi-2 (Lo 2019); see the module `piece_maxima`.

Precision is the weighted mean, over the pieces of a bead's target sentences, of their greatest
cosine with a piece of its source sentences; recall is the same over its source pieces. F is their
weighted harmonic mean. In most encoders, F of unrelated sentences is far above 0, and higher for
long ones. So F is compared with that of the same sentences and random ones of the other text, as
vecalign does with cosines (`transforms.kernels.sentences.embedded`): a bead costs

    c(x, y) = 2 (1 - F(x, y)) / ((1 - mean_s F(x, y_s)) + (1 - mean_s F(x_s, y)))

so that two unrelated sentences cost about 1. The gain of a bead is the cost of skipping minus its
own cost, times the square root of the number of its pieces: more pieces are more evidence, but
those of one sentence are not independent. Gains as in vecalign, by the number of pairs of
sentences, were far worse on one document and a little better on another (decision 11).
"""

import math
from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.sentences.beads import MIN_APART, NO_PATH, Band, Kinds
from pairweave.transforms.kernels.sentences.piece_maxima import Maxima
from pairweave.transforms.kernels.uncounted import uncounted


class Yisi(NamedTuple):
    """The data from which F of a bead is computed.

    Attributes:
        maxima: Weighted sums of greatest similarities.
        source_ends: Sum of the weights of the source pieces before each position, float64
            ``[source sentence + 1]``.
        target_ends: The same for the target.
        alpha: 0 makes F the precision, 1 the recall, 0.5 their harmonic mean.
    """

    maxima: Maxima
    source_ends: np.ndarray
    target_ends: np.ndarray
    alpha: float


class Piecewise(NamedTuple):
    """The data from which the cost of a bead is computed.

    Attributes:
        yisi: The data of F.
        source_apart: 1 minus the mean F of the ``run + 1`` source sentences up to each with some
            target sentences, float32 ``[source sentence, run]``.
        target_apart: The same for the target sentences, with some source sentences.
        source_pieces: Pieces before each position, int64 ``[source sentence + 1]``.
        target_pieces: The same for the target.
        leave: Cost of skipping.
        weight: Weight of a gain.
    """

    yisi: Yisi
    source_apart: np.ndarray
    target_apart: np.ndarray
    source_pieces: np.ndarray
    target_pieces: np.ndarray
    leave: float
    weight: float


@numba.njit(nogil=True, cache=True)
def f_score(precision: float, recall: float, alpha: float) -> float:
    """Return ``P R / (alpha P + (1 - alpha) R)`` (Lo 2019); 0 unless both are above 0."""
    if precision <= 0.0 or recall <= 0.0:
        return 0.0
    return precision * recall / (alpha * precision + (1.0 - alpha) * recall)


@uncounted
def bead_yisi(row: int, position: int, sources: int, targets: int, band: Band, yisi: Yisi) -> float:
    """Return F of a bead with both sides, at most 1.

    Args:
        row: Source sentences up to the bead's end.
        position: Target sentences up to its end.
        sources: Source sentences of the bead, at least 1.
        targets: Target sentences of the bead, at least 1.
        band: The positions.
        yisi: The pieces and their weights.

    Returns:
        F, 0 if a side has no pieces; `NO_PATH` if the bead leaves the band.
    """
    if position - targets + 1 < band.low[row]:
        return NO_PATH
    forward, reverse = yisi.maxima
    of_targets = 0.0
    begin = band.begins[row] - band.low[row]
    for other in range(position - targets + 1, position + 1):
        of_targets += forward[begin + other, sources - 1]
    of_sources = 0.0
    for other in range(row - sources + 1, row + 1):
        if not (band.low[other] <= position - targets + 1 and position < band.high[other]):
            return NO_PATH
        of_sources += reverse[band.begins[other] + position - band.low[other], targets - 1]
    ours = yisi.source_ends[row] - yisi.source_ends[row - sources]
    theirs = yisi.target_ends[position] - yisi.target_ends[position - targets]
    if ours <= 0.0 or theirs <= 0.0:
        return 0.0
    return f_score(of_targets / theirs, of_sources / ours, yisi.alpha)


@uncounted
def singles(row: int, band: Band, yisi: Yisi, runs: int, scores: np.ndarray) -> None:
    """Compute F of runs of source sentences with each single target sentence of a row.

    Args:
        row: Source sentences up to the end of the runs, at least 1.
        band: The positions; each row has all of them.
        yisi: The pieces and their weights.
        runs: Number of runs.
        scores: Receives F, float64 ``[run, target sentence]``.
    """
    for run in range(runs):
        for target in range(scores.shape[1]):
            scores[run, target] = bead_yisi(row, target + 1, run + 1, 1, band, yisi)


@uncounted
def bead_cost(
    row: int, position: int, sources: int, targets: int, band: Band, pieces: Piecewise
) -> float:
    """Return the cost of a bead with both sides.

    Arguments are those of `bead_yisi`, with all that a cost needs.

    Returns:
        The cost, at least 0; infinity if the bead leaves the band.
    """
    score = bead_yisi(row, position, sources, targets, band, pieces.yisi)
    if score <= NO_PATH:
        return np.inf
    apart = (
        pieces.source_apart[row - 1, sources - 1] + pieces.target_apart[position - 1, targets - 1]
    )
    return 2.0 * max(1.0 - score, 0.0) / max(apart, MIN_APART)


@uncounted
def add_gains(
    band: Band, kinds: Kinds, pieces: Piecewise, first: int, last: int, scores: np.ndarray
) -> None:
    """Add the gains of the beads of some rows to their scores.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        pieces: The pieces.
        first: The first row.
        last: The row after the last.
        scores: Scores so far, as in `beads.ForRows`; `NO_PATH` is not changed.
    """
    for row in range(first, last):
        at = band.begins[row] - band.begins[first] - band.low[row]
        for position in range(band.low[row], band.high[row]):
            for kind in range(len(kinds.sources)):
                sources, targets = kinds.sources[kind], kinds.targets[kind]
                if scores[at + position, kind] <= NO_PATH or not sources or not targets:
                    continue
                cost = bead_cost(row, position, sources, targets, band, pieces)
                if cost == np.inf:
                    scores[at + position, kind] = NO_PATH
                    continue
                count = pieces.source_pieces[row] - pieces.source_pieces[row - sources]
                count += pieces.target_pieces[position] - pieces.target_pieces[position - targets]
                gain = (pieces.leave - cost) * math.sqrt(count)
                scores[at + position, kind] += pieces.weight * gain


@numba.njit(nogil=True, cache=True)
def path_costs(path: np.ndarray, band: Band, kinds: Kinds, pieces: Piecewise) -> np.ndarray:
    """Return the cost of each bead of a path, float64 ``[bead]``.

    0 for a bead with an empty side.
    """
    costs = np.zeros(len(path))
    row = 0
    position = 0
    for bead in range(len(path)):
        sources, targets = kinds.sources[path[bead]], kinds.targets[path[bead]]
        row += sources
        position += targets
        if sources and targets:
            costs[bead] = bead_cost(row, position, sources, targets, band, pieces)
    return costs
