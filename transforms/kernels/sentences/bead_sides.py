"""The words of beads in the form in which the aligner takes the words of pairs."""

import numba
import numpy as np

from pairweave.transforms.kernels.hmm.sides import Side, Words, tokens_of
from pairweave.transforms.kernels.scratch import Scratch, lent


@numba.njit(nogil=True, cache=True)
def side_of_beads(side: Side, firsts: np.ndarray, lasts: np.ndarray) -> Side:
    """Return one side of some beads, in which a pair is a bead.

    Args:
        side: One side of the document; a pair is a sentence.
        firsts: First sentence of each bead, int64 ``[bead]``.
        lasts: The sentence after its last, int64 ``[bead]``.
    """
    beads = len(firsts)
    sentences, letters = side.offsets, side.letter_offsets
    offsets = np.zeros(beads + 1, dtype=np.int64)
    count = 0
    for bead in range(beads):
        first, last = sentences[firsts[bead]], sentences[lasts[bead]]
        offsets[bead + 1] = offsets[bead] + last - first
        count += letters[last] - letters[first]
    words = np.empty(offsets[-1], dtype=np.int32)
    letter_offsets = np.zeros(offsets[-1] + 1, dtype=np.int64)
    copied = np.empty(count, dtype=np.int32)
    used = 0
    for bead in range(beads):
        first, last = sentences[firsts[bead]], sentences[lasts[bead]]
        at = offsets[bead]
        words[at : offsets[bead + 1]] = side.words[first:last]
        for token in range(last - first):
            letter_offsets[at + token + 1] = used + letters[first + token + 1] - letters[first]
        until = used + letters[last] - letters[first]
        copied[used:until] = side.letters[letters[first] : letters[last]]
        used = until
    return Side(offsets, words, letter_offsets, copied)


@numba.njit(nogil=True, cache=True)
def information(side: Side, words: Words, scratch: Scratch) -> np.ndarray:
    """Return ``-log`` of the probability of each pair's words by themselves, float64 ``[pair]``."""
    pairs = len(side.offsets) - 1
    sums = np.zeros(pairs)
    side, words, scratch = lent(side), lent(words), lent(scratch)
    for pair in range(pairs):
        scratch.used[0] = 0
        unigram = tokens_of(side, pair, words, scratch).unigram
        for word in range(side.offsets[pair + 1] - side.offsets[pair]):
            sums[pair] -= np.log(np.float64(unigram[word]))
    return sums
