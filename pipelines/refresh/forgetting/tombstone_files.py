"""The files of a table's tombstones, named after their content."""

from pairweave.pipelines.refresh.chain import hashed_reads, records
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.transforms.known_pairs import NO_TOMBSTONES, Tombstones
from pairweave.transforms.storage import files


def read(table: str, record: Record | None) -> Tombstones:
    """Return the tombstones of a night; without a record there are none.

    Raises:
        ConfigError: Their file is missing, or its content has another hash than in the record.
    """
    if record is None or record.tombstones is None:
        return NO_TOMBSTONES
    name = f"{records.STATE}/{records.TOMBSTONES}/{record.tombstones}"
    return Tombstones.from_bytes(hashed_reads.read(files.join(table, name), record.state[name]))


def write(table: str, stones: Tombstones) -> str | None:
    """Write tombstones for a record; return their name, or None if there are none."""
    if not len(stones):
        return None
    data = stones.to_bytes()
    name = f"{hashed_reads.digest_of(data)[: hashed_reads.NAMED_DIGITS]}.jsonl"
    files.write_bytes(files.join(table, records.STATE, records.TOMBSTONES, name), data)
    return name
