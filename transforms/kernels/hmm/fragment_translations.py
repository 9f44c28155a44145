"""Translations of fragments, composed of translations of their words."""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.uncounted import uncounted

SWAP = 0.3
"""Weight of swapping two neighbouring words (results are flat from 0.1 to 1)."""


@uncounted
def _insert(
    score: float,
    origin: np.ndarray,
    scores: np.ndarray,
    origins: np.ndarray,
    count: Integer,
) -> Integer:
    """Insert a translation among the best so far, after equals; return their number."""
    most = len(scores)
    place = min(count, most - 1)
    while place > 0 and scores[place - 1] < score:
        scores[place] = scores[place - 1]
        for part in range(3):
            origins[place, part] = origins[place - 1, part]
        place -= 1
    scores[place] = score
    for part in range(3):
        origins[place, part] = origin[part]
    return min(count + 1, most)


@numba.njit(nogil=True, cache=True)
def combine_words(
    offsets: np.ndarray,
    numbers: np.ndarray,
    choice_offsets: np.ndarray,
    choices: np.ndarray,
    weights: np.ndarray,
    most: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the best translations of fragments, word by word.

    The words keep their order, but two neighbours may swap places. The weight of a translation is
    the product of its words' weights, times `SWAP` for each swap.

    Args:
        offsets: Start of each fragment's words, int64 ``[fragment + 1]``, from 0.
        numbers: Their rows in the table of choices, int64 ``[word]``.
        choice_offsets: Start of each row's choices, int64 ``[row + 1]``.
        choices: Hashes of target words, uint64 ``[choice]``.
        weights: Their weights, descending within a row, float32 ``[choice]``.
        most: Maximum number of translations of a fragment.

    Returns:
        Start of each fragment's translations, best first, int64 ``[fragment + 1]``; where each
        translation's words begin, int64 ``[translation + 1]``; and the words, uint64.
    """
    fragments = len(offsets) - 1
    longest = 0
    room = 0
    for fragment in range(fragments):
        length = offsets[fragment + 1] - offsets[fragment]
        longest = max(longest, length)
        room += length
    begins = np.zeros(fragments + 1, np.int64)
    word_offsets = np.zeros(fragments * most + 1, np.int64)
    words = np.empty(room * most, np.uint64)
    # The best translations of the first words of a fragment; and for each, the shorter translation
    # that it extends, the choice that it adds, and the other choice of a swap, -1 for none.
    scores = np.empty((longest + 1, most), np.float64)
    origins = np.empty((longest + 1, most, 3), np.int64)
    counts = np.empty(longest + 1, np.int64)
    origin = np.empty(3, np.int64)
    made = 0
    for fragment in range(fragments):
        first = offsets[fragment]
        length = offsets[fragment + 1] - first
        counts[: length + 1] = 0
        counts[0] = 1
        scores[0, 0] = 1.0
        for word in range(length):
            row = numbers[first + word]
            begin, end = choice_offsets[row], choice_offsets[row + 1]
            to = word + 1
            origin[2] = -1
            for before in range(counts[word]):
                origin[0] = before
                for choice in range(begin, end):
                    score = scores[word, before] * weights[choice]
                    if counts[to] == most and score <= scores[to, most - 1]:
                        break
                    origin[1] = choice
                    counts[to] = _insert(score, origin, scores[to], origins[to], counts[to])
            if word == 0:
                continue
            row = numbers[first + word - 1]
            other_begin, other_end = choice_offsets[row], choice_offsets[row + 1]
            for before in range(counts[word - 1]):
                origin[0] = before
                for choice in range(begin, end):
                    origin[1] = choice
                    ahead = scores[word - 1, before] * SWAP * weights[choice]
                    for other in range(other_begin, other_end):
                        score = ahead * weights[other]
                        if counts[to] == most and score <= scores[to, most - 1]:
                            break
                        origin[2] = other
                        counts[to] = _insert(score, origin, scores[to], origins[to], counts[to])
        for translation in range(counts[length] if length else 0):
            begin = word_offsets[made]
            place, at = length, translation
            while place > 0:
                one, two = origins[place, at, 1], origins[place, at, 2]
                at = origins[place, at, 0]
                if two >= 0:
                    place -= 1
                    words[begin + place] = choices[two]
                place -= 1
                words[begin + place] = choices[one]
            word_offsets[made + 1] = begin + length
            made += 1
        begins[fragment + 1] = made
    return begins, word_offsets[: made + 1].copy(), words[: word_offsets[made]].copy()
