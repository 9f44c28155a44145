import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.links.links import Links, WeightedLinks
from pairweave.transforms.kernels.links.symmetrize import HEURISTICS, mean_probabilities, symmetrize
from tests.makers.links import flat, link_sets, read_pharaoh, symmetrize_slowly, unflat

FILES = [name for name in HEURISTICS if name != "grow"]
batches = st.lists(st.tuples(link_sets, link_sets), max_size=4)
heuristics = st.sampled_from(sorted(HEURISTICS))


def join(forward, reverse, heuristic):
    """Join batches of links."""
    return unflat(*symmetrize(flat(forward), flat(reverse), HEURISTICS[heuristic]))


def join_one(forward, reverse, heuristic):
    return set(join([sorted(forward)], [sorted(reverse)], heuristic)[0])


@pytest.mark.parametrize("heuristic", FILES)
@pytest.mark.parametrize("aligner", ["giza", "fastalign"])
def test_real_links_are_joined_as_atools_joins_them(shared_data, aligner, heuristic):
    folder = shared_data / "symmetrize" / aligner
    forward, reverse = read_pharaoh(folder / "roen.forward"), read_pharaoh(folder / "roen.reverse")
    expected = [sorted(links) for links in read_pharaoh(folder / f"roen.{heuristic}")]
    assert join(forward, reverse, heuristic) == expected


@given(batch=batches, heuristic=heuristics)
def test_the_kernel_equals_its_plain_twin(batch, heuristic):
    forward, reverse = [sorted(one) for one, _ in batch], [sorted(other) for _, other in batch]
    expected = [sorted(symmetrize_slowly(one, other, heuristic)) for one, other in batch]
    assert join(forward, reverse, heuristic) == expected


@pytest.mark.parametrize("heuristic", sorted(HEURISTICS))
def test_longer_pairs_equal_the_plain_twin(heuristic):
    words = np.arange(150)
    forward = list(zip(words, words * 7 % 150, strict=True)) + [(i, i) for i in range(0, 150, 3)]
    reverse = [(i, i) for i in words] + [(i, i + 1) for i in range(0, 149, 2)]
    forward = [(int(i), int(j)) for i, j in forward]
    reverse = [(int(i), int(j)) for i, j in reverse]
    expected = symmetrize_slowly(forward, reverse, heuristic)
    assert join_one(forward, reverse, heuristic) == expected


def test_growing_takes_the_first_neighbour_in_ascending_order():
    # Both (0, 1) and (1, 1) would give the target word 1 its only link.
    forward, reverse = {(0, 0), (1, 0), (1, 1)}, {(0, 0), (0, 1)}
    assert join_one(forward, reverse, "grow-diag") == {(0, 0), (0, 1), (1, 0)}


def test_growing_within_a_sweep_builds_on_what_the_sweep_accepted():
    forward, reverse = {(0, 0), (1, 1), (2, 2)}, {(0, 0)}
    assert join_one(forward, reverse, "grow-diag") == forward


def test_growing_backwards_takes_further_sweeps():
    forward, reverse = {(0, 0), (1, 1), (2, 2), (3, 3)}, {(3, 3)}
    assert join_one(forward, reverse, "grow-diag") == forward


def test_grow_looks_at_direct_neighbours_only():
    forward, reverse = {(0, 0), (1, 1), (0, 1)}, {(0, 0)}
    assert join_one(forward, reverse, "grow") == {(0, 0), (0, 1), (1, 1)}
    assert join_one({(0, 0), (1, 1)}, reverse, "grow") == {(0, 0)}


def test_neighbours_meet_across_64_target_words():
    forward, reverse = {(0, 63), (1, 64), (2, 63)}, {(0, 63)}
    assert join_one(forward, reverse, "grow-diag") == forward


def test_final_needs_one_free_word_and_final_and_needs_two():
    forward, reverse = {(0, 0), (5, 5), (5, 8)}, {(0, 0), (9, 9), (7, 5)}
    assert join_one(forward, reverse, "grow-diag") == {(0, 0)}
    assert join_one(forward, reverse, "grow-diag-final") == forward | reverse
    assert join_one(forward, reverse, "grow-diag-final-and") == {(0, 0), (5, 5), (9, 9)}


def test_the_forward_links_come_first_at_the_end():
    assert join_one({(3, 3)}, {(2, 3)}, "grow-diag-final-and") == {(3, 3)}
    assert join_one({(2, 3)}, {(3, 3)}, "grow-diag-final-and") == {(2, 3)}


@given(forward=link_sets, reverse=link_sets, heuristic=heuristics)
def test_every_heuristic_lies_between_intersection_and_union(forward, reverse, heuristic):
    assert forward & reverse <= join_one(forward, reverse, heuristic) <= forward | reverse


@given(forward=link_sets, reverse=link_sets)
def test_the_final_steps_only_add(forward, reverse):
    grown = join_one(forward, reverse, "grow-diag")
    assert grown <= join_one(forward, reverse, "grow-diag-final")
    assert grown <= join_one(forward, reverse, "grow-diag-final-and")


@given(forward=link_sets, reverse=link_sets)
def test_after_final_every_linked_word_has_a_link(forward, reverse):
    joined = join_one(forward, reverse, "grow-diag-final")
    for side in (0, 1):
        assert {link[side] for link in joined} == {link[side] for link in forward | reverse}


@given(links=link_sets, heuristic=heuristics)
def test_joining_links_with_themselves_changes_nothing(links, heuristic):
    assert join_one(links, links, heuristic) == links


@given(
    forward=link_sets,
    reverse=link_sets,
    heuristic=st.sampled_from(["intersection", "union", "grow", "grow-diag"]),
)
def test_without_a_final_step_the_directions_may_be_swapped(forward, reverse, heuristic):
    assert join_one(forward, reverse, heuristic) == join_one(reverse, forward, heuristic)


@given(forward=link_sets, reverse=link_sets, heuristic=st.sampled_from(["intersection", "union"]))
def test_intersection_and_union_do_not_care_which_side_is_the_source(forward, reverse, heuristic):
    def turned(links):
        return {(target, source) for source, target in links}

    joined = join_one(turned(forward), turned(reverse), heuristic)
    assert joined == turned(join_one(forward, reverse, heuristic))


@given(
    forward=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 70)), max_size=15), data=st.data()
)
def test_order_and_repetition_of_the_links_do_not_matter(forward, data):
    shuffled = data.draw(st.permutations(forward + forward[:3]))
    reverse = forward[::2]
    for heuristic in HEURISTICS:
        one = join([shuffled], [reverse[::-1]], heuristic)
        assert one == join([sorted(set(forward))], [sorted(set(reverse))], heuristic)


def test_links_of_a_slice_are_read_where_they_lie():
    forward, reverse = [[(0, 0)], [(1, 1), (2, 2)], [(3, 3)]], [[(9, 9)], [(1, 1)], []]
    offsets, source, target = flat(forward)
    other_offsets, other_source, other_target = flat(reverse)
    joined = symmetrize(
        Links(offsets[1:], source, target), Links(other_offsets[1:], other_source, other_target), 1
    )
    assert unflat(*joined) == [[(1, 1), (2, 2)], [(3, 3)]]


def test_a_long_pair_leaves_nothing_behind_for_the_next():
    forward = [[(0, 0)], [(300, 900), (2, 70)], [(0, 0), (1, 1)], []]
    for heuristic in HEURISTICS:
        assert join(forward, forward, heuristic) == [sorted(pair) for pair in forward]


def test_the_largest_word_numbers_are_joined():
    links = [[(0, 32766)], [(32766, 0)]]
    assert join(links, links, "grow-diag-final-and") == links


@given(forward=link_sets, reverse=link_sets, data=st.data())
def test_a_joined_link_has_the_mean_of_its_probabilities(forward, reverse, data):
    share = st.floats(0, 1, width=32)
    weights = {
        name: {link: data.draw(share) for link in sorted(links)}
        for name, links in (("forward", forward), ("reverse", reverse))
    }
    # A second pair before and behind, so that neighbours would show.
    batches = [[sorted(links), sorted(links)] for links in (forward, reverse)]
    joined = symmetrize(flat(batches[0]), flat(batches[1]), HEURISTICS["grow-diag"])
    arguments = []
    for name, batch in zip(weights, batches, strict=True):
        probability = np.array([weights[name][link] for pair in batch for link in pair], np.float32)
        probability.setflags(write=False)
        arguments.append(WeightedLinks(*flat(batch), probability))
    means = mean_probabilities(joined, *arguments)
    expected = [
        (np.float32(weights["forward"].get(link, 0)) + np.float32(weights["reverse"].get(link, 0)))
        * np.float32(0.5)
        for link in itertools.chain(*unflat(*joined))
    ]
    assert means.tolist() == [float(mean) for mean in expected]
