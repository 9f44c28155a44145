import numpy as np
import pytest

from pairweave.transforms.kernels.links.links import first_bad_pair, least_lengths
from tests.makers.links import flat


@pytest.mark.parametrize(
    ("pairs", "bad"),
    [
        ([], -1),
        ([[], []], -1),
        ([[(0, 0), (0, 2), (1, 0)]], -1),
        ([[], [(2, 0)]], 1),
        ([[(0, 3)]], 0),
        ([[(-1, 0)]], 0),
        ([[(0, -1)]], 0),
        ([[], [], [(1, 0), (0, 0)]], 2),
        ([[(0, 1), (0, 0)]], 0),
        ([[(0, 0), (0, 0)]], 0),
    ],
)
def test_links_outside_their_words_or_out_of_order_are_found(pairs, bad):
    source = np.full(len(pairs), 2, np.int64)
    target = np.full(len(pairs), 3, np.int64)
    assert first_bad_pair(*flat(pairs), source, target) == bad


def test_a_side_must_reach_its_last_linked_word():
    offsets, source, target = flat([[(4, 1), (2, 3)], [], [(0, 0)]])
    assert least_lengths(offsets, source).tolist() == [5, 0, 1]
    assert least_lengths(offsets, target).tolist() == [4, 0, 1]
