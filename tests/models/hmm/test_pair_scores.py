"""What a fitted aligner says of whole pairs: of two sides or directions, the worse one counts."""

import numpy as np
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.hmm.hmm_vocabulary import collect_vocabulary, cut
from pairweave.models.hmm.pair_scores import coverages, score_pairs
from pairweave.models.hmm.word_order import build_word_order
from pairweave.transforms.filtering.evidence import HMM_COLUMNS
from pairweave.transforms.kernels.hmm import pair_scores as kernel
from pairweave.transforms.kernels.scratch import make_scratch
from tests.makers.hmm_corpora import plain_table

WORDS = dict(zip("abcdefghijkl", "ABCDEFGHIJKL", strict=True))


def pair(*names, turned=False):
    """Return words with their translations, these in reverse order if they are turned."""
    words = [WORDS[name] for name in names]
    return " ".join(names), " ".join(reversed(words) if turned else words)


@pytest.fixture(scope="module")
def fitted():
    """Return a model and its order, of pairs whose words translate one to one, in any order."""
    names = list(WORDS)
    table = plain_table(
        [
            pair(*(names[(first * step + 1) % 12] for step in range(4)), turned=first % 3 == 0)
            for first in range(120)
        ]
        + [pair(names[first], names[second]) for first in range(12) for second in range(12)]
    )
    return fit(table, HmmConfig()), build_word_order(collect_vocabulary(table, "target", 99), table)


def scores(fitted, *pairs):
    return score_pairs(*fitted, plain_table(pairs))


def test_words_without_a_partner_count_on_whichever_side_they_are(fitted):
    plain = pair(*"abcdef")
    junk = " v w x y z"
    actual = scores(fitted, plain, (plain[0] + junk, plain[1]), (plain[0], plain[1] + junk))
    assert actual["gap"][0] < 0.1
    assert min(actual["gap"][1:]) > 0.3


def test_coverages_are_those_of_the_scores(fitted):
    table = plain_table([pair(*"abcdef"), ("a b c x y z", "A B C"), ("l k", "x L y z")])
    actual, alone = score_pairs(*fitted, table), coverages(fitted[0], table)
    np.testing.assert_array_equal(alone[0], actual["target_coverage"])
    np.testing.assert_array_equal(alone[1], actual["source_coverage"])
    assert alone[1][1] < alone[0][1]


def test_of_both_directions_the_worse_gap_and_order_count(fitted):
    texts = [
        pair(*"abcdef"),
        ("a b c x y z", "A B C"),
        ("a b c d", "D A B x C y"),
        ("l k", "x L y z"),
    ]
    table = plain_table(texts)
    model, order = fitted
    parts = model.parts
    (source,), (target,) = (list(cut(table, side)) for side in ("source", "target"))
    sides = parts.source.side(*source), parts.target.side(*target)
    both = kernel.score_pairs(*sides, parts.model, make_scratch())
    actual = score_pairs(model, order, table)
    assert list(actual) == list(HMM_COLUMNS)
    for name, column in (("gap", kernel.GAP), ("order", kernel.ORDER)):
        worse = np.maximum(both[0, column], both[1, column])
        assert (worse > np.minimum(both[0, column], both[1, column])).any()
        assert actual[name].tolist() == worse.tolist()
    for name, place in (("forward_likelihood", 0), ("reverse_likelihood", 1)):
        assert actual[name].tolist() == both[place, kernel.LIKELIHOOD].tolist()
    assert (actual["forward_likelihood"] != actual["reverse_likelihood"]).any()
    for name, place in (("target_coverage", 0), ("source_coverage", 1)):
        assert actual[name].tolist() == both[place, kernel.COVERAGE].tolist()
