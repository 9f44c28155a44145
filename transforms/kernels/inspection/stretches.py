"""Which lines translate each other, which are moved by some lines, and which have no counterpart.

The features of a pair of lines fall into classes (`line_features`): its lengths, what the two have
in common, how they end. Pairs of distant lines show how often each class occurs by accident, the
pairs themselves how often it occurs in translations. The logarithms of the ratios, summed, are the
evidence of a pair. The likeliest sequence of states explains all lines (Viterbi): in place, moved,
or without a counterpart, where each change of state has a price.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.inspection.line_features import LineFeatures
from pairweave.transforms.kernels.integers import Integer

LENGTH_STEPS = 100
"""Steps of the logarithm of a length that make one unit of it."""

_RATIO_BINS = 41
_RATIO_STEP = 10
_LENGTH_CLASSES = 4 * _RATIO_BINS
_SHARED_CLASSES = 6 * 4 * 6
_END_CLASSES = 36

LENGTHS = 0
NUMBERS = LENGTHS + _LENGTH_CLASSES
NAMES = NUMBERS + _SHARED_CLASSES
WORDS = NAMES + _SHARED_CLASSES
ENDS = WORDS + _SHARED_CLASSES
CLASSES = ENDS + _END_CLASSES

NOWHERE = 127
"""The state of lines without a counterpart on the other side."""


class Sides(NamedTuple):
    """Features of both sides of lines.

    Attributes:
        source: Features of the source.
        target: Features of the target.
        source_logs: Logarithm of the source's length in steps, int32 ``[line]``.
        target_logs: The same for the target, less the usual difference of the two.
    """

    source: LineFeatures
    target: LineFeatures
    source_logs: np.ndarray
    target_logs: np.ndarray


@numba.njit(nogil=True, cache=True)
def _ones(bits: np.uint64) -> Integer:
    """Count the bits that are set (Hacker's Delight, 5-1)."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + (
        (bits >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@numba.njit(nogil=True, cache=True)
def _shared_class(first: np.uint64, second: np.uint64) -> Integer:
    one, other = _ones(first), _ones(second)
    low, high = min(one, other), max(one, other)
    shared = min(5, _ones(first & second))
    fewer = low if low <= 2 else (3 if low <= 4 else (4 if low <= 7 else 5))
    more = 0 if high <= 2 else (1 if high <= 5 else (2 if high <= 9 else 3))
    return (fewer * 4 + more) * 6 + shared


@numba.njit(nogil=True, cache=True)
def _length_class(points: Integer, ratio: Integer) -> Integer:
    size = 0 if points < 12 else (1 if points < 30 else (2 if points < 80 else 3))
    half = _RATIO_BINS // 2
    step = (ratio + _RATIO_STEP // 2) // _RATIO_STEP
    return size * _RATIO_BINS + min(half, max(-half, step)) + half


@numba.njit(nogil=True, cache=True)
def count_classes(sides: Sides, first: Integer, last: Integer, move: Integer) -> np.ndarray:
    """Count the classes of lines paired with those ``move`` lines further on.

    Args:
        sides: Features of both sides.
        first: The first line of the source.
        last: The line after the last one.
        move: Lines that the target is further on.

    Returns:
        int64 ``[CLASSES]``; pairs with an empty side do not count.
    """
    counts = np.zeros(CLASSES, np.int64)
    source, target, source_logs, target_logs = sides
    for line in range(max(first, -move), min(last, len(source_logs) - move)):
        other = line + move
        fewest = min(source.points[line], target.points[other])
        if fewest == 0:
            continue
        counts[LENGTHS + _length_class(fewest, source_logs[line] - target_logs[other])] += 1
        counts[NUMBERS + _shared_class(source.numbers[line], target.numbers[other])] += 1
        counts[NAMES + _shared_class(source.names[line], target.names[other])] += 1
        counts[WORDS + _shared_class(source.words[line], target.words[other])] += 1
        counts[ENDS + np.int64(source.ends[line]) * 6 + np.int64(target.ends[other])] += 1
    return counts


@numba.njit(nogil=True, cache=True)
def evidence(
    sides: Sides, weights: np.ndarray, first: Integer, last: Integer, move: Integer
) -> np.ndarray:
    """Return the evidence that lines belong to those ``move`` lines further on.

    Args:
        sides: Features of both sides.
        weights: Evidence of each class, int32 ``[CLASSES]``.
        first: The first line of the source.
        last: The line after the last one.
        move: Lines that the target is further on.

    Returns:
        int32 ``[line]``, from ``first``; 0 where a side is empty or no such line exists.
    """
    sums = np.zeros(last - first, np.int32)
    source, target, source_logs, target_logs = sides
    for line in range(max(first, -move), min(last, len(source_logs) - move)):
        other = line + move
        fewest = min(source.points[line], target.points[other])
        if fewest == 0:
            continue
        total = weights[LENGTHS + _length_class(fewest, source_logs[line] - target_logs[other])]
        total += weights[NUMBERS + _shared_class(source.numbers[line], target.numbers[other])]
        total += weights[NAMES + _shared_class(source.names[line], target.names[other])]
        total += weights[WORDS + _shared_class(source.words[line], target.words[other])]
        total += weights[ENDS + np.int64(source.ends[line]) * 6 + np.int64(target.ends[other])]
        sums[line - first] = total
    return sums


@numba.njit(nogil=True, cache=True)
def best_states(line_evidence: np.ndarray, price: Integer) -> np.ndarray:
    """Return the likeliest state of each line.

    Args:
        line_evidence: Evidence of each state, int32 ``[state, line]``; the first of equally likely
            states is taken.
        price: Evidence that a change of state must outweigh.

    Returns:
        int8 ``[line]``.
    """
    states, lines = line_evidence.shape
    came = np.zeros((lines, states), np.int8)
    totals = np.zeros(states, np.int64)
    for line in range(lines):
        best = 0
        for state in range(1, states):
            if totals[state] > totals[best]:
                best = state
        entered = totals[best] - price
        for state in range(states):
            if totals[state] >= entered:
                came[line, state] = state
            else:
                came[line, state] = best
                totals[state] = entered
            totals[state] += line_evidence[state, line]
    path = np.zeros(lines, np.int8)
    best = 0
    for state in range(1, states):
        if totals[state] > totals[best]:
            best = state
    path[lines - 1 :] = best
    for line in range(lines - 1, 0, -1):
        path[line - 1] = came[line, path[line]]
    return path
