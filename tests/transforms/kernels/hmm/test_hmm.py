import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.hmm.hmm import (
    BUCKETS,
    JUMPS,
    NEAR,
    JumpCounts,
    best_path,
    bucket_of,
    count_jumps,
    independent_posteriors,
    lay_out,
    position_rows,
    posteriors,
    slide,
    slide_back,
)
from pairweave.transforms.kernels.hmm.model1 import FIXED_POINT
from pairweave.transforms.kernels.hmm.sides import Side
from pairweave.transforms.kernels.matrices import padded
from pairweave.transforms.kernels.scratch import make_scratch
from tests.makers.emissions import emission_of
from tests.oracles import slow_hmm
from tests.oracles.slow_hmm import enumerated, windowed

OWNED = make_scratch(0)  # too small for any array, so each has its own memory
P_NULL = 0.2
P_LAST = 0.3
chances = st.floats(1e-20, 1.0)


@st.composite
def cases(draw, most_words=4, most_states=3):
    """Draw emissions, null probabilities and jump weights of a small pair."""
    words, states = draw(st.integers(1, most_words)), draw(st.integers(1, most_states))
    emission = draw(
        st.lists(
            st.lists(chances, min_size=states, max_size=states), min_size=words, max_size=words
        )
    )
    null = draw(st.lists(st.floats(1e-9, 1.0), min_size=words, max_size=words))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    jumps = rng.random(2 * JUMPS + 1).astype(np.float32) + np.float32(0.01)
    # A row of factors for each position.
    factors = rng.random((states + 1, BUCKETS)).astype(np.float32) + np.float32(0.1)
    return np.array(emission, np.float32), np.array(null, np.float32), jumps, factors


def run(emission, null, jumps, factors, low=None):
    """Return likelihood, posteriors, counts of jumps, and those by position and bucket."""
    words, width = emission.shape
    made = emission_of(emission, null, low)
    result = np.full_like(made.values, np.nan)
    counts, after = np.zeros(2 * JUMPS + 1), np.zeros((width + 1, BUCKETS), np.int64)
    rows = np.arange(width + 1, dtype=np.int32)
    layout = lay_out(jumps, factors, rows, P_NULL, OWNED)
    counted = JumpCounts(counts, after, rows)
    likelihood = posteriors(made, layout, P_NULL, P_LAST, result, counted, make_scratch())
    assert not result[:words, width:].any()
    return likelihood, result[:words, :width], counts, after / FIXED_POINT


def layout_of(jumps, factors):
    """Return the probabilities of jumps; each position has its own row of factors."""
    return lay_out(jumps, factors, np.arange(len(factors), dtype=np.int32), P_NULL, OWNED)


@given(case=cases())
def test_posteriors_and_jumps_are_those_of_all_alignments_together(case):
    emission, null, jumps, factors = case
    likelihood, links, counts, after = run(*case)
    expected = enumerated(emission.tolist(), null.tolist(), jumps, P_NULL, factors, P_LAST)
    assert likelihood == pytest.approx(expected[0], abs=1e-4)
    np.testing.assert_allclose(links, expected[1], atol=1e-5)
    # Positions of less than a ten-thousandth are not counted.
    np.testing.assert_allclose(counts, expected[2], atol=2e-3)
    np.testing.assert_allclose(after, expected[4], atol=2e-3)


@pytest.mark.parametrize("width", [1, 7, 8, JUMPS - 1, JUMPS, JUMPS + 1, JUMPS + 2, 2 * JUMPS + 9])
def test_jumps_are_counted_by_distance_and_by_word_in_each_order(width):
    words, rng = 11, np.random.default_rng(width)
    columns, positions = padded(width), padded(width + 1)
    before = np.full((padded(words), positions), np.nan, np.float32)
    before[:words, : width + 1] = rng.random((words, width + 1))
    before[2, : width + 1] = 1e-4  # too rare to be counted
    given = rng.random((words, columns)).astype(np.float32)
    ahead = rng.random((positions, columns)).astype(np.float32)
    rows = rng.integers(0, 3, width + 1).astype(np.int32)
    by_distance, by_bucket = np.zeros(2 * JUMPS + 1), np.zeros((3, BUCKETS), np.int64)
    counted = JumpCounts(by_distance, by_bucket, rows)
    count_jumps(before, given, ahead, width, counted, make_scratch())
    distances, buckets = np.zeros(2 * JUMPS + 1), np.zeros((3, BUCKETS))
    counted = np.array([word for word in range(words) if word != 2])
    for last in range(width + 1):
        for state in range(width):
            share = (before[counted, last] * given[counted, state]).sum() * ahead[last, state]
            distances[min(max(state + 1 - last, -JUMPS), JUMPS) + JUMPS] += share
            buckets[rows[last], bucket_of(state + 1 - last)] += share
    np.testing.assert_allclose(by_distance, distances, rtol=1e-5)
    np.testing.assert_allclose(by_bucket / FIXED_POINT, buckets, rtol=1e-5)


def test_a_jump_far_back_or_ahead_after_a_word_is_in_the_outermost_bucket():
    distances = range(-JUMPS, JUMPS + 1)
    actual = [bucket_of(distance) for distance in distances]
    assert actual == [slow_hmm.bucket(distance) for distance in distances]
    assert sorted(set(actual)) == list(range(BUCKETS))
    assert bucket_of(1) == NEAR
    assert [actual.count(bucket) for bucket in range(1, BUCKETS - 1)] == [1] * (BUCKETS - 2)


def test_positions_have_the_rows_of_their_words_unless_a_window_moves_over_them():
    words = np.array([5, 4, -1, 0, -7], np.int32)
    nothing = np.zeros(0, np.int64)
    side = Side(np.array([0, 1, 5]), words, nothing, nothing.astype(np.int32))
    factors = np.ones((9 + 2, BUCKETS), np.float32)
    assert position_rows(side, 1, 4, factors, OWNED).tolist() == [10, 4, 9, 0, 9]
    assert position_rows(side, 1, 3, factors, OWNED).tolist() == [9, 9, 9, 9]


@given(case=cases())
def test_the_best_path_is_as_likely_as_the_best_of_all_alignments(case):
    emission, null, jumps, factors = case
    made = emission_of(emission, null)
    path = best_path(made, layout_of(jumps, factors), P_NULL, P_LAST)
    best = enumerated(emission.tolist(), null.tolist(), jumps, P_NULL, factors, P_LAST)[3]

    def likelihood(path):
        fixed = np.full_like(emission, 1e-30)
        nothing = np.full_like(null, 1e-9)
        for word, state in enumerate(path):
            if state >= 0:
                fixed[word, state] = emission[word, state]
            else:
                nothing[word] = null[word]
        return run(fixed, nothing, jumps, factors)[0]

    assert likelihood(path) == pytest.approx(likelihood(best), abs=1e-2)


def test_of_two_equal_paths_the_first_is_taken():
    jumps = np.ones(2 * JUMPS + 1, np.float32)
    emission = np.full((2, 2), 0.5, np.float32)
    layout = layout_of(jumps, np.ones((3, BUCKETS), np.float32))
    null = np.full(2, 1e-6, np.float32)
    assert best_path(emission_of(emission, null), layout, P_NULL, 0.0).tolist() == [0, 0]


@st.composite
def window_cases(draw):
    emission, null, jumps, factors = draw(cases(most_words=7, most_states=5))
    steps = draw(st.lists(st.integers(0, 7), min_size=len(null), max_size=len(null)))
    return emission, null, jumps, factors, np.cumsum(steps).astype(np.int32)


@given(case=window_cases())
def test_windows_give_what_their_plain_twin_gives(case):
    emission, null, jumps, factors, low = case
    likelihood, links, _, _ = run(emission, null, jumps, factors, low)
    expected = windowed(
        emission.tolist(), low.tolist(), null.tolist(), jumps, P_NULL, factors, P_LAST
    )
    assert likelihood == pytest.approx(expected[0], abs=1e-3)
    np.testing.assert_allclose(links, expected[1], atol=1e-5)


@given(case=window_cases())
def test_the_best_path_stays_in_the_windows_and_follows_near_certain_links(case):
    emission, null, jumps, factors, low = case
    made = emission_of(emission, null, low)
    path = best_path(made, layout_of(jumps, factors), P_NULL, P_LAST)
    links = run(emission, null, jumps, factors, low)[1]
    for word, state in enumerate(path):
        assert state == -1 or low[word] <= state < low[word] + emission.shape[1]
        sure = links[word].max() > 0.999
        # A word that is near certain in sum is on the best path unless others hang on it.
        if sure and np.all(links.max(axis=1) > 0.999):
            assert state == low[word] + links[word].argmax()


def test_thousands_of_words_keep_their_precision():
    rng = np.random.default_rng(5)
    words, width = 5000, 16
    emission = (rng.random((words, width)) ** 8).astype(np.float32) + np.float32(1e-12)
    low = (np.arange(words) // 2).astype(np.int32)
    jumps = rng.random(2 * JUMPS + 1).astype(np.float32) + np.float32(1e-6)
    null = np.full(words, 1e-3, np.float32)
    factors = np.ones((width + 1, BUCKETS), np.float32)
    likelihood, links, _, _ = run(emission, null, jumps, factors, low)
    expected = windowed(emission[:60].tolist(), low, null.tolist(), jumps, P_NULL)
    np.testing.assert_allclose(links[:40], np.array(expected[1])[:40], atol=1e-4)
    assert np.isfinite(likelihood)
    assert np.all(links >= 0)
    assert links.sum(axis=1).max() < 1.001


@given(case=cases())
def test_model_1_posteriors_are_shares_of_the_emissions(case):
    emission, null, _, _ = case
    made = emission_of(emission, null)
    result = np.empty_like(made.values)
    likelihood = independent_posteriors(made, P_NULL, result)
    result = result[: len(emission), : emission.shape[1]]
    weights = emission.astype(np.float64) * (1 - P_NULL) / emission.shape[1]
    totals = weights.sum(axis=1) + P_NULL * null
    np.testing.assert_allclose(result, weights / totals[:, None], rtol=1e-4)
    assert likelihood == pytest.approx(np.log(totals).sum(), abs=1e-4)


@pytest.mark.parametrize("step", [1, 2, 9])
def test_unslide_is_the_transpose_of_slide(step):
    matrix = np.eye(4, dtype=np.float32)
    for row in matrix:
        slide(row, step)
    for at in range(4):
        unit = np.eye(4, dtype=np.float32)[at]
        slide_back(unit, step)
        assert unit.tolist() == matrix[:, at].tolist()
