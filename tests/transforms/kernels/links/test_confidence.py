import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.links.confidence import score_phrases
from pairweave.transforms.kernels.links.links import WeightedLinks
from tests.makers.links import flat
from tests.oracles.slow_confidence import mean_beliefs, score_slowly

WORDS = 6
word = st.integers(0, WORDS - 1)
link = st.tuples(word, word)
believed = st.dictionaries(link, st.floats(0, 1, width=32), max_size=14).map(
    lambda links: [(*pair, p) for pair, p in sorted(links.items())]
)
edges = (
    st.tuples(st.integers(0, WORDS), st.integers(0, WORDS))
    .map(sorted)
    .filter(lambda ends: ends[0] < ends[1])
)
boxes = st.tuples(edges, edges).map(lambda sides: (*sides[0], *sides[1]))
pairs = st.lists(
    st.tuples(
        believed,
        believed,
        st.frozensets(link, max_size=10).map(sorted),
        st.lists(boxes, max_size=6),
    ),
    max_size=3,
)


def score(sentences, *, ahead=0):
    """Score the boxes of (forward, reverse, links, boxes); `ahead` rows come before the first."""
    arrays = []
    for direction in (0, 1):
        rows = [pair[direction] for pair in sentences]
        probability = np.array([p for row in rows for *_, p in row], np.float32)
        probability.flags.writeable = False  # like Arrow's
        arrays.append(
            WeightedLinks(*flat([[each[:2] for each in row] for row in rows]), probability)
        )
    arrays.append(flat([pair[2] for pair in sentences]))
    lengths = np.full(len(sentences), WORDS, np.int64)
    listed = [(0, 0, 0, 0)] * ahead + [box for pair in sentences for box in pair[3]]
    offsets = ahead + np.cumsum([0, *(len(pair[3]) for pair in sentences)], dtype=np.int64)
    columns = np.array(listed, np.int16).reshape(-1, 4).T.copy()
    return score_phrases(*arrays, lengths, lengths, offsets, columns).tolist()


@given(pairs, st.integers(0, 2))
def test_scores_are_those_of_plain_python(sentences, ahead):
    expected = [
        score_slowly(mean_beliefs(forward, reverse), links, box)
        for forward, reverse, links, listed in sentences
        for box in listed
    ]
    assert score(sentences, ahead=ahead) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_links_without_doubt_give_scores_of_one():
    links = [(0, 0, 1.0), (1, 1, 1.0)]
    assert score([(links, links, [(0, 0), (1, 1)], [(0, 1, 0, 1), (0, 2, 0, 2)])]) == [1.0, 1.0]


def test_a_belief_that_leads_out_lowers_the_score():
    sure = [(0, 0, 1.0), (1, 1, 1.0)]
    doubt = [(0, 0, 1.0), (0, 1, 0.5), (1, 1, 1.0)]
    actual = score([(doubt, sure, [(0, 0), (1, 1)], [(0, 1, 0, 1), (1, 2, 1, 2), (0, 2, 0, 2)])])
    assert actual == [0.75, 0.75, 1.0]


def test_the_least_sure_word_lowers_the_score():
    weak = [(0, 0, 1.0), (1, 1, 0.5)]
    links = [(0, 0), (1, 1)]
    assert score([(weak, weak, links, [(0, 1, 0, 1), (0, 2, 0, 2)])]) == [1.0, 0.5]


def test_a_word_without_a_link_need_not_be_sure_of_one():
    sure = [(0, 0, 1.0)]
    assert score([(sure, sure, [(0, 0)], [(0, 2, 0, 1)])]) == [1.0]
