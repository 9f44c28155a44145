"""The data that tags are drawn from, of some pairs."""

import numpy as np
import pytest

from pairweave.transforms.kernels.tags.elements import Phrases
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tags import Taggable, find_taggable
from tests.transforms.tags.test_tags import table_of

OFFSETS = [0, 2, 2, 5, 6]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("pairs", [[], [2], [3, 0], [1, 2, 1], [2, 0, 2, 3]])
def test_some_pairs_have_their_phrase_pairs_weights_and_limits(pairs, weighted):
    boxes = np.arange(24, dtype=np.int16).reshape(4, 6)
    weights = np.arange(6 if weighted else 0, dtype=np.float32) / 4
    limits = np.array([3, 0, 5, 1])
    whole = Taggable(Phrases(np.array(OFFSETS), boxes, weights), limits)
    (offsets, some_boxes, some_weights), some_limits = (
        (taken := whole.take(np.array(pairs, np.int64))).phrases,
        taken.limits,
    )
    rows = [list(range(OFFSETS[pair], OFFSETS[pair + 1])) for pair in pairs]
    assert np.diff(offsets, prepend=0).tolist() == [0, *map(len, rows)]
    assert some_boxes.T.tolist() == [boxes[:, at].tolist() for row in rows for at in row]
    assert some_weights.tolist() == [at / 4 for row in rows for at in row if weighted]
    assert some_limits.tolist() == [limits[pair] for pair in pairs]


@pytest.mark.parametrize(
    ("share", "words", "limit"),
    [
        (0.3, (10, 10), 2),
        (0.28, (25, 25), 6),
        (0.7, (10, 9), 6),
        (0.5, (4, 9), 1),
        (0.5, (9, 4), 1),
    ],
)
def test_a_pair_has_fewer_tags_than_the_share_of_its_shorter_side(share, words, limit):
    sides = tuple(" ".join(["word"] * count) for count in words)
    table = table_of([sides], [[(0, 0)]])
    assert find_taggable(table, TagConfig(tag_share=share)).limits.tolist() == [limit]
