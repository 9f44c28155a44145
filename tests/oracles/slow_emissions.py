"""Emissions of one pair of words at a time, for comparison with the kernel to the last bit.

All arithmetic is in 32 bits, in the order that the kernel has to keep: links depend on each bit.
"""

import numpy as np

from pairweave.transforms.kernels.hmm.emissions import (
    LEAST,
    LIKENESS_WEIGHT,
    MAX_LETTERS,
    UNIGRAM_WEIGHT,
    likeness,
)
from pairweave.transforms.kernels.hmm.sides import STEM_PRIOR, tokens_of


def entry_in(offsets, columns, row, column):
    """Return the entry of a row and a column of compressed rows, or -1."""
    if row < 0 or column < 0:
        return -1
    inside = columns[offsets[row] : offsets[row + 1]].tolist()
    return offsets[row] + inside.index(column) if column in inside else -1


def back_off(weight, stem_count, alike, share, unigram):
    """Return the share of stems, spelling and frequency in p(other | word)."""
    prior = LIKENESS_WEIGHT * alike + UNIGRAM_WEIGHT * unigram
    return weight * (stem_count * share + STEM_PRIOR * prior)


def emissions_slowly(source, target, pair, source_words, target_words, lexicon):
    """Return p(target word | source word) ``[target, source]``, the reverse and the entries."""
    ours, theirs = tokens_of(source, pair, source_words), tokens_of(target, pair, target_words)
    shape = len(ours.word), len(theirs.word)
    forward, reverse = np.empty(shape[::-1], np.float32), np.empty(shape, np.float32)
    entries = np.empty(shape, np.int64)
    line = np.empty(MAX_LETTERS + 1, np.int32)

    def letters(side, token):
        return side.letters, *side.letter_offsets[token : token + 2]

    for i, j in np.ndindex(shape):
        entry = entry_in(lexicon.row_offsets, lexicon.columns, ours.word[i], theirs.word[j])
        entries[i, j] = entry
        if entry >= 0:
            ahead, back = lexicon.probabilities[entry]
        else:
            stems = ours.stem[i], theirs.stem[j]
            found = entry_in(lexicon.stem_offsets, lexicon.stem_columns, *stems)
            count = lexicon.stem_counts[found] if found >= 0 else np.float32(0.0)
            common = int(ours.letter_set[i] & theirs.letter_set[j]).bit_count()
            near = np.float32(0.0)
            if 3 * common >= 2 * max(ours.letter_count[i], theirs.letter_count[j], 1):
                near = np.float32(
                    likeness(
                        *letters(source, ours.start + i), *letters(target, theirs.start + j), line
                    )
                )
            ahead = back_off(ours.weight[i], count, near, theirs.share[j], theirs.unigram[j])
            back = back_off(theirs.weight[j], count, near, ours.share[i], ours.unigram[i])
        forward[j, i], reverse[i, j] = ahead + LEAST, back + LEAST
    return forward, reverse, entries
