"""One side of sentence pairs: its tokens, with the statistics of their words."""

from typing import NamedTuple

import numba
import numpy as np

STEM_PRIOR = np.float32(3.0)
"""Pseudo-count of spelling and frequency in the back-off (0.3: 0.3 AER worse, 1: 0.2)."""


class Words(NamedTuple):
    """Statistics of the words of one side; the last item of each array is for unseen words.

    Attributes:
        stem: Stem of each word, int32; -1 for none.
        mass: Expected links of each word, float32.
        share: Probability of the word given its stem, float32.
        unigram: Probability of the word, float32.
        null: Probability of the word given that it has no partner, float32.
        stem_mass: Expected links of each stem's words, float32; the last is for unseen stems.
        stem_share: Probability of an unseen word given the stem, float32.
        prior: Pseudo-count of the back-off to stems and spelling, float32.
    """

    stem: np.ndarray
    mass: np.ndarray
    share: np.ndarray
    unigram: np.ndarray
    null: np.ndarray
    stem_mass: np.ndarray
    stem_share: np.ndarray
    prior: np.float32


class Side(NamedTuple):
    """One side of several pairs.

    Attributes:
        offsets: Start of each pair's tokens, int64 ``[pair + 1]``.
        words: Word of each token as `transforms.kernels.text.words.look_up` numbers it, int32.
        letter_offsets: Start of each token's letters, int64 ``[token + 1]``; or ``[1]`` to ignore
            spelling.
        letters: Folded code points, int32.
    """

    offsets: np.ndarray
    words: np.ndarray
    letter_offsets: np.ndarray
    letters: np.ndarray


class Tokens(NamedTuple):
    """The tokens of one side of one pair: arrays ``[token]``.

    Attributes:
        start: Number of the first token on its side.
        word: As in `Side`.
        stem: Stem, -1 for an unseen one.
        weight: Weight of the back-off, from `back_off_weight`.
        share: Probability of the word given its stem.
        unigram: Probability of the word.
        null: Probability of the word given that it has no partner.
        letter_set: The letters as a bit set, from `letter_set`; 0 if spelling is ignored.
        letter_count: Number of bits in the set.
    """

    start: int
    word: np.ndarray
    stem: np.ndarray
    weight: np.ndarray
    share: np.ndarray
    unigram: np.ndarray
    null: np.ndarray
    letter_set: np.ndarray
    letter_count: np.ndarray


@numba.njit(nogil=True, cache=True)
def back_off_weight(words: Words, mass: np.float32, stem: int) -> np.float32:
    """Return the weight of a word's back-off, for `emissions.back_off`.

    Args:
        words: Statistics of the word's side.
        mass: Expected links of the word.
        stem: Its stem, -1 for an unseen one.
    """
    return words.prior / ((mass + words.prior) * (words.stem_mass[stem] + STEM_PRIOR))


@numba.njit(nogil=True, cache=True)
def letter_set(letters: np.ndarray, start: int, end: int) -> tuple[np.uint64, int]:
    """Return the letters ``start`` to ``end - 1`` as a set of 64 bits, and its size.

    Letters may share a bit, so the set is a filter: unlike sets prove unlike words.
    """
    bits = np.uint64(0)
    size = 0
    for at in range(start, end):
        bit = np.uint64(1) << np.uint64(letters[at] & 63)
        if not bits & bit:
            bits |= bit
            size += 1
    return bits, size


@numba.njit(nogil=True, cache=True)
def tokens_of(side: Side, pair: int, words: Words) -> Tokens:
    """Return the tokens of one side of a pair with the statistics of their words."""
    start = side.offsets[pair]
    length = side.offsets[pair + 1] - start
    word = side.words[start : start + length]
    stem = np.empty(length, dtype=np.int32)
    weight = np.empty(length, dtype=np.float32)
    share = np.empty(length, dtype=np.float32)
    unigram = np.empty(length, dtype=np.float32)
    null = np.empty(length, dtype=np.float32)
    bits = np.zeros(length, dtype=np.uint64)
    sizes = np.zeros(length, dtype=np.int64)
    has_letters = len(side.letter_offsets) > 1
    for at in range(length):
        number = word[at]
        if number >= 0:
            stem[at] = words.stem[number]
            weight[at] = back_off_weight(words, words.mass[number], stem[at])
            share[at] = words.share[number]
        else:
            number = len(words.mass) - 1
            stem[at] = -2 - word[at] if word[at] < -1 else -1
            weight[at] = back_off_weight(words, np.float32(0.0), stem[at])
            share[at] = words.stem_share[stem[at]]
        unigram[at] = words.unigram[number]
        null[at] = words.null[number]
        if has_letters:
            bits[at], sizes[at] = letter_set(
                side.letters, side.letter_offsets[start + at], side.letter_offsets[start + at + 1]
            )
    return Tokens(start, word, stem, weight, share, unigram, null, bits, sizes)
