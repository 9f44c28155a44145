"""Masks: which range of which text is covered, and which range of the reference is suggested."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from pairweave.transforms.kernels.masks.mask_borders import REPLACE
from pairweave.transforms.suggestions.token_view import TokenView

METHODS = ("random", "alignment", "parallel")
"""How masks are made; rows of a pair come in this order."""


@dataclasses.dataclass(frozen=True, slots=True)
class Masks:
    """Candidates for examples, one entry each; all arrays ``[mask]``.

    The masked text is the machine translation for the method ``alignment`` and the reference for
    the others.

    Attributes:
        method: Place in `METHODS`.
        pair: The pair.
        variant: Number of the mask among those of its pair and method, from 0.
        operation: Place in `transforms.kernels.masks.mask_borders.OPERATIONS`.
        start: Code points before the mask, in the masked text.
        end: Code points before its end.
        suggestion_start: Code points before the suggestion, in the reference.
        suggestion_end: Code points before its end.
        words: Tokens under the mask.
        before: Tokens before it.
        behind: Tokens behind it.
        suggestion_first: The suggestion's first token, in the reference.
        suggestion_words: Its tokens.
        confidence: Least probability of the links it rests on; NaN if it rests on none.
        wordlike: Whether the suggestion, or what it deletes, holds a letter or a digit.
        parted: Whether it parts the halves of a tag.
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
        """Return some of the masks, by place or by a Boolean for each."""
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
    """Tell which ranges of tokens hold a word: a letter or a digit outside a tag, bool ``[range]``.

    Args:
        view: The texts.
        pair: The text of each range.
        first: Its first token.
        last: One behind its last token.
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
    """Return masks over ranges of the reference, which are their own suggestions.

    Args:
        method: Their method.
        view: The references.
        pair: The pair of each mask.
        variant: Its number.
        first: Its first token.
        last: One behind its last token.
        borders: Start and end in code points.
        parted: Which masks part the halves of a tag.
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
