"""A night that reads no input, as `compact` and `takedown` commit it."""

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from pairweave.pipelines.process.log import utc
from pairweave.pipelines.refresh.chain import log_seals, records, table_lock, tables
from pairweave.pipelines.refresh.chain.new_links import linked
from pairweave.pipelines.refresh.chain.records import Json, Record
from pairweave.pipelines.refresh.chain.table_names import Entry
from pairweave.transforms.errors import WorkerError


@contextlib.contextmanager
def between_nights(table: str) -> Iterator[Record]:
    """Hold the lock of a table whose last night is in all tables; yield that night's record.

    Raises:
        ConfigError: There is no table.
        WorkerError: A vacuum is deleting its files.
    """
    records.existing(table)
    with table_lock.held(table, alone=False):
        table_lock.delete_leftovers(table)
        last = log_seals.last_night(table)
        tables.apply(table, last)
        yield last


def commit_quietly(
    table: str,
    last: Record,
    operation: str,
    current: Mapping[str, Sequence[Entry]],
    changes: Mapping[str, Json],
    tombstones: str | None,
    removed: int = 0,
) -> None:
    """Commit a night after the last one.

    Args:
        table: Directory of all tables.
        last: The record of the last night.
        operation: The command.
        current: The files of the tables before the night.
        changes: The change of each table, as in a record.
        tombstones: Name of the file of tombstones after the night; None for none.
        removed: Number of pairs that it removes.

    Raises:
        WorkerError: Another night was committed in the meantime.
    """
    before = last.metrics["table"]["pairs"]
    quiet = {"read": 0, "pairs": 0, "rejected": 0, "places": 0, "share": 0.0, "reasons": {}}
    record = dataclasses.replace(
        last,
        night=last.night + 1,
        operation=operation,
        when=utc(),
        tables=dict(changes),
        versions={name: v + (name in changes) for name, v in last.versions.items()},
        metrics={
            **last.metrics,
            "seconds": 0.0,
            "new": quiet,
            "removed": removed,
            "lost": removed,
            "table": {"before": before, "pairs": before - removed},
        },
        gates=[],
        accepted=None,
        tombstones=tombstones,
    )
    record = linked(table, record, last, current)
    tables.check(table, record)
    if not records.create(table, record):
        raise WorkerError(f"{table}: another night was committed meanwhile; run {operation} again")
    tables.apply(table, record)
