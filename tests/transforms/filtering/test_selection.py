import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.filtering.selection import (
    ROUNDS,
    Aim,
    Border,
    add_histograms,
    histogram,
    narrow,
    ranks,
    selected,
)
from tests.oracles import slow_filtering

# Few different scores and words, so that there are ties at every border.
ROWS = st.lists(
    st.tuples(
        st.sampled_from([-3e38, -1.5, -1e-40, 0.0, 1e-40, 0.25, 0.5, 0.50000006, 1.0, 1.05]),
        st.integers(0, (1 << 128) - 1) | st.integers(0, 3).map(lambda high: high << 66),
        st.integers(0, 4),
    ),
    max_size=40,
    unique_by=lambda row: row[1] >> 64,
)


def border_of(ranked, words, aim):
    """Return the border of some shards, as the rounds of the job find it."""
    border = Border()
    for _ in range(ROUNDS):
        parts = [histogram(*shard, border) for shard in zip(ranked, words, strict=True)]
        border = narrow(border, add_histograms(parts), aim)
    return border


def choose(rows, shards, aim):
    """Return the ids that are selected of rows divided over shards."""
    parts = [rows[shard::shards] for shard in range(shards)]
    names = [[f"{row[1]:032x}" for row in part] for part in parts]
    ranked = [
        ranks(np.array([row[0] for row in part], np.float32), pa.array(ids, pa.string()))
        for part, ids in zip(parts, names, strict=True)
    ]
    words = [np.array([row[2] for row in part], np.int32) for part in parts]
    border = border_of(ranked, words, aim)
    return {
        name
        for ids, each in zip(names, ranked, strict=True)
        for name, keep in zip(ids, selected(each, border), strict=True)
        if keep
    }


def slow(rows, **aim):
    named = [(np.float32(score), f"{name:032x}", words) for score, name, words in rows]
    return slow_filtering.select(named, **aim)


@given(ROWS, st.integers(1, 90), st.integers(1, 4))
def test_the_first_words_are_selected_as_if_all_were_sorted(rows, words, shards):
    assert choose(rows, shards, Aim(words=words)) == slow(rows, words=words)


@given(ROWS, st.sampled_from([0.25, 0.5, 1.0]), st.integers(1, 4))
def test_a_share_is_selected_as_if_all_were_sorted(rows, share, shards):
    assert choose(rows, shards, Aim(share=share)) == slow(rows, share=share)


def test_a_share_counts_as_it_is_written():
    rows = [(number / 100, number << 64, 1) for number in range(100)]
    assert max(0.29 * 100 - 29, 0.57 * 100 - 57) < 0  # as floats, which would be rounded down
    assert len(choose(rows, 1, Aim(share=0.29))) == 29
    assert len(choose(rows, 3, Aim(share=0.57))) == 57
    assert len(choose(rows, 1, Aim(share=0.289))) == 28


def test_it_ends_before_the_first_pair_that_would_pass_the_number():
    rows = [(0.9, 1 << 64, 3), (0.8, 2 << 64, 5), (0.7, 3 << 64, 1)]
    assert choose(rows, 2, Aim(words=7)) == {f"{1 << 64:032x}"}
    assert len(choose(rows, 2, Aim(words=8))) == 2
    assert choose(rows, 2, Aim(words=2)) == set()


def test_nothing_of_nothing_is_selected():
    assert border_of([], [], Aim(words=5)) == Border(whole=True)


@pytest.mark.parametrize(
    "scores",
    [
        [0.0, -0.0],
        [1.0, np.nextafter(np.float32(1), 0)],
        [1.0, -1.0],
        [-1.0, -1.5],
        [0.0, np.nextafter(np.float32(0), -1)],
        [2.0, 1.9],
    ],
)
def test_ranks_are_in_the_order_of_scores(scores):
    ids = pa.array(["0" * 32] * 2)
    one, other = ranks(np.array(scores, np.float32), ids).T.tolist()
    assert (one < other) == (scores[0] > scores[1])


@pytest.mark.slow
def test_a_million_pairs_are_selected_as_if_all_were_sorted():
    draw = np.random.default_rng(5)
    scores = np.round(draw.random(1_000_000), 3).astype(np.float32)  # a thousand pairs a score
    words = draw.integers(0, 60, len(scores)).astype(np.int32)
    rows = [
        (score, name << 64, count)
        for score, name, count in zip(
            scores, draw.integers(0, 1 << 62, len(scores)).tolist(), words.tolist(), strict=True
        )
    ]
    assert choose(rows, 16, Aim(words=5_000_000)) == slow(rows, words=5_000_000)
    assert choose(rows, 16, Aim(share=0.123456)) == slow(rows, share=0.123456)
