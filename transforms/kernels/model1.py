"""The sparse lexicon of IBM Model 1 (Brown et al. 1993): which words may translate which.

The lexicon is a matrix in compressed rows: a row for each source word, its target words sorted.
One entry serves both directions, since counts are those of two models that agree.
"""

import math

import numba
import numpy as np

FIXED_POINT = 1 << 30
"""Counts are whole numbers of 2**-30, so that their sum is the same in any order."""


@numba.njit(nogil=True, cache=True)
def occurrences(words: np.ndarray, offsets: np.ndarray, vocabulary: int) -> tuple[np.ndarray, np.ndarray]:
    """List the pairs in which each word occurs, once for each time.

    Args:
        words: Word of each token, -1 for unknown, int32 ``[token]``.
        offsets: Where each pair's tokens begin ``[pair + 1]``.
        vocabulary: Number of words.

    Returns:
        Where each word's list begins ``[word + 1]``, and the pairs, ascending, int32.
    """
    begins = np.zeros(vocabulary + 1, dtype=np.int64)
    for token in range(len(words)):
        if words[token] >= 0:
            begins[words[token] + 1] += 1
    for word in range(vocabulary):
        begins[word + 1] += begins[word]
    at = begins[:-1].copy()
    pairs = np.empty(begins[-1], dtype=np.int32)
    for pair in range(len(offsets) - 1):
        for token in range(offsets[pair], offsets[pair + 1]):
            word = words[token]
            if word >= 0:
                pairs[at[word]] = pair
                at[word] += 1
    return begins, pairs


@numba.njit(nogil=True, cache=True)
def candidates(
    first: int,
    last: int,
    begins: np.ndarray,
    pairs: np.ndarray,
    targets: np.ndarray,
    target_offsets: np.ndarray,
    source_offsets: np.ndarray,
    target_counts: np.ndarray,
    most: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the target words that may translate the source words ``first`` to ``last - 1``.

    Counts co-occurrence as the first step of Model 1 with uniform probabilities does, and keeps
    the ``most`` words of a row with the largest ``count**2 / (count of target word)``: the
    co-occurrence coefficient that orders a row as chi-squared does for rare pairs.

    Args:
        first: First source word.
        last: Source word behind the last.
        begins: From `occurrences` of the source side.
        pairs: From `occurrences` of the source side.
        targets: Target words ``[token]``.
        target_offsets: ``[pair + 1]``.
        source_offsets: ``[pair + 1]``.
        target_counts: How often each target word occurs ``[target word]``.
        most: Entries of a row.

    Returns:
        Entries of each row ``[last - first]``, and the target words, sorted in each row, and their
        counts, float32.
    """
    vocabulary = len(target_counts)
    weight = np.zeros(vocabulary, dtype=np.float64)
    touched = np.empty(vocabulary, dtype=np.int32)
    sizes = np.zeros(last - first, dtype=np.int64)
    columns = np.empty(1024, dtype=np.int32)
    counts = np.empty(1024, dtype=np.float32)
    used = 0
    for word in range(first, last):
        seen = 0
        for at in range(begins[word], begins[word + 1]):
            pair = pairs[at]
            share = 1.0 / (source_offsets[pair + 1] - source_offsets[pair] + 1)
            for token in range(target_offsets[pair], target_offsets[pair + 1]):
                target = targets[token]
                if target < 0:
                    continue
                if weight[target] == 0.0:
                    touched[seen] = target
                    seen += 1
                weight[target] += share
        row = touched[:seen]
        if seen > most:
            score = np.empty(seen, dtype=np.float64)
            for at in range(seen):
                score[at] = -(weight[row[at]] ** 2) / target_counts[row[at]]
            row = row[np.argsort(score, kind="mergesort")[:most]]
        row = np.sort(row)
        while used + len(row) > len(columns):
            columns = np.concatenate((columns, np.empty_like(columns)))
            counts = np.concatenate((counts, np.empty_like(counts)))
        for target in row:
            columns[used] = target
            counts[used] = weight[target]
            used += 1
        sizes[word - first] = len(row)
        for at in range(seen):
            weight[touched[at]] = 0.0
    return sizes, columns[:used].copy(), counts[:used].copy()


@numba.njit(nogil=True, cache=True)
def exp_digamma(value: float) -> float:
    """Return exp(digamma(value)) for value > 0, to about 1e-9.

    The recurrence takes the argument above 6, where the asymptotic series holds (Abramowitz and
    Stegun 1964, 6.3.5 and 6.3.18).
    """
    shift = 0.0
    while value < 6.0:
        shift -= 1.0 / value
        value += 1.0
    square = 1.0 / (value * value)
    series = square * (
        1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0))
    )
    return math.exp(shift + math.log(value) - 0.5 / value - series)


@numba.njit(nogil=True, cache=True)
def find_entry(row_offsets: np.ndarray, columns: np.ndarray, source: int, target: int) -> int:
    """Return where a pair of words is in the lexicon, or -1."""
    low = row_offsets[source]
    high = row_offsets[source + 1]
    while low < high:
        middle = (low + high) >> 1
        if columns[middle] < target:
            low = middle + 1
        else:
            high = middle
    if low < row_offsets[source + 1] and columns[low] == target:
        return low
    return -1


@numba.njit(nogil=True, cache=True)
def maximize(
    row_offsets: np.ndarray,
    columns: np.ndarray,
    counts: np.ndarray,
    targets: int,
    probabilities: np.ndarray,
) -> None:
    """Turn counts into probabilities of both directions.

    Args:
        row_offsets: Of the lexicon.
        columns: Of the lexicon.
        counts: In units of 1 / FIXED_POINT, int64 ``[entry]``.
        targets: Target words.
        probabilities: Receives p(target | source) and p(source | target), float32 ``[entry, 2]``.
    """
    of_target = np.zeros(targets, dtype=np.int64)
    for entry in range(len(columns)):
        of_target[columns[entry]] += counts[entry]
    for source in range(len(row_offsets) - 1):
        total = np.int64(0)
        for entry in range(row_offsets[source], row_offsets[source + 1]):
            total += counts[entry]
        for entry in range(row_offsets[source], row_offsets[source + 1]):
            count = np.float64(counts[entry])
            probabilities[entry, 0] = count / total if total > 0 else 0.0
            of = of_target[columns[entry]]
            probabilities[entry, 1] = count / of if of > 0 else 0.0
