"""The names of a run's files, and where they go."""

import dataclasses

RECEIPTS = "_receipts"
DATA = "data"
REJECTS = "rejects"


def shard_name(shard: int, shards: int) -> str:
    """Name one shard; the same pairs land under the same name on every attempt.

    >>> shard_name(7, 16)
    'part-00007-of-00016.parquet'
    """
    return f"part-{shard:05d}-of-{shards:05d}.parquet"


def data_name(shard: int, shards: int) -> str:
    """Name the file of one shard's rows; the directory holds nothing else.

    >>> data_name(7, 16)
    'data/part-00007-of-00016.parquet'
    """
    return f"{DATA}/{shard_name(shard, shards)}"


def rejects_name(shard: int, shards: int) -> str:
    """Name the file of one shard's rejects."""
    return f"{REJECTS}/{shard_name(shard, shards)}"


def shard_receipt_name(shard: int, shards: int) -> str:
    """Name the receipt of one shard."""
    return f"{RECEIPTS}/shard-{shard:05d}-of-{shards:05d}.json"


def unit_receipt_name(unit: int) -> str:
    """Name the receipt of one input unit."""
    return f"{RECEIPTS}/unit-{unit:05d}.json"


@dataclasses.dataclass(frozen=True)
class WriteConfig:
    """Where a run's files go and what their footers say.

    Attributes:
        output: The run's directory or URI.
        shards: Number of shards.
        plan: Digest of the run's plan, kept in each receipt.
        signature: The signature line, kept in each Parquet footer.
        translator: Digest of the model that translates sources, kept in each receipt; None for
            none.
    """

    output: str
    shards: int
    plan: str
    signature: str
    translator: str | None = None
