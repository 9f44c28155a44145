"""Links as flat arrays, and checks of their order and range."""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.uncounted import uncounted


class Links(NamedTuple):
    """The links of several pairs.

    Attributes:
        offsets: Start of each pair's links, int64 ``[pair + 1]``.
        sources: Source words, int16 ``[link]``.
        targets: Target words, int16 ``[link]``.
    """

    offsets: np.ndarray
    sources: np.ndarray
    targets: np.ndarray


class WeightedLinks(NamedTuple):
    """The links of some pairs, with their probabilities.

    Attributes:
        offsets: As in `Links`.
        sources: As in `Links`.
        targets: As in `Links`.
        probabilities: float32 ``[link]``.
    """

    offsets: np.ndarray
    sources: np.ndarray
    targets: np.ndarray
    probabilities: np.ndarray

    @property
    def links(self) -> Links:
        """Return the links without probabilities."""
        return Links(self.offsets, self.sources, self.targets)


@uncounted
def first_bad_pair(
    offsets: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    source_lengths: np.ndarray,
    target_lengths: np.ndarray,
) -> int:
    """Find the first pair with links outside its words, unsorted or repeated.

    Args:
        offsets: Start of each pair's links, int64 ``[pair + 1]``.
        source: Source words, int16 ``[link]``.
        target: Target words, the same.
        source_lengths: Source words of each pair, int64 ``[pair]``.
        target_lengths: Target words of each pair, the same.

    Returns:
        The pair, or -1 if all links are valid: inside, and ascending by (source, target).
    """
    for pair in range(len(offsets) - 1):
        before = -1
        for link in range(offsets[pair], offsets[pair + 1]):
            row, column = int(source[link]), int(target[link])
            inside = 0 <= row < source_lengths[pair] and 0 <= column < target_lengths[pair]
            key = (row << 16) + column
            if not inside or key <= before:
                return pair
            before = key
    return -1


@numba.njit(nogil=True, cache=True)
def least_lengths(offsets: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return the minimum number of words of each side that its links imply.

    Args:
        offsets: Start of each pair's links, int64 ``[pair + 1]``.
        words: The words of one side, int16 ``[link]``.

    Returns:
        Lengths int64 ``[pair]``; 0 for a pair without links.
    """
    lengths = np.zeros(len(offsets) - 1, np.int64)
    for pair in range(len(lengths)):
        for link in range(offsets[pair], offsets[pair + 1]):
            lengths[pair] = max(lengths[pair], np.int64(words[link]) + 1)
    return lengths
