"""Which model aligned a shard: noted where it happens, kept in the receipt, checked at the end."""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from pairweave.transforms.errors import WorkerError

_KEY = b"pairweave.model"


def mark(kept: pa.Table, digest: str) -> pa.Table:
    """Note on a shard's kept rows the digest of the model that aligned them."""
    return kept.replace_schema_metadata({**(kept.schema.metadata or {}), _KEY: digest.encode()})


def marked(kept: pa.Table) -> str | None:
    """Return the digest that `mark` noted; None where the plan or the run's files name the model.

    >>> marked(mark(pa.table({"id": ["a"]}), "ff").filter(pa.array([True])))
    'ff'
    """
    found = (kept.schema.metadata or {}).get(_KEY)
    return None if found is None else found.decode()


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
