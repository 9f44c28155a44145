"""A fitted aligner's lexicon and phrase table as a translator of fragments, without a download."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from pairweave.models.hmm.hmm_parts import Parts
from pairweave.models.hmm.phrase_table import PhraseTable
from pairweave.transforms.kernels.hmm import fragment_translations, phrase_table
from pairweave.transforms.kernels.hmm.fragments import Translations
from pairweave.transforms.kernels.text import words as word_kernels
from pairweave.transforms.tags.fragments import hash_words
from pairweave.transforms.text.tokens import TokenConfig, tokenize

MAX_CHOICES = 8
"""Maximum number of translations of a word."""

MIN_WEIGHT = 0.02
"""Minimum weight of a word's translation."""

MAX_TRANSLATIONS = 16
"""Maximum number of translations of a fragment."""


class LexicalTranslator:
    """Translates fragments by the phrase table, and by combining the translations of their words.

    The phrase table's translations come first (`models.hmm.phrase_table`). The weight of a word's
    translation is the geometric mean of the probabilities of both directions, in the lexicon that
    is trained by agreement (`transforms.kernels.hmm.model1`). A word that is not in the lexicon is
    left as it is. Implements `transforms.tags.fragments.FragmentTranslator` for the pair of
    languages that the model was fitted on.
    """

    def __init__(
        self, parts: Parts, tokens: TokenConfig, phrases: PhraseTable | None = None
    ) -> None:
        """Pick the best translations of every word.

        Args:
            parts: The fitted model.
            tokens: How its text was cut into tokens.
            phrases: Its phrase table, if it has one.
        """
        self._tokens = tokens
        self._source = parts.source
        lexicon = parts.lexicon
        ahead, back = lexicon.probabilities.astype(np.float64).T
        weights = np.sqrt(ahead * back)
        rows = np.repeat(np.arange(len(parts.source)), np.diff(lexicon.row_offsets))
        order = np.lexsort((lexicon.columns, -weights, rows))
        rank = np.arange(len(order)) - lexicon.row_offsets[rows]
        best = order[(rank < MAX_CHOICES) & (weights[order] >= MIN_WEIGHT)]
        self._weights = weights[best].astype(np.float32)
        vocabulary = parts.target
        hashes = word_kernels.hash_tokens(vocabulary.letter_offsets, vocabulary.letters, 1 << 30)
        self._choices = hashes[lexicon.columns[best]]
        self._choice_offsets = np.searchsorted(rows[best], np.arange(len(parts.source) + 1))
        self._phrases = phrases
        if phrases is not None:
            offsets, words = phrases.targets
            self._phrase_words = phrases.choice_offsets, offsets, hashes[words]

    @property
    def translates_words_cheaply(self) -> bool:
        """Return True: a word is looked up."""
        return True

    def translate(
        self,
        fragments: Sequence[str],
        source_lang: str,
        target_lang: str,  # noqa: ARG002 - the model has one
    ) -> Translations:
        """Return the phrase table's translations of each fragment, then the combined ones."""
        texts = pa.array(fragments, pa.string())
        words, begins, letters = hash_words(texts, tokenize(texts, self._tokens, source_lang))
        known_numbers = self._source.number(begins, letters)
        numbers = known_numbers.astype(np.int64)
        # An unseen word has its own row, after those of the lexicon.
        unseen = np.flatnonzero(numbers < 0)
        known = len(self._choice_offsets) - 1
        numbers[unseen] = known + np.arange(len(unseen))
        ends = self._choice_offsets[-1] + np.arange(1, len(unseen) + 1)
        combined = fragment_translations.combine_words(
            words.offsets,
            numbers,
            np.concatenate([self._choice_offsets, ends]),
            np.concatenate([self._choices, words.hashes[unseen]]),
            np.concatenate([self._weights, np.ones(len(unseen), np.float32)]),
            MAX_TRANSLATIONS,
        )
        if self._phrases is None:
            return Translations(*combined)
        rows = self._phrases.find(words.offsets, known_numbers)
        return Translations(*phrase_table.put_before(rows, *self._phrase_words, *combined))
