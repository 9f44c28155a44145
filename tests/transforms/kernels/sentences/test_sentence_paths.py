import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.sentences import beads, lengths
from pairweave.transforms.kernels.sentences.beads import Band, Document, Kinds, Weights
from tests.oracles import slow_sentences

PRIORS = {(1, 1): 0.9, (2, 1): 0.03, (1, 2): 0.03, (1, 0): 0.02, (0, 1): 0.02}
LOGS = {size: math.log(prior) for size, prior in PRIORS.items()}
KINDS = Kinds(
    np.array([source for source, _ in PRIORS]),
    np.array([target for _, target in PRIORS]),
    np.array(list(LOGS.values())),
)
FREE = Weights(1.0, 0.0, 0.0, 0.0)
sizes = st.lists(st.integers(1, 30), min_size=1, max_size=5)


def ends(words):
    return np.concatenate([[0], np.cumsum(words)]).astype(np.int64)


def document(source, target, source_breaks=None, target_breaks=None):
    """Return a document of sentences of so many words; without breaks one paragraph a side."""
    none = [np.zeros(len(side) + 1, np.int64) for side in (source, target)]
    breaks = [
        side if given is None else np.cumsum(given)
        for side, given in zip(none, (source_breaks, target_breaks), strict=True)
    ]
    return Document(ends(source), ends(target), *breaks, sum(target) / sum(source))


def whole_band(rows, columns):
    """Return a band that holds every cell."""
    low = np.zeros(rows + 1, np.int64)
    return Band(low, low + columns + 1, np.arange(rows + 2) * (columns + 1))


def length_model(target):
    longest = 2 * max(target)
    chances = lengths.chance_lengths(np.array(target), 2, longest)
    factorials = np.array([math.lgamma(count + 1) for count in range(longest + 1)])
    return lengths.LengthModel(chances, factorials, np.zeros(2), 1 / (np.mean(target) + 1))


def best_by_length(band, document, model):
    priors = partial(beads.score_priors, band, KINDS, document, FREE)
    by_length = partial(lengths.add_lengths, band, KINDS, document, model)
    return beads.best_beads(band, KINDS, [priors, by_length])


def slow_score(source, target, model):
    """Return a function that scores a bead by its lengths."""
    ratio = sum(target) / sum(source)

    def score(rows, columns):
        words = sum(source[row] for row in rows)
        others = sum(target[column] for column in columns)
        chance = model.log_chances[len(columns) - 1, others]
        return slow_sentences.poisson_score(words, others, ratio, chance)

    return score


@given(source=sizes, target=sizes)
def test_the_best_path_is_the_best_of_all(source, target):
    model = length_model(target)
    band = whole_band(len(source), len(target))
    made = document(source, target)
    back = best_by_length(band, made, model)
    path = beads.trace(band, KINDS, back)
    actual = [(int(KINDS.sources[kind]), int(KINDS.targets[kind])) for kind in path]
    score = slow_score(source, target, model)
    best, _ = slow_sentences.best_path(len(source), len(target), LOGS, score)
    total, row, column = 0.0, 0, 0
    for sources, targets in actual:
        total += LOGS[sources, targets]
        row, column = row + sources, column + targets
        if sources and targets:
            total += score(range(row - sources, row), range(column - targets, column))
    assert (row, column) == (len(source), len(target))
    assert total == pytest.approx(best)


@pytest.mark.parametrize("held", [1, 60])
def test_the_path_is_the_same_however_few_scores_are_held(held, monkeypatch):
    source, target = [3, 9, 4, 4, 12, 1, 7] * 9, [4, 8, 8, 13, 1, 6] * 9
    band, made = whole_band(len(source), len(target)), document(source, target)
    wanted = best_by_length(band, made, length_model(target))
    monkeypatch.setattr(beads, "SCORES_HELD", held * len(target) * len(KINDS.sources))
    np.testing.assert_array_equal(best_by_length(band, made, length_model(target)), wanted)


@given(source=sizes, target=sizes)
def test_probabilities_are_those_of_all_paths_together(source, target):
    model = length_model(target)
    band = whole_band(len(source), len(target))
    made = document(source, target)
    path = beads.trace(band, KINDS, best_by_length(band, made, model))
    actual = lengths.posteriors(path, band, KINDS, made, FREE, model)
    sums = slow_sentences.path_sums(
        len(source), len(target), LOGS, slow_score(source, target, model)
    )
    row = column = 0
    for kind, chance in zip(path, actual, strict=True):
        bead = int(KINDS.sources[kind]), int(KINDS.targets[kind])
        row, column = row + bead[0], column + bead[1]
        assert chance == pytest.approx(sums[row, column, *bead], abs=1e-9)


def test_chances_of_lengths_sum_to_one():
    actual = np.exp(lengths.chance_lengths(np.array([3, 7, 7, 20]), 2, 400))
    np.testing.assert_allclose(actual.sum(axis=1), 1, atol=1e-3)
    # A sum of two lengths is distributed like one length and another.
    one = np.convolve(actual[0], actual[0])[:401]
    np.testing.assert_allclose(actual[1], one, atol=1e-12)


def test_ends_of_paragraphs_cost_what_they_should():
    # Source paragraphs end behind sentences 1 and 3; the target's behind 2 and 3.
    made = document([5, 5, 5], [5, 5, 5], [0, 1, 0, 1], [0, 0, 1, 1])
    weights = Weights(1.0, 0.0, 0.25, 4.0)
    kinds = {size: number for number, size in enumerate(PRIORS)}

    def cost(row, position, size):
        logs = LOGS[size]
        return logs - beads.prior(row, position, kinds[size], KINDS, made, weights)

    assert cost(1, 1, (1, 1)) == pytest.approx(4)
    assert cost(3, 3, (1, 1)) == pytest.approx(0)
    assert cost(2, 1, (2, 1)) == pytest.approx(0.25)
    assert cost(2, 2, (2, 1)) == pytest.approx(4.25)
    assert beads.prior(1, 1, kinds[2, 1], KINDS, made, weights) <= beads.NO_PATH


@pytest.mark.parametrize(("breaks", "cost"), [("both", 0), ("source", 4), ("target", 4)])
def test_a_paragraph_may_end_with_the_first_sentence(breaks, cost):
    given = [[0, int(breaks in ("both", side)), 0] for side in ("source", "target")]
    made = document([5, 5], [5, 5], *given)
    actual = beads.prior(1, 1, 0, KINDS, made, Weights(1.0, 0.0, 0.25, 4.0))
    assert LOGS[1, 1] - actual == pytest.approx(cost)


@pytest.mark.parametrize(
    ("sizes_of_kinds", "wanted"),
    [([(1, 1), (1, 0), (0, 1)], [0, 0]), ([(0, 1), (1, 0), (1, 1)], [1, 1, 0, 0])],
)
def test_of_paths_with_equal_scores_the_first_kind_of_bead_is_taken(sizes_of_kinds, wanted):
    sources, targets = np.array(sizes_of_kinds).T.copy()
    kinds, band = Kinds(sources, targets, np.zeros(3)), whole_band(2, 2)
    back = beads.best_beads(band, kinds, [lambda *rows: rows[-1].fill(0.0)])
    assert beads.trace(band, kinds, back).tolist() == wanted


def test_a_band_keeps_a_path_inside():
    source = target = [4] * 6
    low = np.array([0, 0, 1, 2, 3, 4, 5])
    high = np.array([2, 3, 4, 5, 6, 7, 7])
    band = Band(low, high, np.concatenate([[0], np.cumsum(high - low)]))
    made = document(source, target)
    back = best_by_length(band, made, length_model(target))
    path = beads.trace(band, KINDS, back)
    assert KINDS.sources[path].sum() == KINDS.targets[path].sum() == 6
