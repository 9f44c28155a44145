"""MinHash of pairs of texts (Broder 1997): signatures that estimate the share of common shingles.

The shingles of a text are its runs of `SHINGLE` characters, with white space and symbols reduced to
one space; a shorter text is one shingle. The shingles of a pair are those of both sides, each with
its side. The share of equal values in two signatures estimates the Jaccard index of the two pairs:
common shingles divided by all shingles.
"""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.sampling import mix64
from pairweave.transforms.kernels.text.utf8 import decode
from pairweave.transforms.kernels.uncounted import uncounted

SHINGLE = 5
"""Number of characters in a shingle. For documents, Lee et al. (2022) and others use words, but a
sentence has too few."""

SPACE = 32

_BASE = np.uint64(0x100000001B3)
_NOTHING = np.uint32(0xFFFFFFFF)


@numba.njit(nogil=True, cache=True)
def signatures(
    source: np.ndarray,
    source_offsets: np.ndarray,
    target: np.ndarray,
    target_offsets: np.ndarray,
    folded: np.ndarray,
    factors: np.ndarray,
    terms: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the signatures of pairs.

    Args:
        source: UTF-8 of the sources, uint8 ``[byte]``.
        source_offsets: Where each begins, int64 ``[pair + 1]``.
        target: UTF-8 of the targets.
        target_offsets: Where each begins.
        folded: Replacement of each code point; `SPACE` for separators, uint32 ``[1114112]``.
        factors: Odd numbers, one for each value of a signature, uint32 ``[value]``.
        terms: One number for each value, uint32 ``[value]``; value ``i`` is the minimum of
            ``factor[i] · hash + term[i]`` modulo 2^32 over the hashes of all shingles (linear
            permutations; Bohman et al. 2000).

    Returns:
        Signatures, uint32 ``[pair, value]``, and the number of shingles, repeated ones included,
        int64 ``[pair]``. Without a shingle all values are 2^32 - 1.
    """
    pairs = len(source_offsets) - 1
    minima = np.full((pairs, len(factors)), _NOTHING, np.uint32)
    counts = np.zeros(pairs, np.int64)
    longest = 1
    for pair in range(pairs):
        longest = max(longest, source_offsets[pair + 1] - source_offsets[pair])
        longest = max(longest, target_offsets[pair + 1] - target_offsets[pair])
    points = np.empty(longest, np.uint32)
    for pair in range(pairs):
        size = _fold(source, source_offsets[pair], source_offsets[pair + 1], folded, points)
        counts[pair] = _add(points, size, 1, factors, terms, minima[pair])
        size = _fold(target, target_offsets[pair], target_offsets[pair + 1], folded, points)
        counts[pair] += _add(points, size, 2, factors, terms, minima[pair])
    return minima, counts


@uncounted
def _fold(
    data: np.ndarray, at: Integer, end: Integer, folded: np.ndarray, points: np.ndarray
) -> Integer:
    """Write a text's folded code points, with spaces merged and trimmed; return their number."""
    size = 0
    while at < end:
        point, width = decode(data, at, end)
        at += width
        value = folded[point]
        if value != SPACE or (size > 0 and points[size - 1] != SPACE):
            points[size] = value
            size += 1
    return size - 1 if size and points[size - 1] == SPACE else size


@uncounted
def _add(
    points: np.ndarray,
    size: Integer,
    side: Integer,
    factors: np.ndarray,
    terms: np.ndarray,
    minima: np.ndarray,
) -> Integer:
    """Update a pair's signature with the shingles of a side; return their number."""
    if not size:
        return 0
    shingles = max(1, size - SHINGLE + 1)
    for shingle in range(shingles):
        whole = np.uint64(side)
        for place in range(shingle, min(shingle + SHINGLE, size)):
            whole = whole * _BASE + np.uint64(points[place]) + np.uint64(1)
        value = np.uint32(mix64(whole) >> np.uint64(32))
        for number in range(len(factors)):
            changed = np.uint32(factors[number] * value + terms[number])
            minima[number] = min(minima[number], changed)
    return shingles


@numba.njit(nogil=True, cache=True)
def band_keys(signature: np.ndarray, bands: Integer, rows: Integer) -> np.ndarray:
    """Return a hash of each band of signatures: values ``band · rows`` to ``(band + 1) · rows``.

    Args:
        signature: uint32 ``[pair, value]``.
        bands: Number of bands.
        rows: Number of values in a band.

    Returns:
        uint64 ``[band, pair]``; pairs with an equal band have an equal key.
    """
    pairs = len(signature)
    keys = np.empty((bands, pairs), np.uint64)
    for pair in range(pairs):
        for band in range(bands):
            key = mix64(np.uint64(band + 1))
            for value in range(band * rows, (band + 1) * rows):
                key = mix64(key ^ np.uint64(signature[pair, value]))
            keys[band, pair] = key
    return keys


@numba.njit(nogil=True, cache=True)
def codes(signature: np.ndarray) -> np.ndarray:
    """Return eight bits of each value (b-bit minwise hashing; Li and König 2010), uint8.

    Args:
        signature: uint32 ``[pair, value]``.
    """
    pairs, values = signature.shape
    coded = np.empty((pairs, values), np.uint8)
    for pair in range(pairs):
        for value in range(values):
            mixed = mix64(np.uint64(signature[pair, value]))
            coded[pair, value] = np.uint8(mixed >> np.uint64(56))
    return coded


@numba.njit(nogil=True, cache=True)
def first_alike(
    pairs: np.ndarray,
    leaders: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    least: Integer,
) -> np.ndarray:
    """Find for each pair the first leader whose code agrees with its own in enough values.

    Args:
        pairs: Codes of pairs, uint8 ``[pair, value]``.
        leaders: Codes of leaders, uint8 ``[leader, value]``.
        begins: Index of the first leader to compare each pair with, int64 ``[pair]``.
        ends: Index after the last one.
        least: Minimum number of values that must agree.

    Returns:
        The leader, -1 for none, int64 ``[pair]``.
    """
    matches = np.full(len(pairs), -1, np.int64)
    for pair in range(len(pairs)):
        for leader in range(begins[pair], ends[pair]):
            agree = 0
            for value in range(pairs.shape[1]):
                agree += pairs[pair, value] == leaders[leader, value]
            if agree >= least:
                matches[pair] = leader
                break
    return matches
