"""The sparse lexicon of IBM Model 1 (Brown et al. 1993): the candidate translations of each word.

The lexicon is a matrix in compressed rows: a row for each source word, its target words sorted.
One entry serves both directions, since counts are those of two models that agree.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.enlarge import enlarged
from pairweave.transforms.kernels.hmm.emissions import back_off, likeness
from pairweave.transforms.kernels.hmm.sides import Words, back_off_weight
from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.uncounted import uncounted

FIXED_POINT = 1 << 30
"""Counts are integers in units of 2**-30, so that their sum does not depend on the order."""

FREQUENT = 64
"""Words with at least this many occurrences are not candidates if they meet only once."""


class Occurrences(NamedTuple):
    """The pairs in which each word of one side occurs.

    Attributes:
        begins: Start of each word's pairs, int64 ``[word + 1]``.
        pairs: The pairs, ascending for each word, once for each occurrence, int32.
    """

    begins: np.ndarray
    pairs: np.ndarray


class Spellings(NamedTuple):
    """The letters of the words of one side.

    Attributes:
        offsets: Start of each word's letters, int64 ``[word + 1]``.
        letters: Folded code points, int32.
    """

    offsets: np.ndarray
    letters: np.ndarray


class Entries(NamedTuple):
    """The pairs of words in the lexicon.

    Attributes:
        row_offsets: Where each source word's entries begin, int64 ``[source word + 1]``.
        columns: Target words, sorted in each row, int32 ``[entry]``.
        stem_entries: Entry in the lexicon of stems of each entry, int32 (`stem_entries`).
        alike: Likeness of the words of each entry, float32 (`entry_likeness`).
    """

    row_offsets: np.ndarray
    columns: np.ndarray
    stem_entries: np.ndarray
    alike: np.ndarray


@numba.njit(nogil=True, cache=True)
def occurrences(words: np.ndarray, offsets: np.ndarray, vocabulary: int) -> Occurrences:
    """List the pairs in which each word occurs, once for each occurrence.

    Args:
        words: Word of each token, -1 for unknown, int32 ``[token]``.
        offsets: Start of each pair's tokens ``[pair + 1]``.
        vocabulary: Number of words.
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
    return Occurrences(begins, pairs)


@numba.njit(nogil=True, cache=True)
def candidates(
    first: int,
    last: int,
    occurring: Occurrences,
    targets: np.ndarray,
    target_offsets: np.ndarray,
    source_offsets: np.ndarray,
    target_counts: np.ndarray,
    most: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the target words that may translate the source words ``first`` to ``last - 1``.

    Counts co-occurrence as the first step of Model 1 with uniform probabilities does. Leaves out
    words that meet once although both are frequent: most co-occurrences are such chance ones, and
    they would fill the memory. Keeps the ``most`` words of a row with the largest
    ``count**2 / (count of target word)``, the order of chi-squared for rare pairs.

    Args:
        first: First source word.
        last: Source word after the last.
        occurring: Occurrences of the source words.
        targets: Target words ``[token]``.
        target_offsets: ``[pair + 1]``.
        source_offsets: ``[pair + 1]``.
        target_counts: Number of occurrences of each target word ``[target word]``.
        most: Maximum number of entries of a row.

    Returns:
        The number of entries of each row ``[last - first]``, the target words, sorted in each row,
        and their counts, float32.
    """
    begins, pairs = occurring
    vocabulary = len(target_counts)
    weight = np.zeros(vocabulary, dtype=np.float64)
    times = np.zeros(vocabulary, dtype=np.int32)
    touched = np.empty(vocabulary, dtype=np.int32)
    sizes = np.zeros(last - first, dtype=np.int64)
    columns = np.empty(1024, dtype=np.int32)
    counts = np.empty(1024, dtype=np.float32)
    used: Integer = np.int64(0)
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
                    times[target] = 0
                weight[target] += share
                times[target] += 1
        row = touched[:seen]
        if begins[word + 1] - begins[word] >= FREQUENT:
            often = np.empty(seen, dtype=np.bool_)
            for at in range(seen):
                often[at] = times[row[at]] > 1 or target_counts[row[at]] < FREQUENT
            row = row[often]
        if len(row) > most:
            score = np.empty(len(row), dtype=np.float64)
            for at in range(len(row)):
                score[at] = -(weight[row[at]] ** 2) / target_counts[row[at]]
            row = row[np.argsort(score, kind="mergesort")[:most]]
        row = np.sort(row)
        while used + len(row) > len(columns):
            columns = enlarged(columns, used, 2 * len(columns))
            counts = enlarged(counts, used, 2 * len(counts))
        for target in row:
            columns[used] = target
            counts[used] = weight[target]
            used += 1
        sizes[word - first] = len(row)
        for at in range(seen):
            weight[touched[at]] = 0.0
    return sizes, columns[:used].copy(), counts[:used].copy()


@numba.njit(nogil=True, cache=True)
def stem_entries(
    row_offsets: np.ndarray,
    columns: np.ndarray,
    source_stems: np.ndarray,
    target_stems: np.ndarray,
    source_stem_count: int,
    target_stem_count: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the pairs of stems of a lexicon's pairs of words.

    Args:
        row_offsets: Row offsets of the lexicon.
        columns: Columns of the lexicon.
        source_stems: Stem of each source word, int32.
        target_stems: Stem of each target word, int32.
        source_stem_count: Number of source stems.
        target_stem_count: Number of target stems.

    Returns:
        Row offsets and columns of the lexicon of stems, and the entry in it of each pair of words.
    """
    begins = np.zeros(source_stem_count + 1, dtype=np.int64)
    for word in range(len(source_stems)):
        begins[source_stems[word] + 1] += 1
    for stem in range(source_stem_count):
        begins[stem + 1] += begins[stem]
    at = begins[:-1].copy()
    words = np.empty(len(source_stems), dtype=np.int32)
    for word in range(len(source_stems)):
        words[at[source_stems[word]]] = word
        at[source_stems[word]] += 1
    place = np.full(target_stem_count, -1, dtype=np.int64)
    touched = np.empty(target_stem_count, dtype=np.int32)
    stem_offsets = np.zeros(source_stem_count + 1, dtype=np.int64)
    stem_columns = np.empty(len(columns), dtype=np.int32)
    entries = np.empty(len(columns), dtype=np.int32)
    used = 0
    for stem in range(source_stem_count):
        seen = 0
        for index in range(begins[stem], begins[stem + 1]):
            for entry in range(row_offsets[words[index]], row_offsets[words[index] + 1]):
                other = target_stems[columns[entry]]
                if place[other] < 0:
                    place[other] = 0
                    touched[seen] = other
                    seen += 1
        in_order = np.sort(touched[:seen])
        for index in range(seen):
            stem_columns[used + index] = in_order[index]
        for index in range(used, used + seen):
            place[stem_columns[index]] = index
        for index in range(begins[stem], begins[stem + 1]):
            for entry in range(row_offsets[words[index]], row_offsets[words[index] + 1]):
                entries[entry] = place[target_stems[columns[entry]]]
        for index in range(used, used + seen):
            place[stem_columns[index]] = -1
        used += seen
        stem_offsets[stem + 1] = used
    return stem_offsets, stem_columns[:used].copy(), entries


@uncounted
def entry_likeness(
    first: int,
    last: int,
    row_offsets: np.ndarray,
    columns: np.ndarray,
    source_spellings: Spellings,
    target_spellings: Spellings,
    result: np.ndarray,
) -> None:
    """Compute the likeness of the spelling of the words of each entry.

    Args:
        first: First source word.
        last: Source word after the last.
        row_offsets: Row offsets of the lexicon.
        columns: Columns of the lexicon.
        source_spellings: Letters of the source words.
        target_spellings: Letters of the target words.
        result: Receives the likeness, float32 ``[entry]``.
    """
    letter_offsets, letters = source_spellings
    other_offsets, others = target_spellings
    for source in range(first, last):
        start = letter_offsets[source]
        end = letter_offsets[source + 1]
        for entry in range(row_offsets[source], row_offsets[source + 1]):
            target = columns[entry]
            result[entry] = likeness(
                letters, start, end, others, other_offsets[target], other_offsets[target + 1]
            )


@numba.njit(nogil=True, cache=True)
def sum_counts(
    row_offsets: np.ndarray,
    columns: np.ndarray,
    counts: np.ndarray,
    groups: np.ndarray,
    targets: int,
    group_count: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sum the counts of each source word, each target word and each group of entries.

    Args:
        row_offsets: Row offsets of the lexicon.
        columns: Columns of the lexicon.
        counts: Expected links, in units of 1 / FIXED_POINT, int64 ``[entry]``.
        groups: Group of each entry; as long as ``counts``.
        targets: Number of target words.
        group_count: Number of groups.

    Returns:
        Sums in whole units, float32: ``[source word]``, ``[target word]``, ``[group]``.
    """
    unit = 1.0 / FIXED_POINT
    of_source = np.zeros(len(row_offsets) - 1, dtype=np.float32)
    of_target = np.zeros(targets, dtype=np.int64)
    of_group = np.zeros(group_count, dtype=np.int64)
    for source in range(len(row_offsets) - 1):
        total = np.int64(0)
        for entry in range(row_offsets[source], row_offsets[source + 1]):
            total += counts[entry]
            of_target[columns[entry]] += counts[entry]
            of_group[groups[entry]] += counts[entry]
        of_source[source] = total * unit
    return (
        of_source,
        (of_target * unit).astype(np.float32),
        (of_group * unit).astype(np.float32),
    )


@uncounted
def maximize(
    first: int,
    last: int,
    entries: Entries,
    counts: np.ndarray,
    stem_counts: np.ndarray,
    source: Words,
    target: Words,
    probabilities: np.ndarray,
) -> None:
    """Turn the counts of the rows ``first`` to ``last - 1`` into probabilities of both directions.

    Args:
        first: First source word.
        last: Source word after the last.
        entries: The pairs of words in the lexicon.
        counts: Expected links, in units of 1 / FIXED_POINT, int64 ``[entry]``.
        stem_counts: Expected links of each entry of the lexicon of stems, float32.
        source: Statistics of the source words.
        target: Statistics of the target words.
        probabilities: Receives p(target | source) and p(source | target), float32 ``[entry, 2]``.
    """
    row_offsets, columns, stem_entry, alike = entries
    stems, masses, shares, unigrams, _, stem_masses, _, prior = source
    other_stems, other_masses, other_shares, other_unigrams, _, other_stem_masses, _, _ = target
    unit = np.float32(1.0 / FIXED_POINT)
    for word in range(first, last):
        weight = back_off_weight(prior, masses[word], stem_masses[stems[word]])
        own = np.float32(1.0) / (masses[word] + prior)
        for entry in range(row_offsets[word], row_offsets[word + 1]):
            other = columns[entry]
            count = np.float32(counts[entry]) * unit
            stem_count = stem_counts[stem_entry[entry]]
            chance = back_off(
                weight, stem_count, alike[entry], other_shares[other], other_unigrams[other]
            )
            probabilities[entry, 0] = count * own + chance
            mass = other_masses[other]
            chance = back_off(
                back_off_weight(target.prior, mass, other_stem_masses[other_stems[other]]),
                stem_count,
                alike[entry],
                shares[word],
                unigrams[word],
            )
            of = np.float32(1.0) / (mass + target.prior)
            probabilities[entry, 1] = count * of + chance
