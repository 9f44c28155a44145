"""How frequent the words of a document are."""

import numpy as np

from pairweave.transforms.kernels.hmm.sides import Words

PRIOR_WORDS = 100
"""Number of words of the fitted text that count as read before the document.

In a document of one sentence of ten words each word has a tenth of the words, so no translation
would be likelier than chance. Of 400 captions, each a document of its own (`multi30k` en-de, a
model of 12,000 pairs of news), 387 are kept with 100, 360 with 50, 232 with 20 and 1 with 0; of the
same number of pairs of captions that do not belong together, 25, 13, 0 and 0. The beads of a
document of a thousand words hardly change."""


def smoothed(frequency: np.ndarray, words: np.ndarray, known: Words) -> np.ndarray:
    """Return how frequent each word is, in its document and in the text of the model together.

    Args:
        frequency: Relative frequency of each word on its side of the document, float32 ``[word]``.
        words: Number of each word in the model, below 0 if it has none, int32 ``[word]``.
        known: Statistics of the model's words on that side; those of unseen words are last.
    """
    expected = known.unigram[np.where(words >= 0, words, len(known.unigram) - 1)]
    count = len(frequency)
    both = count * frequency.astype(np.float64) + PRIOR_WORDS * expected
    return (both / (count + PRIOR_WORDS)).astype(np.float32)
