"""The lexicon of a fitted aligner as a translator of fragments: no download, no network."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from models.hmm_parts import Parts
from transforms.fragments import Translations, hash_words
from transforms.kernels import lexical
from transforms.kernels import words as word_kernels
from transforms.tokens import TokenConfig, tokenize

MOST_CHOICES = 8
"""Translations of a word."""

LEAST_WEIGHT = 0.02
"""Least weight of a word's translation."""

MOST_TRANSLATIONS = 16
"""Translations of a fragment."""


class LexicalTranslator:
    """Translates fragments by the best translations of their words, and combinations of them.

    A word's translation weighs as much as the geometric mean of its probability given the word and
    of the word's given it, in the lexicon of both directions that agree
    (`transforms.kernels.model1`). A word that the lexicon has never seen is translated as itself.
    It implements `transforms.fragments.FragmentTranslator`, for one pair of languages: those that
    the model was fitted on.
    """

    def __init__(self, parts: Parts, tokens: TokenConfig) -> None:
        """Pick the best translations of every word.

        Args:
            parts: The fitted model.
            tokens: How its text was cut.
        """
        self._tokens = tokens
        self._source = parts.source
        lexicon = parts.lexicon
        ahead, back = lexicon.probabilities.astype(np.float64).T
        weights = np.sqrt(ahead * back)
        rows = np.repeat(np.arange(len(parts.source)), np.diff(lexicon.row_offsets))
        order = np.lexsort((lexicon.columns, -weights, rows))
        rank = np.arange(len(order)) - lexicon.row_offsets[rows]
        best = order[(rank < MOST_CHOICES) & (weights[order] >= LEAST_WEIGHT)]
        self._weights = weights[best].astype(np.float32)
        vocabulary = parts.target
        self._choices = word_kernels.hash_tokens(
            vocabulary.letter_offsets, vocabulary.letters, 1 << 30
        )[lexicon.columns[best]]
        self._choice_offsets = np.searchsorted(rows[best], np.arange(len(parts.source) + 1))

    @property
    def knows_words(self) -> bool:
        """Return True: a word is looked up."""
        return True

    def translate(
        self,
        fragments: Sequence[str],
        source_lang: str,
        target_lang: str,  # noqa: ARG002 - the model has one
    ) -> Translations:
        """Return the best combinations of translations of each fragment's words."""
        texts = pa.array(fragments, pa.string())
        words, begins, letters = hash_words(texts, tokenize(texts, self._tokens, source_lang))
        numbers = self._source.number(begins, letters).astype(np.int64)
        # An unseen word has a row of its own, behind those of the lexicon.
        unseen = np.flatnonzero(numbers < 0)
        known = len(self._choice_offsets) - 1
        numbers[unseen] = known + np.arange(len(unseen))
        ends = self._choice_offsets[-1] + np.arange(1, len(unseen) + 1)
        return Translations(
            *lexical.combine_words(
                words.offsets,
                numbers,
                np.concatenate([self._choice_offsets, ends]),
                np.concatenate([self._choices, words.hashes[unseen]]),
                np.concatenate([self._weights, np.ones(len(unseen), np.float32)]),
                MOST_TRANSLATIONS,
            )
        )
