"""The records of a table's nights: what was decided, in one file each, created only if absent.

A record is the commit. It lists for each table the files to add and to remove, so that a later
process can finish what its writer began (`tables.apply`). Of two nights at once, only one can
create the next record.
"""

import contextlib
import dataclasses
import uuid
from collections.abc import Mapping
from typing import Any

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.run_files import read_json, to_json
from pairweave.transforms.storage import files

STATE = "_refresh"
NIGHTS = "nights"
TOMBSTONES = "tombstones"
FORMAT = 1

Json = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Record:
    """One night.

    Attributes:
        night: Its number, from 1.
        operation: ``refresh``, ``takedown``, ``migrate``, ``refit`` or ``compact``.
        when: When it began, UTC.
        job: The job that makes the rows.
        settings: The settings that the table's rows are made with (`night_config.settings_of`).
        models: For each pair of languages with a model of its own, its directory in the table.
        files: The input files that the table holds (`file_ledger.Entry`).
        tombstones: Name of the file of tombstones; None for none.
        tables: For each table that changes: ``add``, ``remove``, and ``schema`` if it is new or
            replaced.
        versions: The Delta version of each table after this night.
        metrics: Counts of the night.
        gates: What the quality gates found.
        accepted: Why a failed gate was accepted.
        fitted: Places of the pairs that each model in `models` was fitted to, by languages.
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

    def to_json(self) -> bytes:
        """Return the record as it is stored."""
        return to_json({"format": FORMAT, **dataclasses.asdict(self)})


def name_of(night: int) -> str:
    """Name the record of a night.

    >>> name_of(12)
    '00000012.json'
    """
    return f"{night:08d}.json"


def directory(table: str) -> str:
    """Return the directory of a table's records."""
    return files.join(table, STATE, NIGHTS)


def numbers(table: str) -> list[int]:
    """Return the numbers of a table's nights, ascending."""
    names = files.list_names(directory(table))
    return sorted(int(name[:8]) for name in names if name[:8].isdigit() and name[8:] == ".json")


def read(table: str, night: int) -> Record:
    """Read the record of a night.

    Raises:
        ConfigError: It was written by another version of the program, or is damaged.
    """
    path = files.join(directory(table), name_of(night))
    found = read_json(path)
    if found.pop("format", None) != FORMAT:
        raise ConfigError(f"{path}: has another format than this version of pairweave reads")
    try:
        return Record(**found)
    except TypeError as error:
        raise ConfigError(f"{path}: is not the record of a night: {error}") from error


def latest(table: str) -> Record | None:
    """Return the record of the last night; None if there was none."""
    found = numbers(table)
    return read(table, found[-1]) if found else None


def existing(table: str) -> Record:
    """Return the record of the last night.

    Raises:
        ConfigError: There is no table.
    """
    found = latest(table)
    if found is None:
        raise ConfigError(f"{table}: there is no table here; pairweave refresh makes one")
    return found


def require_creation(table: str) -> None:
    """Check that the store of a new table creates an object only if there is none.

    A store that does not know the condition of the request writes over the object that is there:
    two nights at once would both have won.

    Raises:
        ConfigError: It does not.
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
        with contextlib.suppress(OSError):  # a role may write and not delete
            files.delete(path)


def create(table: str, record: Record) -> bool:
    """Create the record of a night, if nobody else has; tell whether it was created."""
    files.make_directory(directory(table))
    path, data = files.join(directory(table), name_of(record.night)), record.to_json()
    # A store's client repeats a request whose answer was lost, and is told that the file is there.
    return files.create(path, data) or files.read_bytes(path) == data
