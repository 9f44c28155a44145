"""The number of words of a text, whether or not its script separates them."""

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.kernels.text.unspaced_letters import (
    IDEOGRAPH,
    KANA,
    KINDS,
    SYLLABIC,
    count_unspaced_letters,
)
from pairweave.transforms.text import codepoints

LETTERS_IN_WORD = {SYLLABIC: 3.5, IDEOGRAPH: 1.5, KANA: 3.0}
"""Letters of a script without spaces for one word of English: so many that message catalogues of
programs (239 to 2,594 messages a language) have about as many words on both sides. Measured there:
Thai 3.3 letters without marks, Burmese 2.4, Khmer about 3.4 (without letters written under others);
Chinese 1.2 to 1.3; Japanese 1.6 kana and 0.5 ideographs."""


def words_of_tokens(texts: pa.ChunkedArray | pa.Array, tokens: np.ndarray) -> np.ndarray:
    """Return the words of texts whose letters are tokens where a script has no spaces.

    Args:
        texts: Strings without nulls ``[text]``.
        tokens: Number of the tokens (``words``) of each, int64 ``[text]``.

    Returns:
        float64 ``[text]``; the tokens themselves where there are no such letters.
    """
    letters = count_unspaced_letters(*texts_of(texts), codepoints.properties())
    words = tokens.astype(np.float64)
    for kind in range(KINDS):
        size = LETTERS_IN_WORD[kind]
        words -= letters[:, kind] * (size - 1) / size
    return np.where(tokens > 0, np.maximum(words, 1.0), 0.0)
