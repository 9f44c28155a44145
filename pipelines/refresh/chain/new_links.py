"""The hashes, in a new record, of all files that it relies on, for the next reader to check."""

import dataclasses
from collections.abc import Mapping, Sequence

from pairweave.pipelines.refresh.chain import log_seals, records
from pairweave.pipelines.refresh.chain.hashed_reads import damaged, digest_of
from pairweave.pipelines.refresh.chain.live_files import digest_of as live_digest
from pairweave.pipelines.refresh.chain.live_files import entries_after
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.pipelines.refresh.chain.table_names import Entry
from pairweave.transforms.storage import files, hashed_files


def linked(
    table: str, record: Record, base: Record | None, current: Mapping[str, Sequence[Entry]]
) -> Record:
    """Return a night's record with the hashes of the night before and of all files it relies on.

    Args:
        table: Directory of all tables, with the tombstones and models of the night.
        record: The record.
        base: The record of the night before, if there was one.
        current: The files, before the night, of the tables that it changes.

    Raises:
        ConfigError: The record of the night before has changed since it was read.
    """
    previous = sealed = None
    if base is not None:
        path = records.path_of(table, base.night)
        data = files.read_bytes(path)
        if records.parse(path, data, base.night) != base:
            raise damaged(path, "has changed since this command began")
        previous, sealed = digest_of(data), log_seals.digest(table, base.night)
    state = [f"{place}/{hashed_files.ABOUT}" for place in record.models.values()]
    if record.tombstones is not None:
        state.append(f"{records.STATE}/{records.TOMBSTONES}/{record.tombstones}")
    return dataclasses.replace(
        record,
        previous=previous,
        sealed=sealed,
        state={name: _state_digest(table, name, base) for name in sorted(state)},
        live={name: _live(name, record, base, current) for name in sorted(record.versions)},
    )


def _state_digest(table: str, name: str, base: Record | None) -> str:
    known = None if base is None else base.state.get(name)
    return known or digest_of(files.read_bytes(files.join(table, name)))


def _live(
    name: str, record: Record, base: Record | None, current: Mapping[str, Sequence[Entry]]
) -> str:
    change = record.tables.get(name)
    if change is not None:
        return live_digest(entries_after(current[name], change))
    assert base is not None  # the first night changes all tables
    return base.live[name]
