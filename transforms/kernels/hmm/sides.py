"""One side of sentence pairs: its tokens, with the statistics of their words."""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.matrices import padded
from pairweave.transforms.kernels.scratch import Scratch, take, take_zeros
from pairweave.transforms.kernels.uncounted import uncounted
from pairweave.transforms.kernels.vectors import count_bits

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
    """The tokens of one side of one pair: arrays ``[token]``, those of floats padded with zeros.

    Attributes:
        start: Number of the first token on its side.
        word: As in `Side`.
        stem: Stem, -1 for an unseen one.
        weight: Weight of the back-off, from `back_off_weight`.
        share: Probability of the word given its stem.
        unigram: Probability of the word.
        null: Probability of the word given that it has no partner.
        letter_set: The letters as a bit set, from `letter_sets`; 0 if spelling is ignored.
        letter_need: Number of bits that a similar word shares with the set: two thirds.
    """

    start: int
    word: np.ndarray
    stem: np.ndarray
    weight: np.ndarray
    share: np.ndarray
    unigram: np.ndarray
    null: np.ndarray
    letter_set: np.ndarray
    letter_need: np.ndarray


@numba.njit(nogil=True, cache=True)
def back_off_weight(prior: np.float32, mass: np.float32, stem_mass: np.float32) -> np.float32:
    """Return the weight of a word's back-off, for `emissions.back_off`.

    Args:
        prior: Pseudo-count of the back-off.
        mass: Expected links of the word.
        stem_mass: Expected links of its stem's words.
    """
    return prior / ((mass + prior) * (stem_mass + STEM_PRIOR))


@uncounted
def letter_sets(side: Side, first: int, count: int, sets: np.ndarray, needs: np.ndarray) -> None:
    """Compute the letters of tokens as sets of 64 bits.

    Letters may share a bit, so the set is a filter: unlike sets prove unlike words.

    Args:
        side: The side of the tokens, with their letters.
        first: The first token.
        count: Number of tokens.
        sets: Receives the set of each token, uint64.
        needs: Receives two thirds of the size of each set, rounded up, int64.
    """
    letters, offsets = side.letters, side.letter_offsets
    for token in range(count):
        bits = np.uint64(0)
        for at in range(offsets[first + token], offsets[first + token + 1]):
            bits |= np.uint64(1) << np.uint64(letters[at] & 63)
        sets[token] = bits
        needs[token] = (2 * count_bits(bits) + 2) // 3


@numba.njit(nogil=True, cache=True)
def tokens_of(side: Side, pair: int, words: Words, scratch: Scratch) -> Tokens:
    """Return the tokens of one side of a pair with the statistics of their words."""
    start = side.offsets[pair]
    length = side.offsets[pair + 1] - start
    word = side.words[start : start + length]
    room = padded(length)
    stem = take(scratch, np.int32, length)
    weight = take_zeros(scratch, np.float32, room)
    share = take_zeros(scratch, np.float32, room)
    unigram = take_zeros(scratch, np.float32, room)
    null = take_zeros(scratch, np.float32, room)
    sets = take_zeros(scratch, np.uint64, length)
    needs = take_zeros(scratch, np.int64, length)
    # Unpacked, because each access to an array in a tuple changes its reference count.
    stems, masses, shares, unigrams, nulls, stem_masses, stem_shares, prior = words
    for at in range(length):
        number, mass = word[at], np.float32(0.0)
        if number >= 0:
            stem[at] = stems[number]
            mass = masses[number]
            share[at] = shares[number]
        else:
            # An unseen stem is -1: the last item.
            stem[at] = -2 - number if number < -1 else -1
            share[at] = stem_shares[stem[at]]
            number = len(masses) - 1
        weight[at] = back_off_weight(prior, mass, stem_masses[stem[at]])
        unigram[at] = unigrams[number]
        null[at] = nulls[number]
    if len(side.letter_offsets) > 1:
        letter_sets(side, start, length, sets, needs)
    return Tokens(start, word, stem, weight, share, unigram, null, sets, needs)
