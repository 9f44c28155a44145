"""Joining small files of a table."""

from collections.abc import Iterator

import pyarrow as pa

from pairweave.pipelines.refresh import table_schemas
from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.records import Json
from pairweave.pipelines.refresh.chain.table_names import FILES, PARTITIONS, Entry
from pairweave.pipelines.refresh.forgetting.withdrawal import Change
from pairweave.pipelines.refresh.upkeep.quiet_night import between_nights, commit_quietly


def compact(table: str, most_rows: int) -> tuple[int, int]:
    """Join the small files of each partition in a separate night that changes no row.

    Args:
        table: Directory of all tables.
        most_rows: Files with fewer rows are joined into files of up to about this many.

    Returns:
        The number of files before and after; both 0 if there is nothing to join.

    Raises:
        ConfigError: There is no table.
        WorkerError: Another night was committed in the meantime.
    """
    with between_nights(table) as last:
        changes: dict[str, Json] = {}
        current: dict[str, list[Entry]] = {}
        for name in sorted(last.versions.keys() - {FILES}):
            current[name] = tables.current(table, name, last)
            for entry in current[name]:
                if entry["rows"] < most_rows:
                    tables.read_bytes(table, name, entry)  # before anything is written
        for name in current:
            added, removed = _join_small(table, name, current[name], most_rows)
            if removed:
                changes[name] = Change(added, removed).to_json()
        if not changes:
            return 0, 0
        commit_quietly(table, last, "compact", current, changes, last.tombstones)
        counts = [[len(change[what]) for change in changes.values()] for what in ("remove", "add")]
        return sum(counts[0]), sum(counts[1])


def _join_small(
    table: str, name: str, entries: list[Entry], most_rows: int
) -> tuple[list[Entry], list[Entry]]:
    small: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        if entry["rows"] < most_rows:
            place = tuple(entry["partition"][column] for column in PARTITIONS[name])
            small.setdefault(place, []).append(entry)
    columns = table_schemas.in_file(table_schemas.at_version(table, name), name)
    added: list[Entry] = []
    removed: list[Entry] = []
    for place in sorted(small):
        for group in _groups(small[place], most_rows):
            parts = [tables.read_rows(table, name, entry) for entry in group]
            rows = pa.concat_tables([table_schemas.fitted(part, columns, name) for part in parts])
            order = [(c, "ascending") for c in ("id", "variant", "content", "line")]
            rows = rows.sort_by([key for key in order if key[0] in rows.column_names])
            added.append(tables.write_file(table, name, rows, group[0]["partition"]))
            removed += group
    return added, removed


def _groups(entries: list[Entry], most_rows: int) -> Iterator[list[Entry]]:
    """Yield groups of files to join: at least two, and not many more rows than ``most_rows``."""
    group: list[Entry] = []
    for entry in entries:
        if group and tables.rows_in([*group, entry]) > most_rows:
            if len(group) > 1:
                yield group
            group = []
        group.append(entry)
    if len(group) > 1:
        yield group
