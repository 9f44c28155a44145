"""The selection: the best pairs up to a number of words or a share, exact over the whole corpus.

Pairs are ranked by score, and by id if scores are equal. A rank has six digits of 16 bits: the 32
bits of the score, which sort like the scores, then the first 64 bits of the id. The border is the
first rank that is not selected. It is found digit by digit (radix select): each round adds up one
histogram per shard. So nothing is sorted centrally, and the order of arrival does not matter.
"""

import dataclasses
import fractions
import math
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from pairweave.transforms import ids

ROUNDS = 6
"""Number of digits in a rank."""

PAIRS, WORDS = 1, 2
"""Rows of a histogram, after the digits."""


@dataclasses.dataclass(frozen=True)
class Aim:
    """The size of the selection; exactly one of the two is set.

    Pairs are selected from the best downwards, up to the first pair that would exceed the limit; no
    later pair takes its place.

    Attributes:
        words: Maximum number of target words.
        share: Share of the pairs; their number is rounded down.
    """

    words: int | None = None
    share: float | None = None


@dataclasses.dataclass(frozen=True)
class Border:
    """The end of the selection, as far as it is known.

    Attributes:
        digits: The known first digits of the first rank that is not selected.
        left: Words or pairs that may still be selected among the ranks that begin with these
            digits; None before the first round.
        whole: Whether everything is selected.
    """

    digits: tuple[int, ...] = ()
    left: int | None = None
    whole: bool = False


def ranks(scores: np.ndarray, pair_ids: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the ranks of pairs; the best pair has the smallest.

    Args:
        scores: float32 ``[pair]``, finite.
        pair_ids: Their ids.

    Returns:
        uint16 ``[digit, pair]``, the most significant digit first.
    """
    # The bits of floats without the sign sort like the floats (IEEE 754); -0 + 0 is 0.
    bits = (np.asarray(scores, np.float32) + np.float32(0)).view(np.uint32)
    sign = np.uint32(1 << 31)
    bits = np.where(bits & sign, ~bits, bits | sign)
    inverse = np.uint32(0xFFFFFFFF) - bits
    high, _ = ids.halves(pair_ids)
    parts = [inverse >> np.uint32(16), inverse]
    parts += [high >> np.uint64(shift) for shift in (48, 32, 16, 0)]
    return np.stack([(part & part.dtype.type(0xFFFF)).astype(np.uint16) for part in parts])


def histogram(ranked: np.ndarray, words: np.ndarray, border: Border) -> np.ndarray:
    """Count pairs and words by the digit after the known ones.

    Args:
        ranked: From `ranks`.
        words: Target words of each pair ``[pair]``.
        border: The border so far, with at least one unknown digit.

    Returns:
        int64 ``[3, digit that occurs]``: the digit, and the numbers of pairs and words whose ranks
        begin with the known digits followed by it; ascending.
    """
    chosen = np.full(ranked.shape[1], not border.whole)
    for digit, known in zip(ranked, border.digits, strict=False):
        chosen &= digit == known
    following = ranked[min(len(border.digits), ROUNDS - 1)][chosen].astype(np.int64)
    counts = np.stack([following, np.ones_like(following), words[chosen].astype(np.int64)])
    return add_histograms([counts])


def add_histograms(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Add up histograms (`histogram`), in any order."""
    every = np.concatenate([np.zeros((3, 0), np.int64), *parts], axis=1)
    digits, places = np.unique(every[0], return_inverse=True)
    counts = np.zeros((3, len(digits)), np.int64)
    counts[0] = digits
    for row in (PAIRS, WORDS):
        np.add.at(counts[row], places, every[row])
    return counts


def narrow(border: Border, counts: np.ndarray, aim: Aim) -> Border:
    """Return the border with one more digit.

    Args:
        border: The border so far.
        counts: Histogram of all shards for that border.
        aim: The size of the selection.
    """
    if border.whole:
        return border
    left = border.left
    if left is None:
        left = aim.words if aim.words is not None else _pairs(aim.share, int(counts[PAIRS].sum()))
    sums = np.cumsum(counts[WORDS if aim.words is not None else PAIRS])
    place = int(np.searchsorted(sums, left, side="right"))
    if place == len(sums):
        return Border(whole=True)
    before = int(sums[place - 1]) if place else 0
    return Border((*border.digits, int(counts[0, place])), left - before)


def _pairs(share: float | None, pairs: int) -> int:
    """Return a share of pairs as a number, rounded down; the share is taken as a decimal."""
    return math.floor(fractions.Fraction(str(share)) * pairs)


def selected(ranked: np.ndarray, border: Border) -> np.ndarray:
    """Tell which pairs are selected.

    Args:
        ranked: From `ranks`.
        border: The border with all digits.

    Returns:
        Booleans ``[pair]``.
    """
    if border.whole:
        return np.ones(ranked.shape[1], np.bool_)
    before = np.zeros(ranked.shape[1], np.bool_)
    equal = np.ones(ranked.shape[1], np.bool_)
    for digit, last in zip(ranked, border.digits, strict=True):
        before |= equal & (digit < last)
        equal &= digit == last
    return before
