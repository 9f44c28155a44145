"""Beads scored by their words (Moore 2002, section 3.3); see the module `word_scores`."""

import numba
import numpy as np

from pairweave.transforms.kernels.sentences.beads import (
    NO_PATH,
    Band,
    Document,
    Kinds,
    Weights,
)
from pairweave.transforms.kernels.uncounted import uncounted


@uncounted
def word_score(
    row: int,
    position: int,
    sources: int,
    targets: int,
    band: Band,
    forward: np.ndarray,
    reverse: np.ndarray,
) -> float:
    """Return the sum of the scores of a bead's words, of both directions.

    Args:
        row: Source sentences up to the bead's end.
        position: Target sentences up to its end.
        sources: Source sentences of the bead, at least 1.
        targets: Target sentences of the bead, at least 1.
        band: The positions.
        forward: From `word_scores.score_words`.
        reverse: Also from `word_scores.score_words`.

    Returns:
        The sum; `NO_PATH` if the bead leaves the band.
    """
    if position - targets + 1 < band.low[row]:
        return NO_PATH
    total = 0.0
    begin = band.begins[row] - band.low[row]
    for other in range(position - targets + 1, position + 1):
        total += forward[begin + other, sources - 1]
    for other in range(row - sources + 1, row + 1):
        if not band.low[other] <= position < band.high[other]:
            return NO_PATH
        total += reverse[band.begins[other] + position - band.low[other], targets - 1]
    return total if total > 0.5 * NO_PATH else NO_PATH


@uncounted
def add_words(
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    words: tuple[np.ndarray, np.ndarray],
    first: int,
    last: int,
    scores: np.ndarray,
) -> None:
    """Add the scores of the words of beads to their scores, less the cost of unequal lengths.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        document: The document.
        weights: Weights of the words and of the lengths.
        words: Both arrays of `word_scores.score_words`.
        first: The first row.
        last: The row after the last.
        scores: Scores so far (`beads.score_priors`), as in `beads.ForRows`; `NO_PATH` is not
            changed.
    """
    source_ends, target_ends = document.source_ends, document.target_ends
    for row in range(first, last):
        at = band.begins[row] - band.begins[first] - band.low[row]
        for position in range(band.low[row], band.high[row]):
            for kind in range(len(kinds.sources)):
                sources, targets = kinds.sources[kind], kinds.targets[kind]
                if scores[at + position, kind] <= NO_PATH or not sources or not targets:
                    continue
                total = word_score(row, position, sources, targets, band, words[0], words[1])
                if total <= NO_PATH:
                    scores[at + position, kind] = NO_PATH
                    continue
                ours = (source_ends[row] - source_ends[row - sources]) * document.ratio
                theirs = target_ends[position] - target_ends[position - targets]
                apart = (ours - theirs) ** 2 / max(ours + theirs, 1.0)
                scores[at + position, kind] += weights.words * total - weights.length * apart


@numba.njit(nogil=True, cache=True)
def path_scores(
    path: np.ndarray,
    band: Band,
    kinds: Kinds,
    document: Document,
    forward: np.ndarray,
    reverse: np.ndarray,
) -> np.ndarray:
    """Return the mean score of the words of each bead of a path, float64 ``[bead]``.

    0 for a bead with an empty side or without words.
    """
    scores = np.zeros(len(path))
    row = 0
    position = 0
    for bead in range(len(path)):
        sources, targets = kinds.sources[path[bead]], kinds.targets[path[bead]]
        row += sources
        position += targets
        if not sources or not targets:
            continue
        words = document.source_ends[row] - document.source_ends[row - sources]
        words += document.target_ends[position] - document.target_ends[position - targets]
        total = word_score(row, position, sources, targets, band, forward, reverse)
        scores[bead] = total / max(words, 1)
    return scores
