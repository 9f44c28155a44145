"""Chooses the beads of a document by the links between their words.

The score of the second pass (`transforms.kernels.sentences.word_scores`) ignores the order of
words, so a bead in which a clause has moved to the next sentence scores hardly better than two that
are divided at the wrong place. The aligner's HMM knows the order, but takes too long for each bead
of a band. So it scores only the beads of paths that are nearly as good as the best one.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pairweave.models.hmm.hmm_parts import Parts
from pairweave.models.sentences.bead_weights import (
    COVERED_WEIGHT,
    KINDS,
    LIKELIHOOD_WEIGHT,
    UNCOVERED_WEIGHT,
)
from pairweave.transforms.kernels.hmm import pair_scores
from pairweave.transforms.kernels.hmm.sides import Side
from pairweave.transforms.kernels.scratch import make_scratch
from pairweave.transforms.kernels.sentences import bead_sides
from pairweave.transforms.kernels.sentences.beads import Band, ForRows, Told
from pairweave.transforms.kernels.sentences.close_beads import (
    CloseBeads,
    best_of_close,
    close_beads,
)

MARGIN = 8.0
"""By how much a path may be worse than the best one to be judged by links. With 6, 8, 10, or no
limit, strict F1 on the development documents is equal within 0.1 on average."""

MAX_CLOSE = 4
"""Maximum number of beads to judge for each sentence of a document, besides those of the best path.
Development documents have 1 to 3; sides that are unrelated, or repeat a sentence, have more."""

_PRODUCTS = 1_000_000
"""Pairs of words in the beads that are judged at a time: about a tenth of a second."""

Spans = tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""For each side, the first sentence of some beads, and the sentence after their last, int64
``[bead]``."""


def best_by_links(
    band: Band,
    scorers: Sequence[ForRows],
    sides: tuple[Side, Side],
    parts: Parts,
    told: Callable[[str], Told],
) -> np.ndarray:
    """Return the best path through a band, by the scores of its beads and by their links.

    Args:
        band: The positions.
        scorers: Functions that score the beads of some rows, as for `beads.best_beads`.
        sides: Both sides of the document; a pair is a sentence.
        parts: The fitted aligner, with an HMM.
        told: Returns the function that a step calls after each part of its work.

    Returns:
        The kind of each bead (`KINDS`), uint8 ``[bead]``.
    """
    most = MAX_CLOSE * (len(band.low) - 1 + int(band.high[-1]) - 1)
    close = close_beads(band, KINDS, scorers, MARGIN, most, told("finding the best paths"))
    scores = close.scores.copy()
    spans = _spans(close, band)
    judged = np.flatnonzero(_contested(spans))
    report = told("comparing links")
    done = 0
    for beads in _batches(spans, judged, sides):
        scores[beads] += link_scores(_part(spans, beads), sides, parts)
        done += len(beads)
        report(done, len(judged))
    return best_of_close(band, KINDS, close, scores)


def link_scores(
    spans: Spans,
    sides: tuple[Side, Side],
    parts: Parts,
) -> np.ndarray:
    """Return the scores of beads by the links of their words, float64 ``[bead]``.

    In each direction, the likelihood of the words given the other side, over that of the words by
    themselves; and the information of the words that have a partner, less a part of that of the
    words that have none. See `transforms.kernels.hmm.pair_scores`. A bead with a side that has no
    words scores 0.

    Args:
        spans: The sentences of the beads.
        sides: Both sides of the document; a pair is a sentence.
        parts: The fitted aligner, with an HMM.
    """
    source, target = (
        bead_sides.side_of_beads(side, *span) for side, span in zip(sides, spans, strict=True)
    )
    scratch = make_scratch()
    columns = pair_scores.score_pairs(source, target, parts.model, scratch)
    scores = np.zeros(len(source.offsets) - 1)
    for direction, side, words in (
        (0, target, parts.target_words),
        (1, source, parts.source_words),
    ):
        whole = bead_sides.information(side, words, scratch)
        likelihood = columns[direction, pair_scores.LIKELIHOOD] * np.diff(side.offsets)
        covered = columns[direction, pair_scores.COVERAGE] * whole
        scores += LIKELIHOOD_WEIGHT * (likelihood + whole)
        scores += COVERED_WEIGHT * covered - UNCOVERED_WEIGHT * (whole - covered)
    scores[(np.diff(source.offsets) == 0) | (np.diff(target.offsets) == 0)] = 0.0
    return scores


def _spans(close: CloseBeads, band: Band) -> Spans:
    """Return the sentences of beads."""
    rows, positions = close.ends(band)
    return (
        (rows - KINDS.sources[close.kinds], rows),
        (positions - KINDS.targets[close.kinds], positions),
    )


def _part(spans: Spans, beads: np.ndarray) -> Spans:
    """Return the sentences of some of the beads."""
    (first, last), (other_first, other_last) = spans
    return (first[beads], last[beads]), (other_first[beads], other_last[beads])


def _contested(spans: Spans) -> np.ndarray:
    """Tell which beads have two sides and are not part of every path, bool ``[bead]``."""
    (first, last), (other_first, other_last) = spans
    begins, ends = first + other_first, last + other_last
    # Each path covers each step from one sum of both positions to the next by one bead.
    steps = np.bincount(begins, minlength=ends[-1] + 1) - np.bincount(ends)
    covered = np.append(0, np.cumsum(np.cumsum(steps)))
    others = covered[ends] - covered[begins] > ends - begins
    return others & (first < last) & (other_first < other_last)


def _batches(spans: Spans, judged: np.ndarray, sides: tuple[Side, Side]) -> Iterator[np.ndarray]:
    """Yield the numbers of some beads in batches of about `_PRODUCTS` pairs of words."""
    products = np.ones(len(judged), np.int64)
    for side, (firsts, lasts) in zip(sides, _part(spans, judged), strict=True):
        products *= side.offsets[lasts] - side.offsets[firsts]
    ends = np.flatnonzero(np.diff(np.cumsum(products) // _PRODUCTS)) + 1
    if len(judged):
        yield from np.split(judged, ends)
