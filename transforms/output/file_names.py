"""The names and locations of a run's files."""

import dataclasses

RECEIPTS = "_receipts"
DATA = "data"
REJECTS = "rejects"


def shard_name(shard: int, shards: int) -> str:
    """Name one shard; the name is the same on every attempt.

    >>> shard_name(7, 16)
    'part-00007-of-00016.parquet'
    """
    return f"part-{shard:05d}-of-{shards:05d}.parquet"


def data_name(shard: int, shards: int) -> str:
    """Name the file of one shard's rows; its directory contains no other files.

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
    """The location of a run's files, and metadata written to them.

    Attributes:
        output: The run's directory or URI.
        shards: Number of shards.
        plan: Digest of the run's plan, written to each receipt.
        signature: The signature line, written to each Parquet footer.
        translator: Digest of the model that translates sources, written to each receipt; None if
            there is none.
        origin: Whether rows get the columns of `transforms.output.origin_columns`.
    """

    output: str
    shards: int
    plan: str
    signature: str
    translator: str | None = None
    origin: bool = False
