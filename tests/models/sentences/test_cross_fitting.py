import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.sentences import cross_fitting
from pairweave.models.sentences.cross_fitting import gains_over_chance, half_of, least_likely_gain
from pairweave.models.sentences.sentence_aligner import (
    DocumentWords,
    Path,
    align_by_length,
    align_by_words,
)
from pairweave.transforms.sentences.sentence_words import cut_words
from pairweave.transforms.text.tokens import TokenConfig
from tests.makers.corpora import sentence
from tests.makers.hmm_corpora import plain_table

PAIRS = [sentence(number) for number in range(60)]


def document(pairs):
    sides = [
        cut_words(pa.array(side), TokenConfig("whitespace"), language)
        for side, language in zip(zip(*pairs, strict=True), ("en", "de"), strict=True)
    ]
    return DocumentWords(*sides, *(np.zeros(len(pairs), np.int64) for _ in range(2)))


def one_to_one(count):
    return Path(np.ones(count, np.int64), np.ones(count, np.int64), np.zeros(count))


@pytest.fixture(scope="module")
def model():
    """Return an aligner that has seen none of the pairs."""
    return fit(plain_table([sentence(number) for number in range(1_000, 1_200)]), HmmConfig())


def test_the_halves_are_blocks_of_sentences_and_begin_otherwise_in_the_next_document():
    assert half_of(0, np.array([0, 9, 10, 19, 20])).tolist() == [0, 0, 1, 1, 0]
    assert half_of(1, np.array([0, 9, 10])).tolist() == [1, 1, 0]


def test_pairs_of_a_translation_gain_and_those_of_other_text_do_not(model):
    moved = [(PAIRS[place][0], PAIRS[(place + 30) % 60][1]) for place in range(60)]
    true, false = (
        gains_over_chance(document(pairs), one_to_one(60), 0, (model, model))
        for pairs in (PAIRS, moved)
    )
    assert len(true) == len(false) == 60
    assert true.mean() > 0.5
    assert least_likely_gain(false) < 0.2


def test_the_score_of_a_pair_is_that_of_the_second_pass(model):
    words = document(PAIRS[:8])
    path = align_by_words(words, align_by_length(words), model)
    assert path.sources.tolist() == path.targets.tolist() == [1] * 8
    scores = cross_fitting._scores(words.source, words.target, model)
    np.testing.assert_allclose(scores[:, cross_fitting.SHIFTS], path.scores, rtol=1e-5)
    assert np.isnan(scores[7, cross_fitting.SHIFTS + 1 :]).all()


def test_a_bead_of_several_sentences_is_one_text(model):
    whole = document(
        [(f"{PAIRS[0][0]} {PAIRS[1][0]}", f"{PAIRS[0][1]} {PAIRS[1][1]}"), *PAIRS[2:9]]
    )
    cut = document(PAIRS[:9])
    path = Path(np.array([2, *[1] * 7]), np.array([2, *[1] * 7]), np.zeros(8))
    actual = gains_over_chance(cut, path, 0, (model, model))
    np.testing.assert_allclose(
        actual, gains_over_chance(whole, one_to_one(8), 0, (model, model)), rtol=1e-5
    )


def test_the_aligner_of_the_other_half_judges(model):
    words, path = document(PAIRS), one_to_one(60)
    both = gains_over_chance(words, path, 0, (model, model))
    assert len(gains_over_chance(words, path, 0, (None, None))) == 0
    np.testing.assert_array_equal(gains_over_chance(words, path, 0, (None, model)), both[:30])
    np.testing.assert_array_equal(gains_over_chance(words, path, 0, (model, None)), both[30:])


def test_sentences_without_a_partner_are_not_judged(model):
    words = document(PAIRS[:5])
    path = Path(np.array([1, 1, 1, 1, 1, 0]), np.array([1, 0, 1, 1, 1, 1]), np.zeros(6))
    assert len(gains_over_chance(words, path, 0, (None, model))) == 4
