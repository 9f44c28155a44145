"""The files of a table's tombstones, named after their content."""

import hashlib

from pairweave.pipelines.refresh import records
from pairweave.pipelines.refresh.records import Record
from pairweave.transforms.known_pairs import NO_TOMBSTONES, Tombstones
from pairweave.transforms.storage import files


def read(table: str, record: Record | None) -> Tombstones:
    """Return the tombstones of a night; none for None."""
    if record is None or record.tombstones is None:
        return NO_TOMBSTONES
    path = files.join(table, records.STATE, records.TOMBSTONES, record.tombstones)
    return Tombstones.from_bytes(files.read_bytes(path))


def write(table: str, stones: Tombstones) -> str | None:
    """Write tombstones for a record; return their name, or None if there are none."""
    if not len(stones):
        return None
    data = stones.to_bytes()
    name = f"{hashlib.sha256(data).hexdigest()[:24]}.jsonl"
    files.write_bytes(files.join(table, records.STATE, records.TOMBSTONES, name), data)
    return name
