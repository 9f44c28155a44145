"""Tells whether a document is a translation, by aligners that have not seen its pairs.

An aligner that is fitted on documents alone learns the pairs that it then scores, wrong ones too.
So it is fitted twice more, on either half of the pairs, and the pairs of each half are judged by
the aligner of the other one: cross-fitting (Chernozhukov et al. 2018). A pair of a translation
scores better than the same sides with partners near them, a pair of other text does not.
"""

from collections.abc import Sequence

import numpy as np

from pairweave.models.hmm.hmm import HmmModel
from pairweave.models.sentences.bead_weights import NOTHING
from pairweave.models.sentences.sentence_aligner import (
    DocumentWords,
    Path,
    band_about,
    texts_of_words,
)
from pairweave.transforms.kernels.sentences import word_scores
from pairweave.transforms.sentences.sentence_words import SentenceWords

BLOCK = 10
"""Source sentences that are in one half together, so that the beads of two passes are, too."""

SHIFTS = 4
"""Number of beads before and after one whose sides serve as partners by chance."""

LEAST_PAIRS = 60
"""Fewest pairs that an aligner must be fitted on to judge others. With 45, half of 100 sentences,
the gains of true and of false development documents were not yet apart."""


def half_of(document: int, sentences: np.ndarray) -> np.ndarray:
    """Return the half, 0 or 1, that beads are in.

    Args:
        document: Number of the document.
        sentences: First source sentence of each bead, int ``[bead]``.
    """
    halves: np.ndarray = (document + sentences // BLOCK) % 2
    return halves


def gains_over_chance(
    words: DocumentWords, path: Path, document: int, models: Sequence[HmmModel | None]
) -> np.ndarray:
    """Return how much better the pairs of a path score than chance, by the other half's aligner.

    Args:
        words: The document.
        path: Its beads.
        document: Its number, as it was when the halves were made.
        models: The aligners fitted on the pairs of half 0 and of half 1; None for one that cannot
            judge.

    Returns:
        For each bead with sentences on both sides that an aligner could judge, in any order, its
        score (the mean of its words', as of a second-pass path) less the mean score of its source
        with the target, and the other way round, of up to `SHIFTS` beads of its half on either
        side; float64.
    """
    sources = np.cumsum(path.sources)
    targets = np.cumsum(path.targets)
    starts = sources - path.sources, targets - path.targets
    halves = half_of(document, starts[0])
    gains = [np.zeros(0)]
    for half, model in enumerate((models[1], models[0])):
        beads = np.flatnonzero((halves == half) & (path.sources > 0) & (path.targets > 0))
        if model is None or len(beads) < 2:
            continue
        sides = (
            _merged(words.source, starts[0][beads], sources[beads]),
            _merged(words.target, starts[1][beads], targets[beads]),
        )
        gains.append(_gains(_scores(*sides, model)))
    return np.concatenate(gains)


def least_likely_gain(gains: np.ndarray) -> float:
    """Return the mean gain plus its standard error, below which a translation rarely is."""
    return float(gains.mean() + gains.std() / np.sqrt(len(gains)))


def _merged(side: SentenceWords, starts: np.ndarray, ends: np.ndarray) -> SentenceWords:
    """Return a side with each run of sentences as one."""
    offsets, tokens = _places(side.offsets[starts], side.offsets[ends])
    letter_offsets, letters = _places(side.letter_offsets[tokens], side.letter_offsets[tokens + 1])
    return SentenceWords(offsets, letter_offsets, side.letters[letters], side.frequency[tokens])


def _places(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where runs begin if they are laid end to end, and the places that they contain."""
    sizes = ends - starts
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return offsets, np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])


def _scores(source: SentenceWords, target: SentenceWords, model: HmmModel) -> np.ndarray:
    """Return the score of each source with the targets near it, float64 ``[bead, shift]``.

    Shift `SHIFTS` is its own target; NaN for a target that does not exist.
    """
    parts, count = model.parts, len(source)
    ours, theirs = texts_of_words(source, target, parts)
    band = band_about(np.arange(count + 1), count, SHIFTS + 1)
    forward, reverse = word_scores.score_words(
        ours, theirs, (parts.source_words, parts.target_words), parts.lexicon, band, 1, NOTHING
    )
    both = (forward + reverse)[:, 0].astype(np.float64)
    rows = np.arange(count)[:, None]
    others = rows + np.arange(-SHIFTS, SHIFTS + 1)
    inside = (others >= 0) & (others < count)
    others = np.clip(others, 0, count - 1)
    cells = band.begins[rows + 1] + others + 1 - band.low[rows + 1]
    sizes = np.diff(source.offsets)[rows] + np.diff(target.offsets)[others]
    scores: np.ndarray = np.where(inside, both[cells] / np.maximum(sizes, 1), np.nan)
    return scores


def _gains(scores: np.ndarray) -> np.ndarray:
    """Return the score of each bead less the mean of those with other partners."""
    others = np.delete(scores, SHIFTS, axis=1)
    gains: np.ndarray = scores[:, SHIFTS] - np.nanmean(others, axis=1)
    return gains
