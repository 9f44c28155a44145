"""Problems in the chain of a table, from its newest record down to every file."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from pairweave.pipelines.refresh.chain import kept_models, log_seals, records
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.pipelines.refresh.forgetting import tombstone_files
from pairweave.transforms.errors import PairweaveError
from pairweave.transforms.storage import files

T = TypeVar("T")


def read_chain(table: str) -> tuple[list[Record], list[str]]:
    """Return the records of all nights that can be read, in order, and the problems.

    Args:
        table: Directory of all tables, with at least one record.
    """
    problems: list[str] = []
    numbers = records.numbers(table)
    nights: list[Record] = []
    after: Record | None = None
    logs: dict[str, str | None] = {}
    for night in range(numbers[-1], 0, -1):
        record = _tried(problems, partial(records.read, table, night))
        if record is None:
            after = None
            continue
        data = files.read_bytes(records.path_of(table, night))
        known = None if after is None else after.previous
        _tried(problems, partial(records.require_known, table, night, data, known))
        _tried(problems, partial(log_seals.check, table, record, after, logs))
        nights.append(record)
        after = record
    nights.reverse()
    for record in nights:
        new = record.metrics["new"]
        if new["read"] != new["pairs"] + new["rejected"] + new["places"]:
            problems.append(f"night {record.night}: {new['read']} pairs read do not add up")
    for record in nights:
        _tried(problems, partial(tombstone_files.read, table, record))
    if nights:  # vacuum may delete older models
        _tried(problems, partial(kept_models.require_whole, table, nights[-1]))
    return nights, [*dict.fromkeys(problems)]


def _tried(problems: list[str], read: Callable[[], T]) -> T | None:
    try:
        return read()
    except (PairweaveError, OSError) as error:
        problems.append(str(error))
        return None
