"""The records of a table's nights: one file for each night, created only if absent.

Creating the record is the commit. It lists, for each table, the files to add and to remove, so that
a later process can finish what its writer began (`tables.apply`). Of two simultaneous nights, only
one can create the next record.

Records form a chain: each contains its own checksum, the hash of the record before it, and the
hashes or digests of everything else that a later night relies on. Whoever starts from the last
record and follows the chain reads nothing that is not compared with a hash.
"""

import contextlib
import dataclasses
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from pairweave.pipelines.refresh.chain.hashed_reads import RESTORE, GoneError, damaged, digest_of
from pairweave.pipelines.refresh.chain.record_parts import RecordFile
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.storage import files, json_files

STATE = "_refresh"
NIGHTS = "nights"
TOMBSTONES = "tombstones"

FORMAT = 2
"""The format of the records that this version writes and reads."""

Json = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Record:
    """One night.

    Attributes:
        night: Its number, from 1.
        operation: ``refresh``, ``takedown``, ``migrate``, ``refit`` or ``compact``.
        when: The time at which it began, UTC.
        job: The job that makes the rows.
        settings: The settings that the table's rows are made with (`night_config.settings_of`).
        models: For each pair of languages with its own model, the model's directory in the table.
        files: The input files whose pairs the table has (`record_parts.LedgerEntry`).
        tombstones: Name of the file of tombstones; None for none.
        tables: For each table that changes: ``add``, ``remove``, and ``schema`` if it is new or
            replaced.
        versions: The Delta version of each table after this night.
        metrics: Counts of the night.
        gates: Results of the quality gates.
        accepted: The reason for which failed gates were accepted; None if there was none.
        fitted: Number of places of the pairs that each model in `models` was fitted to, by
            languages.
        previous: SHA-256 of the record before; None in the first night.
        sealed: SHA-256 of the seal of the night before (`chain.log_seals`); None if it has none.
        state: SHA-256 of the file of tombstones and of the list of each model's files, by their
            paths in the table.
        live: Digest of the files that each table has after this night
            (`chain.live_files.digest_of`).
        format: The format of the file.
    """

    night: int
    operation: str
    when: str
    job: str
    settings: Json
    models: Mapping[str, str]
    files: list[Json]
    tombstones: str | None
    tables: Mapping[str, Json]
    versions: Mapping[str, int]
    metrics: Json
    gates: list[Json] = dataclasses.field(default_factory=list)
    accepted: str | None = None
    fitted: Mapping[str, int] = dataclasses.field(default_factory=dict)
    previous: str | None = None
    sealed: str | None = None
    state: Mapping[str, str] = dataclasses.field(default_factory=dict)
    live: Mapping[str, str] = dataclasses.field(default_factory=dict)
    format: int = FORMAT

    def to_json(self) -> bytes:
        """Return the record as it is stored, including the checksum of its other fields."""
        return _with_checksum(vars(self))


def name_of(night: int) -> str:
    """Name the record of a night.

    >>> name_of(12)
    '00000012.json'
    """
    return f"{night:08d}.json"


def directory(table: str) -> str:
    """Return the directory of a table's records."""
    return files.join(table, STATE, NIGHTS)


def path_of(table: str, night: int) -> str:
    """Return the path of the record of a night."""
    return files.join(directory(table), name_of(night))


def numbers_in(place: str) -> list[int]:
    """Return the numbers of the nights that have a file in a directory, ascending."""
    names = files.list_names(place)
    return sorted(int(name[:8]) for name in names if name[:8].isdigit() and name[8:] == ".json")


def numbers(table: str) -> list[int]:
    """Return the numbers of a table's nights, ascending."""
    return numbers_in(directory(table))


def read(table: str, night: int) -> Record:
    """Read the record of a night and check it against its own checksum.

    Raises:
        ConfigError: It was written by another version of the program, or is damaged.
    """
    return parse(path_of(table, night), _bytes(table, night), night)


def _bytes(table: str, night: int) -> bytes:
    path = path_of(table, night)
    try:
        return files.read_bytes(path)
    except FileNotFoundError as error:
        raise GoneError(path) from error


def parse(path: str, data: bytes, night: int) -> Record:
    """Return the record in a file.

    Args:
        path: The file, for messages.
        data: Its content.
        night: The number in its name.

    Raises:
        ConfigError: It was written by another version of the program, or is damaged.
    """
    fields = json_files.parse_object(data, path, RESTORE)
    number = fields.get("format")
    if isinstance(number, int) and number != FORMAT:
        raise ConfigError(
            f"{path}: has format {number}, and this version of pairweave reads format {FORMAT}; "
            "use the version that wrote it"
        )
    shape = json_files.check(fields, path, RecordFile)
    if shape.night != night:
        raise damaged(path, f"night: expected {night}, as its name says, got {shape.night}")
    record = _from_json(fields)
    if _with_checksum(fields) != data:
        raise damaged(path, "its content does not fit its checksum")
    return record


def _from_json(fields: Json) -> Record:
    """Return a record from its JSON, from which the checksum is removed."""
    fields.pop("checksum", None)
    return Record(**fields)


def _with_checksum(fields: Json) -> bytes:
    return to_json({**fields, "checksum": digest_of(to_json(fields))})


def latest(table: str) -> Record | None:
    """Return the record of the last night; None if there was none.

    Raises:
        ConfigError: It is damaged, or the record of an earlier night is missing.
    """
    nights = numbers(table)
    if not nights:
        return None
    missing = sorted(set(range(1, nights[-1])) - set(nights))
    if missing:
        raise damaged(path_of(table, missing[0]), "is missing, and later nights follow it")
    return read(table, nights[-1])


def existing(table: str, *, alone: bool = False) -> Record:
    """Return the record of the last night.

    Args:
        table: Directory of all tables.
        alone: Whether no other record will be read, so that earlier ones may be missing.

    Raises:
        ConfigError: There is no table, or a record is damaged or missing.
    """
    nights = numbers(table) if alone else []
    record = read(table, nights[-1]) if nights else latest(table)
    if record is None:
        raise ConfigError(f"{table}: there is no table here; pairweave refresh makes one")
    return record


def back_from(table: str, record: Record) -> Iterator[Record]:
    """Yield a record and those before it, each checked against the hash in the record after it.

    Raises:
        ConfigError: A record differs, or is damaged or missing.
    """
    yield record
    while record.night > 1:
        night = record.night - 1
        data = _bytes(table, night)
        require_known(table, night, data, record.previous)
        # Its fields were checked before it was written, so they are not checked again: a table of
        # many files has large records, and a night reads dozens of them.
        record = _from_json(json_files.parse_object(data, path_of(table, night), RESTORE))
        yield record


def require_known(table: str, night: int, data: bytes, known: str | None) -> None:
    """Check the file of a record against the hash in the record after it, if that is known.

    Raises:
        ConfigError: The file has another hash.
    """
    if known is not None and digest_of(data) != known:
        raise damaged(path_of(table, night), "is not the record that the next night followed")


def at_night(table: str, last: Record, night: int) -> tuple[Record, Record | None]:
    """Return the record of a night, reached from the last one, and the one after it, if any.

    Raises:
        ConfigError: A record on the way is damaged.
    """
    after = None
    for record in back_from(table, last):
        if record.night == night:
            return record, after
        after = record
    raise GoneError(path_of(table, night))


def require_creation(table: str) -> None:
    """Check that the store of a new table can create an object only if it is absent.

    A store that ignores this condition overwrites the existing object, so two simultaneous nights
    would both succeed.

    Raises:
        ConfigError: The store ignores the condition.
    """
    if not files.is_uri(table):
        return
    path = files.join(table, STATE, f"probe-{uuid.uuid4().hex}")
    try:
        files.create(path, b"first")
        if files.create(path, b"second"):
            raise ConfigError(
                f"{table}: this store wrote over an object that it was asked to create only if "
                "there is none (If-None-Match), so two nights at once would spoil a table; "
                "expected a store that knows this condition, as S3 and Cloud Storage do"
            )
    finally:
        with contextlib.suppress(OSError):  # a role may be allowed to write but not to delete
            files.delete(path)


def create(table: str, record: Record) -> bool:
    """Create the record of a night unless it exists; tell whether it was created.

    Raises:
        ConfigError: The record is invalid, so that no later night could read it.
    """
    path, data = path_of(table, record.night), record.to_json()
    parse(path, data, record.night)
    files.make_directory(directory(table))
    # A client repeats a request whose answer was lost, and the store then finds the file present.
    return files.create(path, data) or files.read_bytes(path) == data
