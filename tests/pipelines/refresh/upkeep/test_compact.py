"""Which small files of a table are joined."""

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.refresh.upkeep import compact


@pytest.mark.parametrize(
    ("sizes", "joined"),
    [
        ([3, 4, 5, 9, 1], [[3, 4], [9, 1]]),
        ([5, 5, 1, 9], [[5, 5], [1, 9]]),
        ([6, 6, 6], []),
        ([9, 2, 3], [[2, 3]]),
        ([7], []),
        ([], []),
    ],
)
def test_neighbours_are_joined_up_to_the_wanted_size(sizes, joined):
    groups = compact._groups([{"rows": size} for size in sizes], 10)
    assert [[entry["rows"] for entry in group] for group in groups] == joined
