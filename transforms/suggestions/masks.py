"""Masks: the masked range of a text, and the range of the reference that is the suggestion."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from pairweave.transforms.kernels.masks.mask_borders import REPLACE
from pairweave.transforms.suggestions.token_view import TokenView

METHODS = ("random", "alignment", "parallel")
"""The methods of making masks; the rows of a pair are in this order."""


@dataclasses.dataclass(frozen=True, slots=True)
class Masks:
    """Candidates for examples, one entry each; all arrays ``[mask]``.

    The masked text is the machine translation for method ``alignment`` and the reference for the
    others.

    Attributes:
        method: Index in `METHODS`.
        pair: The pair.
        variant: Number of the mask within its pair and method, from 0.
        operation: Index in `transforms.kernels.masks.mask_borders.OPERATIONS`.
        start: Code points before the mask, in the masked text.
        end: Code points before its end.
        suggestion_start: Code points before the suggestion, in the reference.
        suggestion_end: Code points before its end.
        words: Number of masked tokens.
        before: Number of tokens before the mask.
        behind: Number of tokens after the mask.
        suggestion_first: First token of the suggestion, in the reference.
        suggestion_words: Number of tokens of the suggestion.
        confidence: Lowest probability of the links that the mask is based on; NaN without links.
        wordlike: Whether the suggestion, or the deleted text, contains a letter or digit.
        parted: Whether the mask separates the halves of a tag.
    """

    method: np.ndarray
    pair: np.ndarray
    variant: np.ndarray
    operation: np.ndarray
    start: np.ndarray
    end: np.ndarray
    suggestion_start: np.ndarray
    suggestion_end: np.ndarray
    words: np.ndarray
    before: np.ndarray
    behind: np.ndarray
    suggestion_first: np.ndarray
    suggestion_words: np.ndarray
    confidence: np.ndarray
    wordlike: np.ndarray
    parted: np.ndarray

    def __len__(self) -> int:
        return len(self.pair)

    def take(self, places: np.ndarray) -> "Masks":
        """Return the masks selected by indices or by a Boolean array."""
        return Masks(*(getattr(self, field.name)[places] for field in dataclasses.fields(self)))


def join(parts: Sequence[Masks]) -> Masks:
    """Return all masks by pair, method and variant."""
    columns = [
        np.concatenate([getattr(part, field.name) for part in parts])
        for field in dataclasses.fields(Masks)
    ]
    masks = Masks(*columns)
    return masks.take(np.lexsort((masks.variant, masks.method, masks.pair)))


def any_wordlike(
    view: TokenView, pair: np.ndarray, first: np.ndarray, last: np.ndarray
) -> np.ndarray:
    """Return whether each range of tokens has a letter or digit outside tags, bool ``[range]``.

    Args:
        view: The texts.
        pair: The text of each range.
        first: Its first token.
        last: One after its last token.
    """
    sums = np.zeros(len(view.wordlike) + 1, np.int64)
    np.cumsum(view.wordlike, out=sums[1:])
    base = view.token_offsets[pair]
    return sums[base + last] > sums[base + first]


def on_reference(
    method: str,
    view: TokenView,
    pair: np.ndarray,
    variant: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    borders: tuple[np.ndarray, np.ndarray],
    parted: np.ndarray,
) -> Masks:
    """Return masks over ranges of the reference, where the masked text is the suggestion.

    Args:
        method: Their method.
        view: The references.
        pair: The pair of each mask.
        variant: Its number.
        first: Its first token.
        last: One after its last token.
        borders: Start and end in code points.
        parted: Whether each mask separates the halves of a tag.
    """
    size = len(pair)
    return Masks(
        method=np.full(size, METHODS.index(method), np.int8),
        pair=pair,
        variant=variant.astype(np.int16),
        operation=np.full(size, REPLACE, np.int8),
        start=borders[0],
        end=borders[1],
        suggestion_start=borders[0],
        suggestion_end=borders[1],
        words=last - first,
        before=first,
        behind=view.counts[pair] - last,
        suggestion_first=first,
        suggestion_words=last - first,
        confidence=np.full(size, np.nan, np.float32),
        wordlike=any_wordlike(view, pair, first, last),
        parted=parted,
    )
