"""Beads scored by their words (Moore 2002, section 3.3); see the module `word_scores`."""

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


@numba.njit(nogil=True, cache=True)
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
        reverse: Likewise.

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


@numba.njit(nogil=True, cache=True)
def score_row(
    row: int,
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    forward: np.ndarray,
    reverse: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Score the beads that end in a row of positions.

    Args:
        row: The row.
        band: The positions.
        kinds: The kinds of beads.
        document: The document.
        weights: Weights of the parts of the score.
        forward: From `word_scores.score_words`.
        reverse: Likewise.
        scores: Receives the scores, float64 ``[position of the row, kind]``.
    """
    source_ends, target_ends = document.source_ends, document.target_ends
    for position in range(band.low[row], band.high[row]):
        at = position - band.low[row]
        for kind in range(len(kinds.sources)):
            score = prior(row, position, kind, kinds, document, weights)
            sources, targets = kinds.sources[kind], kinds.targets[kind]
            if score > NO_PATH and sources and targets:
                found = word_score(row, position, sources, targets, band, forward, reverse)
                words = (source_ends[row] - source_ends[row - sources]) * document.ratio
                others = target_ends[position] - target_ends[position - targets]
                apart = (words - others) ** 2 / max(words + others, 1.0)
                score += weights.words * found - weights.length * apart
                if found <= NO_PATH:
                    score = NO_PATH
            scores[at, kind] = score


def best_beads(
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    forward: np.ndarray,
    reverse: np.ndarray,
    told: Told | None = None,
) -> np.ndarray:
    """Find the best path by words.

    Args:
        band: The positions.
        kinds: The kinds of beads.
        document: The document.
        weights: Weights of the parts of the score.
        forward: From `word_scores.score_words`.
        reverse: Likewise.
        told: Is told of each block of rows when it is done.

    Returns:
        The last bead of the best path to each position of the band, uint8 ``[position]``.
    """
    search = begin_search(band, kinds)
    scores = forward, reverse
    for rows in blocks(0, len(band.low), told):
        _search_rows(rows, band, kinds, document, weights, scores, search)
    return search.back


@numba.njit(nogil=True, cache=True)
def _search_rows(
    rows: tuple[int, int],
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    scores: tuple[np.ndarray, np.ndarray],
    search: Search,
) -> None:
    """Continue a search from row ``rows[0]`` to before row ``rows[1]``."""
    for row in range(rows[0], rows[1]):
        score_row(row, band, kinds, document, weights, scores[0], scores[1], search.scores)
        advance(row, band, kinds, search.scores, search.best, search.back)


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
        found = word_score(row, position, sources, targets, band, forward, reverse)
        scores[bead] = found / max(words, 1)
    return scores
