"""What is wrong in the chain of a table, from its newest record down to every file."""

from collections.abc import Callable

from pairweave.pipelines.refresh import records
from pairweave.pipelines.refresh.chain import hashed_reads, kept_models, log_seals
from pairweave.pipelines.refresh.forgetting import tombstone_files
from pairweave.pipelines.refresh.records import Record
from pairweave.transforms.errors import PairweaveError
from pairweave.transforms.storage import files


def read_chain(table: str) -> tuple[list[Record], list[str]]:
    """Return the records of all nights that can be read, in order, and what is wrong.

    Args:
        table: Directory of all tables, with at least one record.
    """
    problems: list[str] = []
    numbers = records.numbers(table)
    nights: list[Record] = []
    after: Record | None = None
    for night in range(numbers[-1], 0, -1):
        record = _tried(problems, lambda night=night: records.read(table, night))  # type: ignore[misc]
        if record is None:
            after = None
            continue
        problems += _link_problems(table, record, after)
        _tried(problems, lambda r=record, a=after: log_seals.check(table, r, a))  # type: ignore[misc]
        nights.append(record)
        after = record
    nights.reverse()
    for record in nights:
        problems += _count_problems(record)
    problems += _state_problems(table, nights)
    return nights, [*dict.fromkeys(problems)]


def _tried(problems: list[str], read: Callable[[], Record | None]) -> Record | None:
    try:
        return read()
    except (PairweaveError, OSError) as error:
        problems.append(str(error))
        return None


def _link_problems(table: str, record: Record, after: Record | None) -> list[str]:
    """Compare a record with the hash in the one after it."""
    if after is None or after.previous is None:
        return []
    path = records.path_of(table, record.night)
    if hashed_reads.digest_of(files.read_bytes(path)) == after.previous:
        return []
    return [str(hashed_reads.damaged(path, f"is not the record that night {after.night} followed"))]


def _count_problems(record: Record) -> list[str]:
    new = record.metrics["new"]
    if new["read"] == new["pairs"] + new["rejected"] + new["places"]:
        return []
    return [f"night {record.night}: {new['read']} pairs read do not add up"]


def _state_problems(table: str, nights: list[Record]) -> list[str]:
    """Compare tombstones and models with the hashes in the records; vacuum deletes old models."""
    problems: list[str] = []
    for number, record in enumerate(nights, 1):
        _tried(problems, lambda r=record: _read_stones(table, r))  # type: ignore[misc]
        if number == len(nights):
            _tried(problems, lambda r=record: kept_models.require_whole(table, r))  # type: ignore[misc]
    return problems


def _read_stones(table: str, record: Record) -> None:
    tombstone_files.read(table, record)
