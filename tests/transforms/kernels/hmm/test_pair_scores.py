import numpy as np
import pytest

from pairweave.transforms.kernels.hmm import pair_scores
from pairweave.transforms.kernels.hmm.agreement import Model
from pairweave.transforms.kernels.hmm.emissions import emissions
from pairweave.transforms.kernels.hmm.sides import tokens_of
from pairweave.transforms.kernels.scratch import make_scratch
from tests.oracles import slow_filtering
from tests.transforms.kernels.hmm.test_agreement import (
    P_LAST,
    P_NULL,
    PAIRS,
    factors_of,
    heads,
    model,
    share_of_last,
    sides,
)

__all__ = ["model"]  # the fixture


OWNED = make_scratch(0)  # too small for any array, so each has its own memory


def test_scores_of_pairs_are_those_of_the_formulas(model):
    source, target = sides()
    fast = pair_scores.score_pairs(source, target, Model(*model, P_NULL, P_LAST), make_scratch())
    assert fast.shape == (2, pair_scores.COLUMNS, len(PAIRS))
    assert not fast[:, :, 2].any()  # one side has no word
    for pair in (0, 1, 3, 4, 5):
        ours, theirs = (len(side) for side in PAIRS[pair])
        made, back_made, _ = emissions(source, target, pair, *model[:3], heads(model), OWNED)
        forward, null = made.values[:theirs, :ours], made.null[:theirs]
        reverse, back_null = back_made.values[:ours, :theirs], back_made.null[:ours]
        unigrams = (
            tokens_of(target, pair, model[1], OWNED).unigram[:theirs],
            tokens_of(source, pair, model[0], OWNED).unigram[:ours],
        )
        slow = slow_filtering.pair_scores(
            forward.tolist(),
            reverse.tolist(),
            (null.tolist(), back_null.tolist()),
            model[3],
            [factors_of(model[4 + side], PAIRS[pair][side]) for side in (0, 1)],
            P_NULL,
            share_of_last(pair),
            [one.tolist() for one in unigrams],
        )
        for direction in (0, 1):
            assert fast[direction, :, pair] == pytest.approx(slow[direction], rel=1e-3, abs=1e-4)


def test_a_pair_is_scored_alike_whatever_stands_beside_it(model):
    whole = pair_scores.score_pairs(*sides(), Model(*model, P_NULL, P_LAST), make_scratch())
    for pair in range(len(PAIRS)):
        alone = pair_scores.score_pairs(
            *sides(PAIRS[pair : pair + 1]), Model(*model, P_NULL, P_LAST), make_scratch()
        )
        np.testing.assert_array_equal(alone[:, :, 0], whole[:, :, pair])


@pytest.mark.parametrize(
    ("partners", "covered", "order"),
    [
        ([0, 1, 2], [1, 1, 1], 0.0),
        ([1, 1, 2], [1, 1, 1], 0.0),
        ([2, 0, 1], [1, 1, 1], 3 / (2 * 6)),  # two steps, of which one misses by three
        ([0, 40, 41], [1, 1, 1], 6 / (2 * 6)),
        ([2, 9, 3], [1, 0, 1], 0.0),  # the word between has no partner
        ([0, 2, 0], [1, 1, 0.05], 1 / 6),
        ([5, 0, 0], [1, 0, 0], 0.0),
    ],
)
def test_the_order_of_partners_is_the_mean_distance_from_the_next(partners, covered, order):
    scores = np.zeros(pair_scores.COLUMNS, np.float32)
    words = np.full(len(partners), 0.5, np.float32)
    coverage = np.array(covered, np.float32)
    pair_scores.judge(scores, -6.0, coverage, np.array(partners, np.int64), words)
    assert scores[pair_scores.ORDER] == pytest.approx(order)
    assert scores[pair_scores.LIKELIHOOD] == -2
    assert scores[pair_scores.COVERAGE] == pytest.approx(coverage.mean())
