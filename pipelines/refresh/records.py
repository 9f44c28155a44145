"""The records of a table's nights: what was decided, in one file each, created only if absent.

A record is the commit. It lists for each table the files to add and to remove, so that a later
process can finish what its writer began (`tables.apply`). Of two nights at once, only one can
create the next record.

Records are a chain: each has a checksum of itself, the hash of the record before it, and the hashes
or digests of everything else that a later night relies on. Who reads the last record and follows
the chain reads nothing that is not compared.
"""

import contextlib
import dataclasses
import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from pairweave.pipelines.refresh.chain.hashed_reads import GoneError, damaged, digest_of
from pairweave.pipelines.refresh.chain.record_parts import RecordFile
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.storage import files, json_files

STATE = "_refresh"
NIGHTS = "nights"
TOMBSTONES = "tombstones"

FORMAT = 2
"""The format of new records. Those of format 1 have no checksum, and name nothing but the files."""

_NAME = re.compile(r"[0-9]{8}\.json")
_OF_FORMAT_2 = ("previous", "sealed", "state", "live")

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
        previous: SHA-256 of the record before; None in the first night.
        sealed: SHA-256 of the seal of the night before (`chain.log_seals`); None if it has none.
        state: SHA-256 of the file of tombstones and of the list of each model's files, by their
            paths in the table; and of all records before it if the last one is of format 1.
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
        """Return the record as it is stored, with the checksum of all the rest."""
        found = dataclasses.asdict(self)
        if self.format == 1:
            return to_json({k: v for k, v in found.items() if k not in _OF_FORMAT_2})
        return to_json({**found, "checksum": digest_of(to_json(found))})


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
    """Read the record of a night, compared with its own checksum.

    Raises:
        ConfigError: It was written by another version of the program, or is damaged.
    """
    return _read(table, night)[0]


def _read(table: str, night: int) -> tuple[Record, bytes]:
    path = path_of(table, night)
    try:
        data = files.read_bytes(path)
    except FileNotFoundError as error:
        raise GoneError(path) from error
    return parse(path, data, night), data


def parse(path: str, data: bytes, night: int) -> Record:
    """Return the record that a file holds.

    Args:
        path: The file, for messages.
        data: Its content.
        night: The number that its name says.

    Raises:
        ConfigError: It was written by another version of the program, or is damaged.
    """
    _check_format(path, data)
    shape = json_files.parse_model(path, data, RecordFile)
    if shape.night != night:
        raise damaged(path, f"night: expected {night}, as its name says, got {shape.night}")
    found = orjson.loads(data)
    found.pop("checksum", None)
    record = Record(**found)
    if record.format > 1 and record.to_json() != data:
        raise damaged(path, "its content does not fit its checksum")
    return record


def _check_format(path: str, data: bytes) -> None:
    with contextlib.suppress(orjson.JSONDecodeError):  # which the model tells of
        found = orjson.loads(data)
        number = found.get("format") if isinstance(found, dict) else None
        if isinstance(number, int) and number > FORMAT:
            raise ConfigError(
                f"{path}: has format {number}, and this version of pairweave reads formats up to "
                f"{FORMAT}; use the version that wrote it"
            )


def latest(table: str) -> Record | None:
    """Return the record of the last night; None if there was none.

    Raises:
        ConfigError: It is damaged, or the record of an earlier night is missing.
    """
    found = numbers(table)
    if not found:
        return None
    missing = sorted(set(range(1, found[-1])) - set(found))
    if missing:
        raise damaged(path_of(table, missing[0]), "is missing, and later nights follow it")
    return read(table, found[-1])


def existing(table: str, *, alone: bool = False) -> Record:
    """Return the record of the last night.

    Args:
        table: Directory of all tables.
        alone: Whether no other record is read later, so that one may be missing.

    Raises:
        ConfigError: There is no table, or a record is damaged or missing.
    """
    nights = numbers(table) if alone else []
    found = read(table, nights[-1]) if nights else latest(table)
    if found is None:
        raise ConfigError(f"{table}: there is no table here; pairweave refresh makes one")
    return found


def back_from(table: str, record: Record) -> Iterator[Record]:
    """Yield a record and those before it, each compared with the hash that a later one has of it.

    Records of format 1 are compared with nothing, unless one of format 2 followed them.

    Raises:
        ConfigError: One differs, or is damaged or missing.
    """
    known = known_before(record)
    yield record
    while record.night > 1:
        record, data = _read(table, record.night - 1)
        require_known(table, record.night, data, known)
        known |= known_before(record)
        yield record


def known_before(record: Record) -> dict[int, str]:
    """Return the hashes that a record has of those before it, by the number of the night.

    That is one, and all of them in the first record of format 2 of a table that had others.
    """
    prefix = f"{STATE}/{NIGHTS}/"
    names = {name.removeprefix(prefix): sha for name, sha in record.state.items()}
    known = {int(name[:8]): sha for name, sha in names.items() if _NAME.fullmatch(name)}
    return known if record.previous is None else {**known, record.night - 1: record.previous}


def require_known(table: str, night: int, data: bytes, known: Mapping[int, str]) -> None:
    """Compare the file of a record with its hash, if a later record has it.

    Raises:
        ConfigError: It is another.
    """
    if night in known and digest_of(data) != known[night]:
        raise damaged(path_of(table, night), "is not the record that the next night followed")


def at_night(table: str, last: Record, night: int) -> tuple[Record, Record | None]:
    """Return the record of a night, reached from the last one, and the one after it if any.

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
    """Create the record of a night, if nobody else has; tell whether it was created.

    Raises:
        ConfigError: No later night could read it.
    """
    path, data = path_of(table, record.night), record.to_json()
    parse(path, data, record.night)
    files.make_directory(directory(table))
    # A store's client repeats a request whose answer was lost, and is told that the file is there.
    return files.create(path, data) or files.read_bytes(path) == data
