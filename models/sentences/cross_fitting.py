"""Judges whether a document is a translation, by aligners that have not seen its pairs.

An aligner that is fitted only on documents learns the pairs that it then scores, including wrong
pairs. So two more aligners are fitted, each on one half of the pairs, and each judges the pairs of
the other half: cross-fitting (Chernozhukov et al. 2018). A pair of a translation scores better than
its sides with other partners nearby; a pair of other text does not.
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
"""Number of source sentences that go into a half together, so that beads of both passes do, too."""

SHIFTS = 4
"""Number of beads before and after a bead whose sides serve as its partners by chance."""

MIN_PAIRS = 60
"""Minimum number of pairs for an aligner that judges others. With 45, half of 100 sentences, the
gains of true and of false development documents still overlapped."""


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
    """Return how much better than chance the pairs of a path score, by the other half's aligner.

    Args:
        words: The document.
        path: Its beads.
        document: Its number, the same as when the halves were made.
        models: The aligners fitted on the pairs of half 0 and of half 1; None in place of an
            aligner that cannot judge.

    Returns:
        The gain of each bead that an aligner could judge, with sentences on both sides, in any
        order, float64. The gain is the bead's score (the mean over its words, as in the second
        pass) minus the mean score of each of its sides with other partners: the opposite sides of
        up to `SHIFTS` beads of the same half, before and after it.
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
    """Return the mean gain plus its standard error, a high estimate, so that few fail wrongly."""
    return float(gains.mean() + gains.std() / np.sqrt(len(gains)))


def _merged(side: SentenceWords, starts: np.ndarray, ends: np.ndarray) -> SentenceWords:
    """Return a side with each run of sentences joined into one sentence."""
    offsets, tokens = _places(side.offsets[starts], side.offsets[ends])
    letter_offsets, letters = _places(side.letter_offsets[tokens], side.letter_offsets[tokens + 1])
    return SentenceWords(offsets, letter_offsets, side.letters[letters], side.frequency[tokens])


def _places(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where runs begin when they are concatenated, and the places that they contain."""
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
    """Return the score of each bead minus the mean score with other partners."""
    others = np.delete(scores, SHIFTS, axis=1)
    gains: np.ndarray = scores[:, SHIFTS] - np.nanmean(others, axis=1)
    return gains
