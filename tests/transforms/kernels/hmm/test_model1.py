from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.hmm import lexicon as lexicons
from pairweave.transforms.kernels.hmm import model1
from pairweave.transforms.kernels.hmm.model1 import FIXED_POINT, FREQUENT
from pairweave.transforms.kernels.hmm.sides import Words
from tests.oracles.slow_hmm import translation_probability

sentences = st.lists(st.integers(-1, 4), max_size=5)
corpora = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=6)


def flat(lists):
    """Return lists as one array and offsets."""
    sizes = [len(one) for one in lists]
    return (
        np.array([item for one in lists for item in one], np.int32),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
    )


def candidates(corpus, most):
    """Return {(source, target): count} of the kernel, and the row sizes."""
    source, source_offsets = flat([pair[0] for pair in corpus])
    target, target_offsets = flat([pair[1] for pair in corpus])
    result = model1.occurrences(source, source_offsets, 5)
    frequency = np.bincount(target[target >= 0], minlength=5).astype(np.int64)
    sizes, columns, counts = model1.candidates(
        0, 5, result, target, target_offsets, source_offsets, frequency, most
    )
    rows = np.repeat(np.arange(5), sizes).tolist()
    assert [*zip(rows, columns, strict=True)] == sorted(zip(rows, columns, strict=True))
    return dict(zip(zip(rows, columns.tolist(), strict=True), counts.tolist(), strict=True))


def plain_candidates(corpus):
    counts = defaultdict(float)
    for source, target in corpus:
        for word in source:
            for other in target:
                if word >= 0 and other >= 0:
                    counts[word, other] += 1 / (len(source) + 1)
    return counts


@given(corpus=corpora)
def test_candidates_are_all_words_that_occur_together(corpus):
    assert candidates(corpus, 5) == pytest.approx(plain_candidates(corpus), rel=1e-5)


@given(corpus=corpora, most=st.integers(1, 3))
def test_a_short_row_keeps_the_most_associated_words(corpus, most):
    actual, everything = candidates(corpus, most), plain_candidates(corpus)
    frequency = Counter(word for _, target in corpus for word in target)
    for word in range(5):
        scores = {
            other: count**2 / frequency[other]
            for (one, other), count in everything.items()
            if one == word
        }
        kept = [scores[other] for one, other in actual if one == word]
        best = sorted(scores.values(), reverse=True)[:most]
        assert sorted(kept, reverse=True) == pytest.approx(best)


def test_frequent_words_that_met_once_are_no_candidates():
    common = [([0], [0, 1])] * FREQUENT + [([0, 1], [2])] + [([2], [2, 3])] * FREQUENT
    actual = candidates(common, 5)
    assert (0, 0) in actual
    assert (0, 2) not in actual  # both frequent, met once
    assert (1, 2) in actual  # source word is rare
    assert (2, 3) in actual


@pytest.mark.parametrize(
    ("sources", "targets", "times", "there"),
    [
        (FREQUENT, FREQUENT, 1, False),
        (FREQUENT - 1, FREQUENT, 1, True),
        (FREQUENT, FREQUENT - 1, 1, True),
        (FREQUENT, FREQUENT, 2, True),
    ],
)
def test_words_are_frequent_from_a_number_of_occurrences_on(sources, targets, times, there):
    corpus = [([0], [1])] * times + [([0], [0])] * (sources - times)
    corpus += [([1], [1])] * (targets - times)
    assert ((0, 1) in candidates(corpus, 5)) == there


def test_how_often_words_met_is_counted_for_each_source_word_anew():
    met = [([0], [2])] * FREQUENT + [([1], [3])] * FREQUENT + [([1], [2])]
    actual = candidates(met, 5)
    assert (0, 2) in actual
    assert (1, 2) not in actual  # both frequent, met once, though 2 met another word often


def lexicon(rows):
    """Return row offsets and columns of a list of sorted rows."""
    columns, offsets = flat(rows)
    return offsets, columns


sorted_rows = st.lists(st.sets(st.integers(0, 7)).map(sorted), min_size=1, max_size=5)


@given(rows=sorted_rows)
def test_an_entry_is_found_where_it_is(rows):
    offsets, columns = lexicon(rows)
    for source, row in enumerate(rows):
        for target in range(8):
            entry = lexicons.search_row(columns, offsets[source], offsets[source + 1], target)
            assert (entry >= 0) == (target in row)
            assert entry < 0 or (columns[entry] == target and offsets[source] <= entry)


@given(rows=sorted_rows, data=st.data())
def test_pairs_of_stems_are_those_of_their_words(rows, data):
    offsets, columns = lexicon(rows)
    source_stems = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    target_stems = data.draw(st.lists(st.integers(0, 3), min_size=8, max_size=8))
    stem_offsets, stem_columns, entries = model1.stem_entries(
        offsets,
        columns,
        np.array(source_stems, np.int32),
        np.array(target_stems, np.int32),
        3,
        4,
    )
    expected = sorted(
        {
            (source_stems[source], target_stems[target])
            for source, row in enumerate(rows)
            for target in row
        }
    )
    stems = np.repeat(np.arange(3), np.diff(stem_offsets)).tolist()
    actual = list(zip(stems, stem_columns.tolist(), strict=True))
    assert actual == expected
    sources = np.repeat(np.arange(len(rows)), np.diff(offsets))
    for entry, source in enumerate(sources):
        pair = (source_stems[source], target_stems[columns[entry]])
        assert actual[entries[entry]] == pair


def test_counts_become_the_probabilities_of_the_formula():
    rng = np.random.default_rng(3)
    offsets, columns = lexicon([[0, 1, 2], [1], [], [0, 2]])
    counts = (rng.random(6) * 5 * FIXED_POINT).astype(np.int64)
    real = counts / FIXED_POINT
    stems = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 1], np.int32)
    _, stem_columns, entries = model1.stem_entries(offsets, columns, *stems, 2, 2)
    mass, other_mass, stem_counts = model1.sum_counts(
        offsets, columns, counts, entries, 3, len(stem_columns)
    )
    sources = np.repeat(np.arange(4), np.diff(offsets))
    np.testing.assert_allclose(mass, np.bincount(sources, real, 4), rtol=1e-6)
    np.testing.assert_allclose(other_mass, np.bincount(columns, real, 3), rtol=1e-6)
    np.testing.assert_allclose(stem_counts, np.bincount(entries, real), rtol=1e-6)

    def words(stem, mass):
        return Words(
            np.append(stem, -1).astype(np.int32),
            np.append(mass, 0).astype(np.float32),
            rng.random(len(stem) + 1).astype(np.float32),
            rng.random(len(stem) + 1).astype(np.float32),
            np.ones(len(stem) + 1, np.float32),
            np.append(np.bincount(stem, mass, 2), 0).astype(np.float32),
            np.ones(3, np.float32),
            np.float32(10),
        )

    source, target = words(stems[0], mass), words(stems[1], other_mass)
    alike = rng.random(6).astype(np.float32)
    result = np.empty((6, 2), np.float32)
    for first, last in ((0, 2), (2, 4)):
        model1.maximize(
            first,
            last,
            model1.Entries(offsets, columns, entries, alike),
            counts,
            stem_counts,
            source,
            target,
            result,
        )
    for entry in range(6):
        one, other = sources[entry], columns[entry]
        for direction, (known, word, others, to) in enumerate(
            ((source, one, target, other), (target, other, source, one))
        ):
            assert result[entry, direction] == pytest.approx(
                translation_probability(
                    real[entry],
                    known.mass[word],
                    10,
                    stem_counts[entries[entry]],
                    known.stem_mass[known.stem[word]],
                    others.share[to],
                    alike[entry],
                    others.unigram[to],
                ),
                rel=1e-4,
            )
