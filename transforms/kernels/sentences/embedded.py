"""Beads scored by the vectors of their sentences (Thompson and Koehn 2019, vecalign).

The vector of consecutive sentences is the sum of theirs. A bead costs

    c(x, y) = 2 (1 - cos(x, y)) n(x) n(y) / ((1 - mean_s cos(x, y_s)) + (1 - mean_s cos(x_s, y)))

with ``n`` the number of sentences of a side and ``s`` over the sentences of the other text, so that
two unrelated sentences cost about 1. The gain of a bead is the cost of skipping its sentences minus
its own cost.

Deliberate differences: the means are over all sentences, not over random ones, because the mean
cosine is one inner product with the mean of unit vectors. And consecutive sentences are not encoded
together, so each is encoded once.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.sentences.beads import (
    NO_PATH,
    Band,
    Document,
    Kinds,
    Search,
    Told,
    Weights,
    advance,
    begin_search,
    blocks,
    prior,
)
from pairweave.transforms.kernels.sentences.lexical import score_row


class Embedded(NamedTuple):
    """The vectors of a document within a band.

    Attributes:
        products: Inner product of the source and the target sentence before each position, float32
            ``[position]``.
        source_norms: Length of the vector of the ``run + 1`` source sentences up to each, float32
            ``[source sentence, run]``.
        target_norms: Likewise.
        source_apart: 1 minus the mean cosine of such a vector with those of the target sentences.
        target_apart: Likewise, with those of the source sentences.
        leave: Cost of skipping one sentence.
        weight: Weight of a gain.
    """

    products: np.ndarray
    source_norms: np.ndarray
    target_norms: np.ndarray
    source_apart: np.ndarray
    target_apart: np.ndarray
    leave: float
    weight: float


@numba.njit(nogil=True, cache=True)
def bead_cost(
    row: int, position: int, sources: int, targets: int, band: Band, embedded: Embedded
) -> float:
    """Return the cost of a bead with both sides, per pair of its sentences.

    Args:
        row: Source sentences up to the bead's end.
        position: Target sentences up to its end.
        sources: Source sentences of the bead, at least 1.
        targets: Target sentences of the bead, at least 1.
        band: The positions.
        embedded: The vectors.

    Returns:
        The cost over ``n(x) n(y)``, at least 0; infinity if the bead leaves the band.
    """
    total = 0.0
    for before in range(row - sources + 1, row + 1):
        if not (band.low[before] <= position - targets + 1 and position < band.high[before]):
            return np.inf
        start = band.begins[before] - band.low[before]
        for other in range(position - targets + 1, position + 1):
            total += embedded.products[start + other]
    norms = (
        embedded.source_norms[row - 1, sources - 1]
        * embedded.target_norms[position - 1, targets - 1]
    )
    apart = (
        embedded.source_apart[row - 1, sources - 1]
        + embedded.target_apart[position - 1, targets - 1]
    )
    cosine = total / norms if norms > 0.0 else 0.0
    return 2.0 * max(1.0 - cosine, 0.0) / max(apart, 1e-6)


@numba.njit(nogil=True, cache=True)
def add_gains(row: int, band: Band, kinds: Kinds, embedded: Embedded, scores: np.ndarray) -> None:
    """Add the gains of the beads that end in a row of positions to their scores.

    Args:
        row: The row.
        band: The positions.
        kinds: The kinds of beads.
        embedded: The vectors.
        scores: Scores so far, float64 ``[position of the row, kind]``; `NO_PATH` is not changed.
    """
    low = band.low[row]
    for position in range(low, band.high[row]):
        for kind in range(len(kinds.sources)):
            sources, targets = kinds.sources[kind], kinds.targets[kind]
            if scores[position - low, kind] <= NO_PATH or not sources or not targets:
                continue
            cost = bead_cost(row, position, sources, targets, band, embedded)
            if cost == np.inf:
                scores[position - low, kind] = NO_PATH
                continue
            gain = embedded.leave * (sources + targets) - cost * sources * targets
            scores[position - low, kind] += embedded.weight * gain


def best_beads(
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    embedded: Embedded,
    told: Told | None = None,
) -> np.ndarray:
    """Find the best path by vectors, the prior of each kind and the ends of paragraphs.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        document: The document.
        weights: Weights of the ends of paragraphs.
        embedded: The vectors.
        told: Is told of each block of rows when it is done.

    Returns:
        The last bead of the best path to each position of the band, uint8 ``[position]``.
    """
    search = begin_search(band, kinds)
    for rows in blocks(0, len(band.low), told):
        _search_rows(rows, band, kinds, document, weights, embedded, search)
    return search.back


@numba.njit(nogil=True, cache=True)
def _search_rows(
    rows: tuple[int, int],
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    embedded: Embedded,
    search: Search,
) -> None:
    """Continue a search from row ``rows[0]`` to before row ``rows[1]``."""
    scores = search.scores
    for row in range(rows[0], rows[1]):
        for position in range(band.low[row], band.high[row]):
            for kind in range(len(kinds.sources)):
                scores[position - band.low[row], kind] = prior(
                    row, position, kind, kinds, document, weights
                )
        add_gains(row, band, kinds, embedded, scores)
        advance(row, band, kinds, scores, search.best, search.back)


def best_beads_by_both(
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    forward: np.ndarray,
    reverse: np.ndarray,
    embedded: Embedded,
    told: Told | None = None,
) -> np.ndarray:
    """Find the best path by words and vectors.

    Arguments are those of `best_beads` here and in `transforms.kernels.sentences.lexical`.

    Returns:
        The last bead of the best path to each position of the band, uint8 ``[position]``.
    """
    search = begin_search(band, kinds)
    words = forward, reverse
    for rows in blocks(0, len(band.low), told):
        _search_rows_by_both(rows, band, kinds, document, weights, words, embedded, search)
    return search.back


@numba.njit(nogil=True, cache=True)
def _search_rows_by_both(
    rows: tuple[int, int],
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    words: tuple[np.ndarray, np.ndarray],
    embedded: Embedded,
    search: Search,
) -> None:
    """Continue a search from row ``rows[0]`` to before row ``rows[1]``."""
    scores = search.scores
    for row in range(rows[0], rows[1]):
        score_row(row, band, kinds, document, weights, words[0], words[1], scores)
        add_gains(row, band, kinds, embedded, scores)
        advance(row, band, kinds, scores, search.best, search.back)


@numba.njit(nogil=True, cache=True)
def path_costs(path: np.ndarray, band: Band, kinds: Kinds, embedded: Embedded) -> np.ndarray:
    """Return the cost of each bead of a path, per pair of its sentences, float64 ``[bead]``.

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
            costs[bead] = bead_cost(row, position, sources, targets, band, embedded)
    return costs
