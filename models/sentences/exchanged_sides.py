"""Judges whether the sides of a document look exchanged: each is like the other's language."""

import numpy as np

from pairweave.models.hmm.hmm import HmmModel
from pairweave.models.hmm.hmm_vocabulary import Vocabulary
from pairweave.models.sentences.sentence_aligner import DocumentWords
from pairweave.transforms.sentences.sentence_words import SentenceWords

MIN_WORDS = 20
"""Minimum number of words of each side for distinguishing its language from the other."""

MIN_GAIN = 0.5
"""How much likelier, as a natural logarithm, a word must be on average by the other language's
unigrams. On the development documents of `tests/benchmarks/bench_bitext.py`, with aligners fitted
on 4,000 pairs of their parallel text, it is 1.7 to 3.1 for each side if they are exchanged, and
-1.7 to -3.1 if they are not."""


def look_exchanged(words: DocumentWords, model: HmmModel) -> bool:
    """Tell whether the words of both sides are likelier in the other side's language.

    A fitted aligner knows how often each word occurred on each side. The criterion is the mean of
    ``log p(w | other) - log p(w | own)``, add-one smoothed unigrams, over all words of a side.

    Args:
        words: The document.
        model: A fitted aligner of its languages, whose own sides are not exchanged.
    """
    own, other = model.parts.source, model.parts.target
    gains = (
        mean_gain(words.source, own, other),
        mean_gain(words.target, other, own),
    )
    enough = min(int(words.source.offsets[-1]), int(words.target.offsets[-1])) >= MIN_WORDS
    return enough and min(gains) >= MIN_GAIN


def mean_gain(side: SentenceWords, own: Vocabulary, other: Vocabulary) -> float:
    """Return how much likelier the words of a side are by another vocabulary, on average."""
    gains = _log_likelihoods(side, other) - _log_likelihoods(side, own)
    return float(gains.mean()) if len(gains) else 0.0


def _log_likelihoods(side: SentenceWords, vocabulary: Vocabulary) -> np.ndarray:
    numbers = vocabulary.number(side.letter_offsets, side.letters)
    known = (numbers >= 0) & (numbers < len(vocabulary))
    counts = np.zeros(len(numbers), np.float64)
    counts[known] = vocabulary.counts[numbers[known]]
    seen = float(vocabulary.counts.sum()) + len(vocabulary) + 1
    likelihoods: np.ndarray = np.log((counts + 1) / seen)
    return likelihoods
