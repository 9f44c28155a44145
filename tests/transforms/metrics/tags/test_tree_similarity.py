import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.metrics.tags.tree_similarity import tree_similarity
from tests.oracles import slow_trees


def events(forest):
    return tuple(event for name, inside in forest for event in (name, *events(inside), "/"))


names = st.sampled_from("abc")
forests = st.recursive(
    st.just(()),
    lambda inside: st.lists(st.tuples(names, inside), max_size=4).map(tuple),
    max_leaves=7,
)
structures = forests.map(events)


@given(structures, structures)
def test_the_distance_is_that_of_the_definition(one, other):
    forests = slow_trees.parse(one), slow_trees.parse(other)
    rooted = [(("", forest),) for forest in forests]
    most = max(map(slow_trees.size, rooted))
    wanted = 1 - slow_trees.distance(*rooted) / most
    assert tree_similarity(one, other) == pytest.approx(wanted)


@given(structures, structures)
def test_it_is_a_share_that_is_one_for_equal_trees_alone(one, other):
    actual = tree_similarity(one, other)
    assert 0 <= actual <= 1
    assert actual == tree_similarity(other, one)
    assert (actual == 1) == (one == other)


@pytest.mark.parametrize(
    ("one", "other", "similarity"),
    [
        ("", "", 1),
        ("", "a /", 1 / 2),
        ("a / b /", "b / a /", 1 / 3),
        ("a b / /", "a / b /", 1 / 3),
        ("a b / c / /", "a b / /", 3 / 4),
        ("a b c / / /", "a c / /", 3 / 4),
    ],
)
def test_elements_that_are_missing_renamed_or_elsewhere_count_alike(one, other, similarity):
    assert tree_similarity(one.split(), other.split()) == pytest.approx(similarity)


def test_a_runaway_output_is_measured_in_seconds():
    start = time.process_time()
    tree_similarity(("a", "/") * 300, ("a",) * 300 + ("/",) * 300)
    assert time.process_time() - start < 5
