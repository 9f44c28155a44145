"""Beads scored by the lengths of their sentences (Moore 2002, section 3.1).

The words of a bead's target sentences are Poisson-distributed about the words of its source
sentences times the length ratio of both texts. The alternative is that its target sentences are
unrelated to the source ones: then their length is a sum of lengths as they occur in the text. The
score of a bead is the logarithm of the ratio of the two probabilities, plus the prior of its kind;
the former is 0 for a bead with an empty side.
"""

import math
from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.sentences.beads import (
    NO_PATH,
    Band,
    Document,
    Kinds,
    Told,
    Weights,
    blocks,
    prior,
    score_priors,
    widest_row,
)
from pairweave.transforms.kernels.uncounted import uncounted

LONGEST = 1_500
"""Sums of lengths from this one on, in words, are in no table. The probability of one of them is
that of all of them together times that of a geometric distribution."""


@numba.njit(nogil=True, cache=True)
def chance_lengths(lengths: np.ndarray, most: int, longest: int) -> np.ndarray:
    """Return the probabilities of sums of unrelated lengths.

    The distribution of one length is half that of the text, smoothed by a triangle as wide as the
    length itself, and half geometric with the same mean, so that no length is impossible.

    Args:
        lengths: Words of each sentence, int64.
        most: Maximum number of sentences in a sum.
        longest: Longest sum with its own probability; longer ones count as this one.

    Returns:
        Logarithms of probabilities, float64 ``[sentences - 1, sum]``.
    """
    one = np.zeros(longest + 1)
    for length in lengths:
        reach = min(length, longest) // 4 + 1
        total = 0.0
        for at in range(-reach, reach + 1):
            total += reach + 1 - abs(at)
        for at in range(-reach, reach + 1):
            place = min(max(min(length, longest) + at, 0), longest)
            one[place] += 0.5 * (reach + 1 - abs(at)) / (total * len(lengths))
    mean = max(lengths.mean(), 1.0)
    share = 1.0 / (mean + 1.0)
    weight = share
    for at in range(longest + 1):
        one[at] += 0.5 * weight
        weight *= 1.0 - share
    result = np.empty((most, longest + 1))
    now = one
    for count in range(most):
        if count:
            new = np.zeros(longest + 1)
            for first in range(longest + 1):
                for second in range(longest + 1 - first):
                    new[first + second] += now[first] * one[second]
            now = new
        for at in range(longest + 1):
            result[count, at] = math.log(max(now[at], 1e-300))
    return result


class LengthModel(NamedTuple):
    """The model of lengths.

    Attributes:
        log_chances: From `chance_lengths` of the target side.
        log_factorials: Logarithms of the factorials of the sums, float64.
        log_long: Logarithms of the probabilities of sums of `LONGEST` or more, float64
            ``[sentences - 1]``.
        share: Parameter of the geometric distribution of these sums.
    """

    log_chances: np.ndarray
    log_factorials: np.ndarray
    log_long: np.ndarray
    share: float


@uncounted
def with_lengths(
    score: float,
    row: int,
    position: int,
    kind: int,
    kinds: Kinds,
    document: Document,
    model: LengthModel,
) -> float:
    """Return the score of a bead with that of its lengths added.

    Args:
        score: Its score so far, such as `beads.prior`; `NO_PATH` is returned unchanged.
        row: Source sentences up to the bead's end.
        position: Target sentences up to its end.
        kind: Its kind.
        kinds: The kinds of beads.
        document: The document.
        model: The model of lengths.
    """
    sources, targets = kinds.sources[kind], kinds.targets[kind]
    if score <= NO_PATH or not sources or not targets:
        return score
    words = document.source_ends[row] - document.source_ends[row - sources]
    others = document.target_ends[position] - document.target_ends[position - targets]
    mean = max(words, 1) * document.ratio
    poisson = others * math.log(mean) - mean
    if others < LONGEST:
        poisson -= model.log_factorials[others]
        return score + poisson - model.log_chances[targets - 1, others]
    poisson -= math.lgamma(others + 1.0)
    log_chance = model.log_long[targets - 1] + math.log(model.share)
    return score + poisson - (log_chance + (others - LONGEST) * math.log1p(-model.share))


@uncounted
def add_lengths(
    band: Band,
    kinds: Kinds,
    document: Document,
    model: LengthModel,
    first: int,
    last: int,
    scores: np.ndarray,
) -> None:
    """Add the scores of the lengths of beads to their scores.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        document: The document.
        model: The model of lengths.
        first: The first row.
        last: The row after the last.
        scores: Scores so far (`beads.score_priors`), as in `beads.ForRows`.
    """
    for row in range(first, last):
        at = band.begins[row] - band.begins[first] - band.low[row]
        for position in range(band.low[row], band.high[row]):
            for kind in range(len(kinds.sources)):
                scores[at + position, kind] = with_lengths(
                    scores[at + position, kind], row, position, kind, kinds, document, model
                )


class Sums(NamedTuple):
    """Logarithms of the summed probabilities of paths, as far as they are computed.

    Attributes:
        forward: Sums over the paths from the start to each position of a band, float64
            ``[position]``.
        backward: Sums over the paths from each position to the end, float64 ``[position]``.
        scores: Space for the scores of the beads that end in a row, float64
            ``[position of the row, kind]``.
    """

    forward: np.ndarray
    backward: np.ndarray
    scores: np.ndarray


def posteriors(
    path: np.ndarray,
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    model: LengthModel,
    told: Told | None = None,
) -> np.ndarray:
    """Compute the posterior of each bead of a path, given all paths of a band.

    Args:
        path: Kinds of the path's beads, uint8 ``[bead]``.
        band: The positions.
        kinds: The kinds of beads.
        document: The document.
        weights: Weights of the ends of paragraphs.
        model: The model of lengths.
        told: Called after each block of rows; each row counts twice.

    Returns:
        Probabilities, float64 ``[bead]``.
    """
    rows = len(band.low)
    sums = Sums(
        np.full(int(band.begins[-1]), NO_PATH),
        np.full(int(band.begins[-1]), NO_PATH),
        np.empty((widest_row(band), len(kinds.sources))),
    )
    sums.forward[0] = 0.0
    sums.backward[-1] = 0.0
    for first, last in blocks(0, 2 * rows, told):
        # A block may contain the last rows of the forward pass and the first of the backward one.
        _sum_forward(first, min(last, rows), band, kinds, document, weights, model, sums)
        begin, end = max(first, rows), max(last, rows)
        _sum_backward(2 * rows - end, 2 * rows - begin, band, kinds, document, weights, model, sums)
    return _path_chances(path, band, kinds, document, weights, model, sums)


@uncounted
def _sum_forward(
    first: int,
    last: int,
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    model: LengthModel,
    sums: Sums,
) -> None:
    """Continue ``sums.forward`` from row ``first`` to before row ``last``."""
    forward, _, scores = sums
    for row in range(first, last):
        score_priors(band, kinds, document, weights, row, row + 1, scores)
        add_lengths(band, kinds, document, model, row, row + 1, scores)
        for position in range(band.low[row], band.high[row]):
            here = _place(band, row, position)
            for kind in range(len(kinds.sources)):
                before = _place(band, row - kinds.sources[kind], position - kinds.targets[kind])
                if before >= 0:
                    score = forward[before] + scores[position - band.low[row], kind]
                    forward[here] = _add_logs(forward[here], score)


@uncounted
def _sum_backward(
    first: int,
    last: int,
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    model: LengthModel,
    sums: Sums,
) -> None:
    """Continue ``sums.backward`` from row ``last - 1`` back to row ``first``."""
    _, backward, scores = sums
    for row in range(last - 1, first - 1, -1):
        score_priors(band, kinds, document, weights, row, row + 1, scores)
        add_lengths(band, kinds, document, model, row, row + 1, scores)
        for position in range(band.high[row] - 1, band.low[row] - 1, -1):
            here = _place(band, row, position)
            for kind in range(len(kinds.sources)):
                before = _place(band, row - kinds.sources[kind], position - kinds.targets[kind])
                if before >= 0:
                    score = backward[here] + scores[position - band.low[row], kind]
                    backward[before] = _add_logs(backward[before], score)


@numba.njit(nogil=True, cache=True)
def _path_chances(
    path: np.ndarray,
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    model: LengthModel,
    sums: Sums,
) -> np.ndarray:
    """Return the posterior of each bead of a path, given the finished sums."""
    forward, backward, _ = sums
    chances = np.empty(len(path))
    row = 0
    position = 0
    for bead in range(len(path)):
        before = _place(band, row, position)
        row += kinds.sources[path[bead]]
        position += kinds.targets[path[bead]]
        kind = path[bead]
        score = prior(row, position, kind, kinds, document, weights)
        score = with_lengths(score, row, position, kind, kinds, document, model)
        here = _place(band, row, position)
        chances[bead] = math.exp(min(forward[before] + score + backward[here] - forward[-1], 0.0))
    return chances


@uncounted
def _place(band: Band, row: int, position: int) -> int:
    """Return the index of a position in the concatenation of all rows, -1 outside the band."""
    if row < 0 or not band.low[row] <= position < band.high[row]:
        return -1
    return band.begins[row] + position - band.low[row]


@numba.njit(nogil=True, cache=True)
def _add_logs(one: float, other: float) -> float:
    """Return the logarithm of the sum of two numbers given by their logarithms."""
    if one < other:
        one, other = other, one
    return one + math.log1p(math.exp(max(other - one, -700.0))) if other > NO_PATH else one
