import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.hmm import fragment_translations
from tests.oracles.slow_fragment_translations import SWAP, combine_slowly

# Weights whose products are exact, so that ties are ties.
weights = st.sampled_from([1.0, 0.5, 0.25, 0.125])
tables = st.lists(
    st.lists(st.tuples(st.integers(1, 9), weights), max_size=4, unique_by=lambda item: item[0]).map(
        lambda row: sorted(row, key=lambda item: -item[1])
    ),
    min_size=1,
    max_size=4,
)


def combine(fragments, table, most):
    offsets = np.cumsum([0, *map(len, fragments)], dtype=np.int64)
    numbers = np.array([word for fragment in fragments for word in fragment], np.int64)
    bounds = np.cumsum([0, *map(len, table)], dtype=np.int64)
    choices = np.array([choice for row in table for choice, _ in row], np.uint64)
    values = np.array([weight for row in table for _, weight in row], np.float32)
    result, word_offsets, words = fragment_translations.combine_words(
        offsets, numbers, bounds, choices, values, most
    )
    texts = [
        tuple(words[start:end].tolist()) for start, end in itertools.pairwise(word_offsets.tolist())
    ]
    return [texts[start:end] for start, end in itertools.pairwise(result.tolist())]


@given(tables, st.data(), st.integers(1, 5))
def test_combinations_are_those_of_plain_python(table, data, most):
    words = st.lists(st.integers(0, len(table) - 1), max_size=5)
    fragments = data.draw(st.lists(words, max_size=4))
    assert combine(fragments, table, most) == [
        combine_slowly(fragment, table, most) for fragment in fragments
    ]


def test_the_price_of_a_swap_is_the_same_in_both():
    assert fragment_translations.SWAP == SWAP


def test_neighbours_may_change_places():
    table = [[(1, 1.0)], [(2, 1.0)], [(3, 0.5)]]
    assert combine([[0, 1, 2]], table, 9) == [[(1, 2, 3), (2, 1, 3), (1, 3, 2)]]


def test_a_word_without_a_translation_leaves_the_fragment_without_one():
    assert combine([[0, 1], [0]], [[(1, 1.0)], []], 9) == [[], [(1,)]]
