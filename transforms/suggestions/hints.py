"""Hints that reveal part of a suggestion: its first letters, or one of its words.

The second sub-task of the WMT 2022 shared task on translation suggestion (Yang et al. 2022) gives a
model such a hint with the masked translation.
"""

import numpy as np
import pyarrow as pa
import regex

from pairweave.transforms.indexed_tag import TAG_PATTERN
from pairweave.transforms.kernels import sampling
from pairweave.transforms.suggestions.masks import Masks
from pairweave.transforms.suggestions.suggestion_options import HintConfig
from pairweave.transforms.suggestions.token_view import TokenView

_TAG = regex.compile(TAG_PATTERN)


def first_letters(suggestion: str, count: int) -> str | None:
    """Return the first characters (grapheme clusters), without tags and leading white space.

    >>> first_letters(" weiße Katzen", 3)
    'wei'
    """
    text = _TAG.sub("", suggestion).strip()
    return "".join(regex.findall(r"\X", text)[:count]) or None


def make_hints(
    suggestions: pa.StringArray,
    masks: Masks,
    reference: TokenView,
    keys: np.ndarray,
    config: HintConfig,
    seed: int,
) -> pa.StringArray:
    """Return a hint for each suggestion; null if hints are off or it contains no word.

    Args:
        suggestions: The suggestions ``[mask]``.
        masks: Their masks.
        reference: The references.
        keys: Keys for the pairs' draws, uint64 ``[pair]``.
        config: The settings.
        seed: The run's seed.
    """
    if config.hint == "none":
        return pa.nulls(len(masks), pa.string())
    if config.hint == "letters":
        letters = [first_letters(text, config.hint_letters) for text in suggestions.to_pylist()]
        return pa.array(letters, pa.string())
    hints = [
        _words_hint(words, keys[masks.pair[mask]], masks, mask, config.hint, seed)
        for mask, words in enumerate(_words(masks, reference))
    ]
    return pa.array(hints, pa.string())


def _words(masks: Masks, reference: TokenView) -> list[list[str]]:
    """Return the words of each suggestion: its tokens with a letter or digit."""
    data = reference.data.tobytes()
    base = reference.token_offsets[masks.pair] + masks.suggestion_first
    return [
        [
            data[reference.byte_starts[token] : reference.byte_ends[token]].decode()
            for token in range(first, first + count)
            if reference.wordlike[token]
        ]
        for first, count in zip(base.tolist(), masks.suggestion_words.tolist(), strict=True)
    ]


def _words_hint(
    words: list[str], key: np.uint64, masks: Masks, mask: int, kind: str, seed: int
) -> str | None:
    if not words:
        return None
    if kind == "initials":
        return " ".join(regex.match(r"\X", word).group() for word in words)
    counter = np.uint64(int(masks.method[mask]) << 16 | int(masks.variant[mask]))
    bits = np.uint64(sampling.draw(np.uint64(seed), key, sampling.STEP_HINT, counter))
    return words[sampling.below(bits, np.int64(len(words)))]
