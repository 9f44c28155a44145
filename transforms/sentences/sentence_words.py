"""The words of one side of a document."""

import dataclasses

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import fields_of, texts_of
from pairweave.transforms.kernels.text import words as kernels
from pairweave.transforms.text.tokens import TokenConfig, tokenize

_WHOLE = 1 << 30


@dataclasses.dataclass(frozen=True)
class SentenceWords:
    """One side of a document, cut into words.

    Attributes:
        offsets: Start of each sentence's words, int64 ``[sentence + 1]``.
        letter_offsets: Start of each word's letters, int64 ``[word + 1]``.
        letters: Folded code points, int32.
        frequency: Relative frequency of each word on its side, float32 ``[word]``.
    """

    offsets: np.ndarray
    letter_offsets: np.ndarray
    letters: np.ndarray
    frequency: np.ndarray

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.offsets) - 1


def cut_words(sentences: pa.Array, tokens: TokenConfig, language: str) -> SentenceWords:
    """Cut sentences into words and count them.

    Args:
        sentences: One side of a document, strings without nulls.
        tokens: How text is cut.
        language: Its language.
    """
    data, text_offsets = texts_of(sentences)
    offsets, spans = fields_of(tokenize(sentences, tokens, language))
    letter_offsets, letters = kernels.fold_tokens(
        data, text_offsets, offsets, spans["start"], spans["end"], *kernels.folding()
    )
    hashes = kernels.hash_tokens(letter_offsets, letters, _WHOLE)
    _, words, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    frequency = (counts / max(len(hashes), 1)).astype(np.float32)[words]
    return SentenceWords(offsets, letter_offsets, letters, frequency)
