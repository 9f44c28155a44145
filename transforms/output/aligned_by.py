"""The model that aligned a shard: recorded in the receipt, checked at the end of the run."""

from collections.abc import Iterable, Mapping
from typing import Any

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.output.receipt_sums import ShardFacts


def check(configuration: Mapping[str, Any], shards: Iterable[ShardFacts]) -> None:
    """Check that the model of the plan aligned every shard; with ``watch_model``, accept any model.

    Raises:
        WorkerError: A shard was aligned by another model.
    """
    planned = configuration.get("model")
    watched = configuration.get("watch_model", False)
    for shard in shards:
        model = shard.model
        if model is None and configuration.get("aligner") != "encoder":
            continue
        if model is None or not (watched or model == planned):
            raise WorkerError(
                f"shard {shard.shard}: expected the model "
                f"{'to be recorded' if watched else planned}, found {model or 'none'}; delete the "
                "shard's receipt and run again"
            )


def shards_by_model(shards: Iterable[ShardFacts]) -> dict[str, list[int]]:
    """Return the shards that each model aligned, by digest; empty if receipts name no models."""
    shards_of: dict[str, list[int]] = {}
    for shard in shards:
        if shard.model is not None:
            shards_of.setdefault(shard.model, []).append(shard.shard)
    return shards_of
