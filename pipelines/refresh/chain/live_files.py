"""The files that a table should have according to the records of its nights, and their digest."""

from collections.abc import Iterable, Sequence
from typing import NoReturn

import orjson

from pairweave.pipelines.refresh.chain import records
from pairweave.pipelines.refresh.chain.hashed_reads import damaged
from pairweave.pipelines.refresh.chain.hashed_reads import digest_of as hash_of
from pairweave.pipelines.refresh.chain.records import Json, Record
from pairweave.pipelines.refresh.chain.table_names import LOG, Entry
from pairweave.transforms.storage import files


def live_after(before: set[str], change: Json) -> set[str]:
    """Return the files of a table after a change; a change with a schema replaces all files."""
    left = set() if change.get("schema") else before
    gone = {entry["path"] for entry in change["remove"]}
    return (left - gone) | {entry["path"] for entry in change["add"]}


def live_entries(nights: Iterable[Record], name: str) -> dict[str, Entry]:
    """Return the files that a table should have after nights in order, by path."""
    entries: list[Entry] = []
    for record in nights:
        if name in record.tables:
            entries = entries_after(entries, record.tables[name])
    return {entry["path"]: entry for entry in entries}


def entries_after(before: Sequence[Entry], change: Json) -> list[Entry]:
    """Return the entries of a table's files after a change, given those before it."""
    entries = {entry["path"]: entry for entry in before}
    live = live_after(set(entries), change)
    entries |= {entry["path"]: entry for entry in change["add"]}
    return [entry for path, entry in entries.items() if path in live]


def facts_of(entry: Entry) -> list[object]:
    """Return the facts about a file that both Delta's log and a record have, in the same form.

    Args:
        entry: A file's entry from a record, with its statistics as JSON (``stats``), or from the
            log, with the smallest and largest value of some columns (``bounds``).
    """
    bounds = entry["bounds"] if "bounds" in entry else _bounds(orjson.loads(entry["stats"]))
    partition = sorted(entry["partition"].items())
    return [entry["path"], entry["bytes"], entry["rows"], partition, sorted(bounds.items())]


def _bounds(stats: Json) -> dict[str, list[object]]:
    least, most = stats["minValues"], stats["maxValues"]
    return {column: [least[column], most[column]] for column in least}


def digest_of(entries: Iterable[Entry]) -> str:
    """Return a digest of a table's files that does not depend on their order."""
    return hash_of(orjson.dumps(sorted(facts_of(entry) for entry in entries)))


def refuse_log(table: str, name: str, record: Record, logged: Iterable[Entry]) -> NoReturn:
    """Refuse a log that differs from the records, after comparing file by file.

    Args:
        table: Directory of all tables.
        name: Name of the table.
        record: The record of the night that the log is compared with.
        logged: The files according to Delta's log.

    Raises:
        ConfigError: Always; names the first file for which the log contradicts the records, or
            else the record whose digest does not fit its files.
    """
    nights = [*records.back_from(table, record)][::-1]
    expected = live_entries(nights, name)
    there = {entry["path"]: entry for entry in logged}
    for path in sorted({*expected, *there}):
        if path not in expected:
            what = f"lists {path}, which is in no night's record"
        elif path not in there:
            what = f"does not list {path}, which the records have"
        elif facts_of(expected[path]) != facts_of(there[path]):
            what = f"contradicts the record of the night that wrote {path}"
        else:
            continue
        raise damaged(files.join(table, name, LOG), what)
    path = records.path_of(table, record.night)
    raise damaged(path, f"live.{name}: is not the digest of the files in the records")
