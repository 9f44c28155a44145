"""Stores scored shards in files until the selection, so that a resumed run can reuse them.

A selection by rank needs the ranks of all shards. Each shard is therefore written when it is
scored, with a receipt; the border of the selection is found from the ranks in these files and is
written too; then each shard is read again and selected. Near-duplicates, whose copies may be in
other shards, are found in between: each shard has a file of signatures, and then one of its
copies. The files are deleted when the run is committed.
"""

import dataclasses
import hashlib
import io
import struct
from typing import Annotated

import numpy as np
import orjson
import pyarrow as pa
from pydantic import Field

from pairweave.transforms.arrow.arrow_coder import from_stream
from pairweave.transforms.errors import ConfigError, WorkerError, unreadable
from pairweave.transforms.filtering.deduplication.near_duplicates import signatures
from pairweave.transforms.filtering.evidence import evidence_names
from pairweave.transforms.filtering.filtered import (
    reject_near_copies,
    scored_schema,
)
from pairweave.transforms.filtering.selection import ROUNDS, Border, ranks
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.storage import files
from pairweave.transforms.storage.json_files import JsonFile, read_model

DIRECTORY = "_scored"
BORDER = "border.json"

_LENGTHS = struct.Struct("<QQQ")


@dataclasses.dataclass(frozen=True)
class Place:
    """The directory of the scored shards of a run.

    Attributes:
        output: The run's directory or URI.
        plan: Digest of its plan.
    """

    output: str
    plan: str

    def path(self, name: str) -> str:
        """Return the path of a file."""
        return files.join(self.output, DIRECTORY, name)


def write(shard: Shard, place: Place, near: float | None = None) -> int:
    """Write a scored shard, its ranks, and finally the receipt of both.

    Args:
        shard: Its working table is SCORED rows.
        place: Directory of the files.
        near: Minimum Jaccard index of near-duplicates; None if they are not searched.

    Returns:
        Its number.
    """
    streams = [_stream(table) for table in (shard.kept, shard.rejected, shard.table)]
    data = _LENGTHS.pack(*map(len, streams)) + b"".join(streams)
    open_rows = shard.table.filter(shard.table.column("reason").is_null())
    ranked = ranks(open_rows.column("score").to_numpy(), open_rows.column("id"))
    words = open_rows.column("target_words").to_numpy()
    contents = {
        _shard(shard.number): data,
        _ranks(shard.number): _arrays(ranks=ranked, words=words),
    }
    if near is not None:
        keys, codes = signatures(open_rows, near)
        contents[_signatures(shard.number)] = _arrays(keys=keys, codes=codes)
    digests = {}
    for name, content in contents.items():
        files.write_bytes(place.path(name), content)
        digests[name] = hashlib.sha256(content).hexdigest()
    receipt = orjson.dumps({"plan": place.plan, "files": digests}, option=orjson.OPT_SORT_KEYS)
    files.write_bytes(place.path(_receipt(shard.number)), receipt)
    return shard.number


class _Receipt(JsonFile):
    """The receipt of a scored shard: its files with their hashes."""

    plan: str
    files: dict[str, str]


class _BorderFile(JsonFile):
    """The border of the selection."""

    plan: str
    digits: list[Annotated[int, Field(ge=0)]]
    left: int | None
    whole: bool


def finished(place: Place, shards: int) -> frozenset[int]:
    """Return the shards whose files are complete, so they need not be scored again."""
    present = set(files.list_names(files.join(place.output, DIRECTORY)))
    return frozenset(
        shard for shard in range(shards) if _receipt(shard) in present and _is_whole(place, shard)
    )


def _is_whole(place: Place, shard: int) -> bool:
    try:
        receipt = read_model(place.path(_receipt(shard)), _Receipt)
        return receipt.plan == place.plan and all(
            hashlib.sha256(files.read_bytes(place.path(name))).hexdigest() == digest
            for name, digest in receipt.files.items()
        )
    except (OSError, ConfigError):
        return False


def read(place: Place, number: int) -> Shard:
    """Read a scored shard; near-duplicates have a reason once they are identified.

    Raises:
        WorkerError: It is missing or truncated.
    """
    shard = _read_scored(place, number)
    return shard.with_table(reject_near_copies(shard.table, copies(place, number)))


def read_open(place: Place, number: int) -> pa.Table:
    """Return the rows (SCORED) of a scored shard without a reason, including near-duplicates.

    Raises:
        WorkerError: It is missing or truncated.
    """
    table = _read_scored(place, number).table
    return table.filter(table.column("reason").is_null())


def _read_scored(place: Place, number: int) -> Shard:
    data = _read(place, _shard(number))
    lengths = _LENGTHS.unpack_from(data)
    if len(data) != _LENGTHS.size + sum(lengths):
        raise WorkerError(f"{DIRECTORY}/{_shard(number)}: is truncated")
    tables, at = [], _LENGTHS.size
    for length in lengths:
        tables.append(from_stream(data[at : at + length]))
        at += length
    kept, rejected, table = tables
    return Shard(
        number, kept, rejected, table.cast(scored_schema(evidence_names(table.column_names)))
    )


def read_ranks(place: Place, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranks and target words of a scored shard's pairs without a reason.

    Raises:
        WorkerError: They are missing.
    """
    with np.load(io.BytesIO(_read(place, _ranks(number))), allow_pickle=False) as arrays:
        ranked, words = arrays["ranks"], arrays["words"]
    table = copies(place, number)
    if table is None:
        return ranked, words
    stays = np.ones(len(words), np.bool_)
    stays[table.column("row").to_numpy()] = False
    return ranked[:, stays], words[stays]


def read_signatures(place: Place, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the bucket keys and codes of a scored shard's pairs without a reason.

    Raises:
        WorkerError: They are missing.
    """
    with np.load(io.BytesIO(_read(place, _signatures(number))), allow_pickle=False) as arrays:
        return arrays["keys"], arrays["codes"]


def write_copies(duplicates: pa.Table, place: Place, number: int) -> int:
    """Write the near-duplicates of a shard (`near_duplicates.COPIES`); return its number."""
    files.write_bytes(place.path(_copies(number)), _stream(duplicates))
    return number


def copies(place: Place, number: int) -> pa.Table | None:
    """Return the near-duplicates of a shard; None if it has none."""
    path = place.path(_copies(number))
    return from_stream(files.read_bytes(path)) if files.exists(path) else None


def write_border(border: Border, place: Place) -> Border:
    """Write the border of the selection."""
    entries = {"plan": place.plan, **dataclasses.asdict(border)}
    files.write_bytes(place.path(BORDER), orjson.dumps(entries, option=orjson.OPT_SORT_KEYS))
    return border


def read_border(place: Place) -> Border | None:
    """Return the border from an earlier attempt of this plan; None if there is none."""
    path = place.path(BORDER)
    if not files.exists(path):
        return None
    try:
        file = read_model(path, _BorderFile)
    except (OSError, ConfigError):
        return None
    complete = file.whole or len(file.digits) == ROUNDS
    border = Border(tuple(file.digits), file.left, file.whole)
    return border if file.plan == place.plan and complete else None


def delete(output: str) -> None:
    """Delete the files of a committed run."""
    directory = files.join(output, DIRECTORY)
    for name in files.list_names(directory):
        files.delete(files.join(directory, name))
    files.delete_empty(directory)


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _arrays(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _read(place: Place, name: str) -> bytes:
    try:
        return files.read_bytes(place.path(name))
    except OSError as error:
        raise unreadable(f"{DIRECTORY}/{name}", error) from error


def _shard(number: int) -> str:
    return f"shard-{number:05d}.arrows"


def _ranks(number: int) -> str:
    return f"ranks-{number:05d}.npz"


def _signatures(number: int) -> str:
    return f"signatures-{number:05d}.npz"


def _copies(number: int) -> str:
    return f"copies-{number:05d}.arrows"


def _receipt(number: int) -> str:
    return f"receipt-{number:05d}.json"
