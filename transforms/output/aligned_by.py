"""The model that aligned a shard: recorded in the receipt, checked at the end of the run."""

from collections.abc import Iterable, Mapping
from typing import Any

from pairweave.transforms.errors import WorkerError


def check(configuration: Mapping[str, Any], receipts: Iterable[Mapping[str, Any]]) -> None:
    """Check that the model of the plan aligned every shard; with ``watch_model``, accept any model.

    Raises:
        WorkerError: A shard was aligned by another model.
    """
    planned = configuration.get("model")
    watched = configuration.get("watch_model", False)
    for receipt in receipts:
        found = receipt.get("model")
        if found is None and configuration.get("aligner") != "encoder":
            continue
        if found is None or not (watched or found == planned):
            raise WorkerError(
                f"shard {receipt['shard']}: expected the model "
                f"{'to be recorded' if watched else planned}, found {found or 'none'}; delete the "
                "shard's receipt and run again"
            )


def shards_by_model(receipts: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the shards that each model aligned, by digest; empty if receipts name no models."""
    shards: dict[str, list[int]] = {}
    for receipt in receipts:
        if "model" in receipt:
            shards.setdefault(receipt["model"], []).append(receipt["shard"])
    return shards
