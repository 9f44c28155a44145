"""Which model aligned a shard: noted where it happens, kept in the receipt, checked at the end."""

from collections.abc import Iterable, Mapping
from typing import Any

from pairweave.transforms.errors import WorkerError


def check(configuration: Mapping[str, Any], receipts: Iterable[Mapping[str, Any]]) -> None:
    """Check that the model of the plan made every shard; any may have where it was watched.

    Raises:
        WorkerError: Names a shard and the digests.
    """
    planned = configuration.get("model")
    watched = configuration.get("watch_model", False)
    for receipt in receipts:
        found = receipt.get("model")
        if found is None and configuration.get("aligner") != "encoder":
            continue
        if found is None or not (watched or found == planned):
            raise WorkerError(
                f"shard {receipt['shard']}: aligned by {found or 'no known model'}, "
                f"the plan says {'any that is noted' if watched else planned}; delete its receipt "
                "to have it made again"
            )


def shards_by_model(receipts: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the shards that each model aligned, by digest; empty where receipts name none."""
    shards: dict[str, list[int]] = {}
    for receipt in receipts:
        if "model" in receipt:
            shards.setdefault(receipt["model"], []).append(receipt["shard"])
    return shards
