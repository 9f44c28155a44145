"""The Delta tables: their files, and the commit of a night to each of them.

A night is one transaction on each table that it changes. Its number identifies the transaction of
the application (`APPLICATION`), so that committing it again changes nothing.
"""

import contextlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairweave.pipelines.refresh.chain import (
    hashed_reads,
    live_files,
    log_seals,
    records,
    table_lock,
)
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.pipelines.refresh.chain.table_names import ORDER, PARTITIONS, Entry
from pairweave.pipelines.refresh.chain.table_place import store_options
from pairweave.transforms.errors import ConfigError, PairweaveError, WorkerError
from pairweave.transforms.storage import files

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from deltalake.transaction import AddAction, RemoveAction

APPLICATION = "pairweave-refresh"

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_REFUSED = re.compile(r"\b(40[13] (Forbidden|Unauthorized)|necessary privileges|Unauthenticated)\b")
"""Matches deltalake's messages for a status of 401 or 403."""

BOUNDED = ("id", "night")
"""Columns whose smallest and largest values are in a file's statistics."""


def write_file(table: str, name: str, rows: pa.Table, partition: Mapping[str, str]) -> Entry:
    """Write a file of a table under a name made of its content, and describe it.

    Args:
        table: Directory of all tables.
        name: Name of the table.
        rows: Its rows, without the columns of the partition.
        partition: Value of each column of the partition.
    """
    # This loads Beam, which a night without changes does not need.
    from pairweave.transforms.output.write import encode_parquet

    data = encode_parquet(rows, f"refresh:{name}")
    sha256 = hashed_reads.digest_of(data)
    folders = [f"{column}={partition[column]}" for column in PARTITIONS[name]]
    path = "/".join([*folders, f"part-{sha256[: hashed_reads.NAMED_DIGITS]}.parquet"])
    files.write_bytes(files.join(table, name, path), data)
    return {
        "path": path,
        "bytes": len(data),
        "rows": rows.num_rows,
        "sha256": sha256,
        "partition": dict(partition),
        "stats": _stats(rows),
    }


def _stats(rows: pa.Table) -> str:
    """Return Delta's statistics: bounds of ids and nights, never of texts."""
    least: dict[str, object] = {}
    most: dict[str, object] = {}
    for column in BOUNDED:
        if column in rows.column_names and rows.column(column).null_count < rows.num_rows:
            bounds = pc.min_max(rows.column(column)).as_py()
            least[column], most[column] = bounds["min"], bounds["max"]
    stats = {"numRecords": rows.num_rows, "minValues": least, "maxValues": most, "nullCount": {}}
    return orjson.dumps(stats).decode()


def parts(rows: pa.Table, name: str) -> Iterator[tuple[dict[str, str], pa.Table]]:
    """Yield the rows of each partition of a table, without its columns, in order."""
    columns = PARTITIONS[name]
    keys = rows.select(columns).group_by(list(columns)).aggregate([]).to_pylist()
    for key in sorted(keys, key=lambda values: [values[column] for column in columns]):
        mask = None
        for column in columns:
            same = pc.equal(rows.column(column), key[column])
            mask = same if mask is None else pc.and_(mask, same)
        yield key, rows.filter(mask).drop_columns(columns)


def schema_of(columns: pa.Schema, name: str) -> pa.Schema:
    """Return a table's schema: the columns of its files, then those of its partitions."""
    own = [field for field in columns if field.name not in PARTITIONS[name]]
    of_partition = [pa.field(column, pa.string(), nullable=False) for column in PARTITIONS[name]]
    return pa.schema([*own, *of_partition])


@contextlib.contextmanager
def _in_one_line(path: str, what: str = "deltalake cannot use this table") -> Iterator[None]:
    """Turn deltalake's errors, which have several coloured lines, into one-line errors.

    Raises:
        ConfigError: The store denies access.
        WorkerError: Anything else failed.
    """
    try:
        yield
    except ConfigError:
        raise
    except Exception as error:
        text = " ".join(_COLOUR.sub("", str(error)).replace("↳", "").split())
        kind = ConfigError if _REFUSED.search(text) else WorkerError
        raise kind(f"{path}: {what}: {text}") from error


def open_table(table: str, name: str) -> "DeltaTable | None":
    """Open one of the tables; None if it does not exist."""
    from deltalake import DeltaTable

    path = files.join(files.absolute(table), name)
    with _in_one_line(path):
        if not DeltaTable.is_deltatable(path, store_options(path)):
            return None
    return open_version(table, name)


def version_of(table: str, name: str) -> int:
    """Return the last version of one of the tables; -1 if it does not exist."""
    opened = open_table(table, name)
    return -1 if opened is None else opened.version()


def open_version(table: str, name: str, version: int | None = None) -> "DeltaTable":
    """Open a version of one of the tables, which must exist; by default the last."""
    from deltalake import DeltaTable

    path = files.join(files.absolute(table), name)
    options = store_options(path)
    with _in_one_line(path):
        return DeltaTable(path, version=version, storage_options=options)


def current(table: str, name: str, record: Record | None) -> list[Entry]:
    """Return the files of the current version of a table: path, bytes, rows and partition.

    Raises:
        ConfigError: Another program has written to the table, or its log contradicts the record.
    """
    version = version_of(table, name)
    expected = -1 if record is None else record.versions.get(name, -1)
    if version != expected:
        raise ConfigError(
            f"{files.join(table, name)} is at version {version}, and refresh left it at "
            f"{expected}: another program has written to it. Only refresh may; restore that "
            "version, or make a new table with another --output"
        )
    return [] if record is None or version < 0 else at_night(table, name, record)


def at_night(table: str, name: str, record: Record) -> list[Entry]:
    """Return the files of a table after a night, checked against the night's record.

    Raises:
        ConfigError: Delta's log contradicts the record; names the file.
    """
    entries = at_version(table, name, record.versions[name])
    if live_files.digest_of(entries) != record.live.get(name):
        live_files.refuse_log(table, name, record, entries)
    return entries


def at_version(table: str, name: str, version: int) -> list[Entry]:
    """Return the files of a version of a table according to Delta's log, without any check."""
    opened = open_version(table, name, version)
    with _in_one_line(files.join(table, name)):
        actions = pa.table(opened.get_add_actions(flatten=True)).to_pylist()
    entries = [
        {
            "path": action["path"],
            "bytes": action["size_bytes"],
            "rows": action["num_records"],
            "partition": {c: action[f"partition.{c}"] for c in PARTITIONS[name]},
            "bounds": {
                c: [action[f"min.{c}"], action[f"max.{c}"]]
                for c in BOUNDED
                if action.get(f"min.{c}") is not None
            },
        }
        for action in actions
    ]
    return sorted(entries, key=lambda entry: str(entry["path"]))


def read_rows(
    table: str, name: str, entry: Entry, columns: Sequence[str] | None = None
) -> pa.Table:
    """Read a file of a table, or some of its columns, without those of the partition.

    Raises:
        ConfigError: The file is missing or damaged (`read_bytes`).
    """
    data = read_bytes(table, name, entry)
    return pq.read_table(pa.BufferReader(data), columns=None if columns is None else list(columns))


def read_bytes(table: str, name: str, entry: Entry) -> bytes:
    """Read a file of a table and check it against the hash in its name.

    Raises:
        GoneError: There is no such file.
        ConfigError: It is damaged.
    """
    path = files.join(table, name, entry["path"])
    return hashed_reads.read(path, hashed_reads.named_digest(path))


def check(table: str, record: Record) -> None:
    """Check that a record can be applied: once it exists, every later run must apply it first.

    Raises:
        WorkerError: A table is not at the version that the record follows, or a file to add is
            missing or may be deleted (`table_lock.require_kept`).
    """
    for name, change in record.tables.items():
        version = version_of(table, name)
        if version != record.versions[name] - 1:
            raise WorkerError(
                f"{files.join(table, name)} is at version {version}, and night {record.night} "
                f"expected {record.versions[name] - 1}: nothing was committed; run the same "
                "command again"
            )
        for entry in change["add"]:
            if not files.exists(files.join(table, name, entry["path"])):
                raise WorkerError(
                    f"{files.join(table, name, entry['path'])} was deleted while night "
                    f"{record.night} was made: nothing was committed; run the same command again"
                )
    table_lock.require_kept(table)  # last, so that little time passes before the record is created


def apply(table: str, record: Record) -> None:
    """Commit a night to every table that it changes, and seal it (`chain.log_seals`).

    Tables to which the night is already committed are left alone.

    Raises:
        ConfigError: The store denies access, or a table is not at the version that the record
            follows.
        WorkerError: The commit to a table fails.
    """
    if log_seals.is_sealed(table, record.night):
        return
    left = [name for name in record.tables if not _is_applied(table, name, record.night)]
    for name in left:
        _require_version(table, name, record)
    for name in sorted(left, key=ORDER.index):
        _commit(table, name, record)
    try:
        for name in record.versions:
            current(table, name, record)
    except ConfigError:
        if records.numbers(table)[-1] == record.night:
            raise
        return  # meanwhile, another process has sealed this night and committed the next one
    log_seals.write(table, record)


def _require_version(table: str, name: str, record: Record) -> None:
    """Check, before anything is committed, that a table is at the version that a night follows."""
    version = version_of(table, name)
    if version != record.versions[name] - 1 and not _is_applied(table, name, record.night):
        raise ConfigError(
            f"{files.join(table, name)} is at version {version}, and the record of night "
            f"{record.night} follows version {record.versions[name] - 1}: another program has "
            "written to it, or the record belongs to another table"
        )


def is_applied(table: str, record: Record) -> bool:
    """Tell whether a night is committed to all the tables that it changes."""
    return all(_is_applied(table, name, record.night) for name in record.tables)


def _is_applied(table: str, name: str, night: int) -> bool:
    opened = open_table(table, name)
    if opened is None:
        return False
    with _in_one_line(files.join(table, name)):
        done = opened.transaction_version(APPLICATION)
    return done is not None and done >= night


def _commit(table: str, name: str, record: Record) -> None:
    try:
        with _in_one_line(files.join(table, name), f"night {record.night} cannot be committed"):
            _write_transaction(table, name, record)
    except PairweaveError:
        if not _is_applied(table, name, record.night):  # else another process was faster
            raise


def _write_transaction(table: str, name: str, record: Record) -> None:
    from deltalake import CommitProperties, PostCommitHookProperties, Schema, Transaction
    from deltalake.transaction import create_table_with_add_actions

    change = record.tables[name]
    path = files.join(files.absolute(table), name)
    rearranged = record.operation == "compact"
    added = [_add_action(path, entry, data_change=not rearranged) for entry in change["add"]]
    properties: dict[str, Any] = {
        "commit_properties": CommitProperties(
            custom_metadata={"night": str(record.night), "refresh": record.operation},
            app_transactions=[Transaction(APPLICATION, record.night)],
            max_commit_retries=0,
        ),
        "post_commithook_properties": PostCommitHookProperties(cleanup_expired_logs=False),
    }
    partition_by = list(PARTITIONS[name])
    opened = open_table(table, name)
    if opened is None:
        files.make_directory(path)
        schema = Schema.from_arrow(schema_from(change["schema"]))
        create_table_with_add_actions(
            path,
            schema,
            added,
            mode="error",
            partition_by=partition_by,
            storage_options=store_options(path),
            **properties,
        )
        return
    if change.get("schema"):
        schema = schema_from(change["schema"])
        opened.create_write_transaction(
            [*added], mode="overwrite", schema=schema, partition_by=partition_by, **properties
        )
        return
    removed = [_remove_action(entry, data_change=not rearranged) for entry in change["remove"]]
    opened.create_write_transaction(
        [*added, *removed],
        mode="append",
        schema=opened.schema(),
        partition_by=partition_by,
        **properties,
    )


def _add_action(path: str, entry: Entry, *, data_change: bool) -> "AddAction":
    from deltalake.transaction import AddAction

    if not files.exists(files.join(path, entry["path"])):
        raise WorkerError(f"{entry['path']} is not there any more; was it deleted?")
    now = int(time.time() * 1000)
    partition = dict(entry["partition"])
    return AddAction(entry["path"], entry["bytes"], partition, now, data_change, entry["stats"])


def _remove_action(entry: Entry, *, data_change: bool) -> "RemoveAction":
    from deltalake.transaction import RemoveAction

    return RemoveAction(
        entry["path"],
        data_change=data_change,
        deletion_timestamp=int(time.time() * 1000),
        size=entry["bytes"],
        partition_values=dict(entry["partition"]),
    )


def schema_text(schema: pa.Schema) -> str:
    """Return a schema as text, for a record."""
    return schema.remove_metadata().serialize().to_pybytes().hex()


def schema_from(text: str) -> pa.Schema:
    """Return the schema from its text in a record."""
    return pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(text)))


def rows_in(entries: Iterable[Entry]) -> int:
    """Return the total number of rows of some files."""
    return sum(int(entry["rows"]) for entry in entries)
