"""The model that aligned a shard, in its receipt."""

import pytest

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.output import aligned_by
from pairweave.transforms.output.receipt_sums import ShardFacts

PLANNED = {"aligner": "encoder", "model": "abc"}
WATCHED = {**PLANNED, "watch_model": True}


def shards(*models):
    return [ShardFacts(shard, 1, frozenset(), model) for shard, model in enumerate(models)]


@pytest.mark.parametrize(
    ("configuration", "models"),
    [
        (PLANNED, ("abc", "abc")),
        (WATCHED, ("abc", "def")),
        ({"aligner": "hmm", "model": "abc"}, (None, None)),
        (PLANNED, ()),
    ],
)
def test_shards_of_the_planned_model_pass(configuration, models):
    aligned_by.check(configuration, shards(*models))


@pytest.mark.parametrize(
    ("configuration", "models", "message"),
    [
        (PLANNED, ("abc", "def"), "shard 1: expected the model abc, found def"),
        (PLANNED, ("abc", None), "shard 1: expected the model abc, found none"),
        (WATCHED, ("abc", None), "shard 1: expected the model to be recorded, found none"),
        (
            {"aligner": "hmm", "model": "abc"},
            (None, "def"),
            "shard 1: expected the model abc, found def",
        ),
    ],
)
def test_a_shard_of_another_model_is_an_error(configuration, models, message):
    with pytest.raises(WorkerError, match=message):
        aligned_by.check(configuration, shards(*models))


def test_shards_are_listed_by_model():
    assert aligned_by.shards_by_model(shards("b", "a", "b", None)) == {"b": [0, 2], "a": [1]}
