"""How usual the order of words is, by classes of words: a trigram model as one hash table.

A class is a frequent word itself, or the last letters of any other, which in many languages show
its part of speech and inflection. So the model measures order and agreement more than vocabulary.
"""

import math
from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.hmm.sides import Side
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.sampling import mix64
from pairweave.transforms.kernels.text.words import find

FREQUENT = 300
"""Words that are a class of their own: the most frequent ones (flat from 100 to 1,000)."""

LETTERS = 2
"""Last letters that are the class of another word (three and four are slightly worse)."""

# Classes: numbers of words are below 2**32, endings are hashes.
_DIGITS = np.uint64(1 << 40)
_ENDING = np.uint64(1 << 41)
_BEGIN = np.uint64(1 << 42)
_END = np.uint64(1 << 43)
_UNSEEN = np.uint64(1 << 44)

# Kinds of keys, of bits that no number of a word has: a class is combined with them by xor.
_UNIGRAM = np.uint64(1 << 56)
_BIGRAM = np.uint64(2 << 56)
_TRIGRAM = np.uint64(3 << 56)
_AFTER_ONE = np.uint64(4 << 56)
_AFTER_TWO = np.uint64(5 << 56)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Grams(NamedTuple):
    """Keys of each place of some texts, uint64 ``[place]``; a text's last place is its end.

    Attributes:
        single: The class there.
        double: That class with the class before it.
        triple: That class with the two classes before it.
        after_one: Only the class before it.
        after_two: Only the two classes before it.
    """

    single: np.ndarray
    double: np.ndarray
    triple: np.ndarray
    after_one: np.ndarray
    after_two: np.ndarray


class Table(NamedTuple):
    """An open-addressing table of keys (`transforms.kernels.text.words.fill_table`).

    Attributes:
        keys: uint64.
        ids: Place of each key in ``values``, int32.
        values: float32.
    """

    keys: np.ndarray
    ids: np.ndarray
    values: np.ndarray


@numba.njit(nogil=True, cache=True)
def unseen_key() -> np.uint64:
    """Return the key of the probability of a class that was seen once or never."""
    return _extend(_UNIGRAM, _UNSEEN) | np.uint64(1)


@numba.njit(nogil=True, cache=True)
def grams(side: Side) -> Grams:
    """Return the keys of each place of some texts.

    Args:
        side: The texts with their letters.
    """
    classes = _classes(side)
    pairs = len(side.offsets) - 1
    places = len(classes) + pairs
    keys = Grams(
        np.empty(places, np.uint64),
        np.empty(places, np.uint64),
        np.empty(places, np.uint64),
        np.empty(places, np.uint64),
        np.empty(places, np.uint64),
    )
    place = 0
    for pair in range(pairs):
        before = _BEGIN
        last = _BEGIN
        for token in range(side.offsets[pair], side.offsets[pair + 1] + 1):
            here = classes[token] if token < side.offsets[pair + 1] else _END
            keys.single[place] = _single(here)
            keys.double[place] = _double(last, here)
            keys.triple[place] = _triple(before, last, here)
            keys.after_one[place] = _after_one(last)
            keys.after_two[place] = _after_two(before, last)
            before = last
            last = here
            place += 1
    return keys


@numba.njit(nogil=True, cache=True)
def roughness(side: Side, table: Table) -> np.ndarray:
    """Measure how unusual the order of the words of some texts is.

    With ``p(w | u, v)`` the probability of a class after the two before it and ``p(w)`` that of
    the class alone, a place counts ``max(0, log p(w) - log p(w | u, v))``, in nats.

    Args:
        side: The texts with their letters.
        table: The probability of each class, the discounted share of each n-gram in its context,
            and the mass that each context leaves for shorter ones.

    Returns:
        The mean over the places of each text, its end included, float32 ``[text]``.
    """
    classes = _classes(side)
    offsets = side.offsets
    pairs = len(offsets) - 1
    means = np.zeros(pairs, np.float32)
    keys, ids, values = table
    unseen = np.float64(values[find(keys, ids, unseen_key())])
    for pair in range(pairs):
        before = _BEGIN
        last = _BEGIN
        total = 0.0
        for token in range(offsets[pair], offsets[pair + 1] + 1):
            here = classes[token] if token < offsets[pair + 1] else _END
            at: Integer = find(keys, ids, _single(here))
            alone = np.float64(values[at]) if at >= 0 else unseen
            chance = alone
            at = find(keys, ids, _after_one(last))
            if at >= 0:
                chance *= np.float64(values[at])
                at = find(keys, ids, _double(last, here))
                if at >= 0:
                    chance += np.float64(values[at])
                at = find(keys, ids, _after_two(before, last))
                if at >= 0:
                    chance *= np.float64(values[at])
                    at = find(keys, ids, _triple(before, last, here))
                    if at >= 0:
                        chance += np.float64(values[at])
            if chance < alone:
                total += math.log(alone / chance)
            before = last
            last = here
        means[pair] = total / (offsets[pair + 1] - offsets[pair] + 1)
    return means


@numba.njit(nogil=True, cache=True)
def _classes(side: Side) -> np.ndarray:
    """Return the class of each token, uint64."""
    # Unpacked, because each access to an array in a tuple changes its reference count.
    _, words, letter_offsets, letters = side
    classes = np.empty(len(words), np.uint64)
    for token in range(len(classes)):
        word = words[token]
        start, end = letter_offsets[token], letter_offsets[token + 1]
        if 0 <= word < FREQUENT:
            classes[token] = np.uint64(word)
        elif start < end and 48 <= letters[start] <= 57:
            classes[token] = _DIGITS
        else:
            ending = _ENDING
            for at in range(max(start, end - LETTERS), end):
                ending = _extend(ending, np.uint64(letters[at]))
            classes[token] = ending
    return classes


@numba.njit(nogil=True, cache=True)
def _extend(state: np.uint64, item: np.uint64) -> np.uint64:
    return mix64((np.uint64(state) ^ np.uint64(item)) + _GOLDEN)


@numba.njit(nogil=True, cache=True)
def _single(here: np.uint64) -> np.uint64:
    return _extend(_UNIGRAM, here) | np.uint64(1)


@numba.njit(nogil=True, cache=True)
def _double(last: np.uint64, here: np.uint64) -> np.uint64:
    return _extend(_extend(_BIGRAM, last), here) | np.uint64(1)


@numba.njit(nogil=True, cache=True)
def _triple(before: np.uint64, last: np.uint64, here: np.uint64) -> np.uint64:
    return _extend(_extend(_extend(_TRIGRAM, before), last), here) | np.uint64(1)


@numba.njit(nogil=True, cache=True)
def _after_one(last: np.uint64) -> np.uint64:
    return _extend(_AFTER_ONE, last) | np.uint64(1)


@numba.njit(nogil=True, cache=True)
def _after_two(before: np.uint64, last: np.uint64) -> np.uint64:
    return _extend(_extend(_AFTER_TWO, before), last) | np.uint64(1)
