"""Beads scored by the vectors of their sentences (Thompson and Koehn 2019, vecalign).

The vector of consecutive sentences is the sum of theirs. A bead costs

    c(x, y) = 2 (1 - cos(x, y)) n(x) n(y) / ((1 - mean_s cos(x, y_s)) + (1 - mean_s cos(x_s, y)))

where ``n`` is the number of sentences of a side and ``s`` ranges over the sentences of the other
text, so that two unrelated sentences cost about 1. The gain of a bead is the cost of skipping its
sentences minus its own cost.

Deliberate differences: the means are over all sentences, not over random ones, because the mean
cosine is one inner product with the mean of unit vectors. And consecutive sentences are not encoded
together, so each is encoded once.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.sentences.beads import MIN_APART, NO_PATH, Band, Kinds
from pairweave.transforms.kernels.uncounted import uncounted


class Embedded(NamedTuple):
    """The vectors of a document within a band.

    Attributes:
        products: Inner product of the source and the target sentence before each position, float32
            ``[position]``.
        source_norms: Length of the vector of the ``run + 1`` source sentences up to each, float32
            ``[source sentence, run]``.
        target_norms: The same for the target.
        source_apart: 1 minus the mean cosine of such a vector with those of the target sentences.
        target_apart: The same for the target, with those of the source sentences.
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


@uncounted
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
    return 2.0 * max(1.0 - cosine, 0.0) / max(apart, MIN_APART)


@uncounted
def add_gains(
    band: Band, kinds: Kinds, embedded: Embedded, first: int, last: int, scores: np.ndarray
) -> None:
    """Add the gains of the beads of some rows to their scores.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        embedded: The vectors.
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
                cost = bead_cost(row, position, sources, targets, band, embedded)
                if cost == np.inf:
                    scores[at + position, kind] = NO_PATH
                    continue
                gain = embedded.leave * (sources + targets) - cost * sources * targets
                scores[at + position, kind] += embedded.weight * gain


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
