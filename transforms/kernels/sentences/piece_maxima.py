"""The greatest similarities of each sentence's pieces with runs of sentences of the other side.

In YiSi-2 a piece counts with its greatest cosine to any piece of the other side (Lo 2019). Its
greatest cosine to several sentences is the greatest over them, so the maxima of all runs of up to
``most`` sentences follow from those of single sentences, and each pair of pieces is compared once.
Maxima are summed over the pieces of a sentence with their weights; the sum of a bead is the sum
over its sentences, as in `word_scores`.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.sentences.beads import NO_PATH, Band, widest_row
from pairweave.transforms.kernels.uncounted import uncounted

_NOTHING = np.float32(-2.0)
"""Below every cosine."""


class WeightedPieces(NamedTuple):
    """The pieces of one side of a document, without their vectors.

    Attributes:
        ends: Pieces before each position, int64 ``[sentence + 1]``.
        weights: Weight of each piece, float64 ``[piece]``, above 0.
    """

    ends: np.ndarray
    weights: np.ndarray


class Maxima(NamedTuple):
    """Weighted sums of greatest similarities within a band.

    A cell ``(i, j)`` is a source and a target sentence; it is in the band if the position after
    both is.

    Attributes:
        forward: Sum over the pieces of target sentence ``j`` of their weights times their greatest
            similarity with the ``run + 1`` source sentences up to ``i``, float32
            ``[position, run]``; `NO_PATH` for a run that leaves the text or the band.
        reverse: The same for source sentence ``i`` and the ``run + 1`` target sentences up to
            ``j``.
    """

    forward: np.ndarray
    reverse: np.ndarray


class Recent(NamedTuple):
    """Each target piece's greatest similarity with each of the last source sentences.

    Attributes:
        best: Greatest similarities, as a ring buffer, float32 ``[row % run, place]``.
        firsts: The target piece at place 0, int64 ``[row % run]``.
        counts: Number of places used, int64 ``[row % run]``.
    """

    best: np.ndarray
    firsts: np.ndarray
    counts: np.ndarray


class OfRow(NamedTuple):
    """Greatest similarities of a row's source sentence, gathered from parts of its pieces.

    Attributes:
        of_targets: Similarity of each target piece of the row with the source sentence, float32
            ``[place]``.
        of_sources: Similarity of each source piece with each target sentence of the row, float32
            ``[source piece, target sentence]``.
    """

    of_targets: np.ndarray
    of_sources: np.ndarray


def begin_maxima(band: Band, most: int) -> Maxima:
    """Return the sums of a band before its first row.

    Args:
        band: The positions.
        most: Maximum number of sentences in a run.
    """
    shape = int(band.begins[-1]), most
    forward, reverse = (np.full(shape, np.float32(NO_PATH), np.float32) for _ in range(2))
    return Maxima(forward, reverse)


def begin_recent(band: Band, target: WeightedPieces, most: int) -> Recent:
    """Return the similarities of the rows before the first."""
    reached = target.ends[band.high - 1] - target.ends[np.maximum(band.low - 1, 0)]
    widest = int(reached.max()) if widest_row(band) else 0
    none = np.zeros(most, np.int64)
    return Recent(np.zeros((most, widest), np.float32), none, none.copy())


def begin_row(row: int, band: Band, source: WeightedPieces, target: WeightedPieces) -> OfRow:
    """Return the greatest similarities of a row before any is known."""
    low, high = sentences_of(row, band)
    pieces = int(source.ends[row] - source.ends[row - 1])
    places = int(target.ends[high] - target.ends[low])
    return OfRow(
        np.full(places, _NOTHING, np.float32),
        np.full((pieces, high - low), _NOTHING, np.float32),
    )


def sentences_of(row: int, band: Band) -> tuple[int, int]:
    """Return the first target sentence that a row is compared with, and the one after the last."""
    return max(int(band.low[row]) - 1, 0), int(band.high[row]) - 1


@uncounted
def add_similarities(similarities: np.ndarray, first: int, ends: np.ndarray, of_row: OfRow) -> None:
    """Add the similarities of some source pieces of a row.

    Args:
        similarities: Similarities of each with all target pieces of the row, float32 ``[source
            piece, place]``.
        first: Number of the first of these source pieces within the sentence.
        ends: Places before each of the row's target sentences, int64 ``[target sentence + 1]``.
        of_row: Receives the greatest.
    """
    of_targets, of_sources = of_row.of_targets, of_row.of_sources
    for piece in range(len(similarities)):
        line = similarities[piece]
        for place in range(len(of_targets)):
            of_targets[place] = max(of_targets[place], line[place])
        for sentence in range(len(ends) - 1):
            best = _NOTHING
            for place in range(ends[sentence], ends[sentence + 1]):
                best = max(best, line[place])
            of_sources[first + piece, sentence] = best


@numba.njit(nogil=True, cache=True)
def end_row(
    row: int,
    band: Band,
    source: WeightedPieces,
    target: WeightedPieces,
    of_row: OfRow,
    recent: Recent,
    maxima: Maxima,
) -> None:
    """Sum up a row whose similarities are complete.

    Args:
        row: The row, at least 1; those before it are done.
        band: The positions.
        source: The source pieces.
        target: The target pieces.
        of_row: The row's greatest similarities.
        recent: Those of the rows before; this row is added.
        maxima: Receives the sums of the row.
    """
    i = row - 1
    most = len(recent.firsts)
    low = max(band.low[row] - 1, 0)
    high = band.high[row] - 1
    first = target.ends[low]
    places = target.ends[high] - first
    recent.best[i % most, :places] = of_row.of_targets
    recent.firsts[i % most] = first
    recent.counts[i % most] = places
    begin = band.begins[row] + 1 - band.low[row]
    greatest = np.full(places, _NOTHING, dtype=np.float32)
    for run in range(min(most, row)):
        kept = (i - run) % most
        shift = first - recent.firsts[kept]
        top = max(min(recent.counts[kept] - shift, places), 0)
        for place in range(top):
            greatest[place] = max(greatest[place], recent.best[kept, place + shift])
        for j in range(low, high):
            if target.ends[j + 1] - first > top:
                break
            total = 0.0
            for piece in range(target.ends[j], target.ends[j + 1]):
                total += target.weights[piece] * greatest[piece - first]
            maxima.forward[begin + j, run] = total
    start = source.ends[i]
    pieces = source.ends[row] - start
    of_run = np.empty(pieces, dtype=np.float32)
    for j in range(low, high):
        of_run[:] = _NOTHING
        for run in range(min(most, j - low + 1)):
            total = 0.0
            for piece in range(pieces):
                of_run[piece] = max(of_run[piece], of_row.of_sources[piece, j - run - low])
                total += source.weights[start + piece] * of_run[piece]
            maxima.reverse[begin + j, run] = total
