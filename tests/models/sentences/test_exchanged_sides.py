import dataclasses
import math

import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.sentences.exchanged_sides import MIN_WORDS, look_exchanged, mean_gain
from pairweave.models.sentences.sentence_aligner import DocumentWords
from pairweave.transforms.sentences.sentence_words import cut_words
from pairweave.transforms.text.tokens import TokenConfig
from tests.makers.corpora import sentence
from tests.makers.hmm_corpora import plain_table


@pytest.fixture(scope="module")
def model():
    return fit(plain_table([sentence(number) for number in range(300)]), HmmConfig())


def side(texts, language):
    return cut_words(pa.array(texts, pa.string()), TokenConfig(), language)


def document(first, count):
    pairs = [sentence(first + number) for number in range(count)]
    english, german = zip(*pairs, strict=True)
    return DocumentWords(side(english, "en"), side(german, "de"), *([0] * count for _ in range(2)))


def test_exchanged_sides_are_told_from_others(model):
    words = document(1_000, 20)
    assert not look_exchanged(words, model)
    exchanged = dataclasses.replace(words, source=words.target, target=words.source)
    assert look_exchanged(exchanged, model)


def test_two_sides_of_one_language_are_not_exchanged(model):
    words = document(1_000, 20)
    for each in (words.source, words.target):
        assert not look_exchanged(dataclasses.replace(words, source=each, target=each), model)


def test_few_or_no_words_tell_nothing(model):
    for count in (0, 1):
        few = side([sentence(1_000)[1]] * count, "de"), side([sentence(1_000)[0]] * count, "en")
        assert min(int(each.offsets[-1]) for each in few) < MIN_WORDS
        words = DocumentWords(*few, [0] * count, [0] * count)
        assert not look_exchanged(words, model)


def test_the_gain_is_the_mean_difference_of_smoothed_unigrams(model):
    own, other = model.parts.source, model.parts.target
    known = own.words[0].as_py()
    actual = mean_gain(side([f"{known} qqqq"], "en"), own, other)
    counts = [
        dict(zip(each.words.to_pylist(), each.counts.tolist(), strict=True))
        for each in (own, other)
    ]
    sums = [
        sum(
            math.log((table.get(word, 0) + 1) / (sum(table.values()) + len(table) + 1))
            for word in (known, "qqqq")
        )
        for table in counts
    ]
    assert actual == pytest.approx((sums[1] - sums[0]) / 2)
