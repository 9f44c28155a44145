"""The seal of a night: the hashes of the files of Delta's logs, once the night is in all tables.

Delta's log contains no hashes, and a night's entries in it are written after its record. Therefore
the process that has committed a night to its tables compares them with the record and then writes
the seal. The next record contains the hash of the seal. A night that was stopped in between has no
seal; the next command that may write makes it.
"""

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from pairweave.pipelines.refresh.chain import hashed_reads, records
from pairweave.pipelines.refresh.chain.hashed_reads import damaged, digest_of
from pairweave.pipelines.refresh.chain.record_parts import Sha256, StatePart
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.pipelines.refresh.chain.table_names import LOG
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.storage import files, json_files

SEALS = "seals"
FORMAT = 1

_ENTRY = re.compile(r"([0-9]{20})\.(json|checkpoint(\..+)?\.parquet)")


class Seal(StatePart):
    """The seal of a night.

    Attributes:
        format: 1.
        night: The number of the night.
        record: SHA-256 of its record.
        logs: SHA-256 of each file that Delta reads for the night's versions, by its path in the
            table: the last checkpoint, if there is one, and the entries since.
        checksum: SHA-256 of the other fields.
    """

    format: Annotated[int, Field(ge=1, le=1)] = FORMAT
    night: Annotated[int, Field(ge=1)]
    record: Sha256
    logs: dict[Annotated[str, Field(pattern=r"^[a-z]+/_delta_log/[^/]+$")], Sha256]
    checksum: str = ""

    def to_json(self) -> bytes:
        """Return the seal as it is stored."""
        facts = self.model_dump(exclude={"checksum"})
        return to_json({**facts, "checksum": digest_of(to_json(facts))})


def path_of(table: str, night: int) -> str:
    """Return the path of the seal of a night."""
    return files.join(table, records.STATE, SEALS, records.name_of(night))


def read(table: str, night: int) -> Seal | None:
    """Return the seal of a night; None if it has none.

    Raises:
        ConfigError: The seal is damaged.
    """
    path = path_of(table, night)
    try:
        data = files.read_bytes(path)
    except FileNotFoundError:
        return None
    seal = json_files.parse_model(data, path, Seal)
    if seal.night != night:
        raise damaged(path, f"night: expected {night}, as its name says, got {seal.night}")
    if seal.to_json() != data:
        raise damaged(path, "its content does not fit its checksum")
    return seal


def is_sealed(table: str, night: int) -> bool:
    """Tell whether a night has a seal."""
    return files.exists(path_of(table, night))


def digest(table: str, night: int) -> str | None:
    """Return the hash of the seal of a night, for the record after it; None if it has none."""
    return _digest(read(table, night))


def _digest(seal: Seal | None) -> str | None:
    return None if seal is None else digest_of(seal.to_json())


def last_night(table: str) -> Record:
    """Return the record of the last night, after checking the files of Delta's logs.

    Raises:
        ConfigError: There is no table, or a file is damaged or missing.
    """
    last = records.existing(table)
    check(table, last)
    return last


def check(
    table: str,
    record: Record,
    after: Record | None = None,
    known: dict[str, str | None] | None = None,
) -> None:
    """Check the files of Delta's logs from which a night's versions are read.

    Args:
        table: Directory of all tables.
        record: The record of the night.
        after: The record of the night after it; None if it is the last one.
        known: Hashes of log files that were read before (`hashed_reads.require_all`): seals of
            consecutive nights list mostly the same files.

    Raises:
        ConfigError: A file of a log, the seal or the record is damaged or missing.
    """
    hashed_reads.require_all(_sealed(table, record, after).logs, known)


def _sealed(table: str, record: Record, after: Record | None) -> Seal:
    """Return the seal of a night with absolute paths, or that of the night before if it has none.

    A night without a seal is being committed to the tables, or was stopped during the commit.
    """
    seal = read(table, record.night)
    path = path_of(table, record.night)
    if after is None:
        _require_no_later(table, record.night)
    elif after.sealed is not None and _digest(seal) != after.sealed:
        what = (
            "is missing" if seal is None else f"is not the seal that night {after.night} followed"
        )
        raise damaged(path, what)
    of_record = records.path_of(table, record.night)
    if seal is not None and seal.record != digest_of(files.read_bytes(of_record)):
        raise damaged(of_record, f"its content is not what {path} was made for")
    if seal is None and record.night > 1 and after is None:
        before = read(table, record.night - 1)
        if record.sealed is not None and _digest(before) != record.sealed:
            raise damaged(
                path_of(table, record.night - 1),
                f"is not the seal that night {record.night} followed",
            )
        seal = before
    if seal is None:
        return Seal(night=record.night, record="0" * 64, logs={})
    return seal.model_copy(
        update={"logs": {files.join(table, name): sha for name, sha in seal.logs.items()}}
    )


def _require_no_later(table: str, night: int) -> None:
    later = records.numbers_in(files.join(table, records.STATE, SEALS))
    if later and later[-1] > night and later[-1] not in records.numbers(table):
        raise damaged(
            records.path_of(table, later[-1]), f"is missing; {path_of(table, later[-1])} is there"
        )


def write(table: str, record: Record) -> None:
    """Write the seal of a night that is in all tables, unless it has one.

    Hashes in the previous seal are copied from it, not computed from the files.
    """
    path = path_of(table, record.night)
    if files.exists(path):
        return
    before = None if record.night == 1 else read(table, record.night - 1)
    known = {} if before is None else before.logs
    logs = {
        name: known[name] if name in known else digest_of(files.read_bytes(files.join(table, name)))
        for name in _log_files(table, record)
    }
    data = files.read_bytes(records.path_of(table, record.night))
    seal = Seal(night=record.night, record=digest_of(data), logs=logs)
    files.make_directory(files.join(table, records.STATE, SEALS))
    files.create(path, seal.to_json())


def _log_files(table: str, record: Record) -> Iterator[str]:
    """Yield the files that Delta reads for the versions of a night."""
    for name, version in sorted(record.versions.items()):
        entries = [
            (int(match[1]), match[2] != "json", match[0])
            for match in map(_ENTRY.fullmatch, files.list_names(files.join(table, name, LOG)))
            if match is not None and int(match[1]) <= version
        ]
        first = max((number for number, is_checkpoint, _ in entries if is_checkpoint), default=0)
        for number, _, entry in entries:
            if number >= first:
                yield f"{name}/{LOG}/{entry}"
