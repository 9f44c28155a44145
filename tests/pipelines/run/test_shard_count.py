"""The number of shards of a run."""

import types

import pytest

from pairweave.pipelines.run.prepare import MEAN_PAIR_BYTES, shard_count


@pytest.mark.parametrize(
    ("rows", "text_bytes", "shards"),
    [
        (0, 0, 1),
        (100, 0, 1),
        (101, 0, 2),
        (100, 100 * MEAN_PAIR_BYTES, 1),
        (100, 100 * MEAN_PAIR_BYTES + 1, 2),
        (301, 200 * MEAN_PAIR_BYTES, 4),
    ],
)
def test_there_are_as_many_shards_as_the_pairs_or_their_text_need(rows, text_bytes, shards):
    plan = types.SimpleNamespace(rows=rows, text_bytes=text_bytes)
    assert shard_count(plan, rows, 100) == shards


def test_a_pair_may_have_8_kib_on_average_before_there_are_more_shards():
    plan = types.SimpleNamespace(rows=100, text_bytes=100 * 8192)
    assert shard_count(plan, 100, 100) == 1
    plan.text_bytes += 1
    assert shard_count(plan, 100, 100) == 2
