"""The files of a fitted aligner: Arrow tables and a JSON header, no pickle."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from models.hmm_config import HmmConfig
from models.hmm_vocabulary import Vocabulary, build_vocabulary
from transforms.errors import ConfigError

VERSION = 1
"""Rises when a file's meaning changes."""

HEADER = "model.json"

_WORDS = pa.schema([("word", pa.string()), ("count", pa.int64()), ("null", pa.float32())])
_LEXICON = pa.schema(
    [
        ("source", pa.int32()),
        ("target", pa.int32()),
        ("forward", pa.float32()),
        ("reverse", pa.float32()),
    ]
)
_JUMPS = pa.schema([("forward", pa.float32()), ("reverse", pa.float32())])
_TABLES = {
    "jumps.arrow": _JUMPS,
    "lexicon.arrow": _LEXICON,
    "source_words.arrow": _WORDS,
    "target_words.arrow": _WORDS,
}


@dataclasses.dataclass(frozen=True)
class Parts:
    """All that a fitted model is.

    Attributes:
        config: The settings.
        source: Words of the source side.
        target: Words of the target side.
        row_offsets: Where each source word's entries begin in the lexicon, int64.
        columns: Target words, sorted in each row, int32 ``[entry]``.
        probabilities: p(target | source) and p(source | target), float32 ``[entry, 2]``.
        null_target: p(target word | nothing), float32.
        null_source: p(source word | nothing), float32.
        jumps: Weights of the jump distances, float32 ``[direction, distance]``.
        report: Counts and likelihoods of the fit.
    """

    config: HmmConfig
    source: Vocabulary
    target: Vocabulary
    row_offsets: np.ndarray
    columns: np.ndarray
    probabilities: np.ndarray
    null_target: np.ndarray
    null_source: np.ndarray
    jumps: np.ndarray
    report: dict[str, Any]


def pack(parts: Parts) -> dict[str, bytes]:
    """Return the files of a model; the same model gives the same bytes."""
    rows = np.repeat(
        np.arange(len(parts.source), dtype=np.int32), np.diff(parts.row_offsets)
    )
    probabilities = np.ascontiguousarray(parts.probabilities.T)
    files = {
        "jumps.arrow": _write(_JUMPS, [*parts.jumps]),
        "lexicon.arrow": _write(_LEXICON, [rows, parts.columns, *probabilities]),
        "source_words.arrow": _write(
            _WORDS, [parts.source.words, parts.source.counts, parts.null_source]
        ),
        "target_words.arrow": _write(
            _WORDS, [parts.target.words, parts.target.counts, parts.null_target]
        ),
    }
    header = {
        "aligner": "hmm",
        "version": VERSION,
        "config": dataclasses.asdict(parts.config),
        "files": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in files.items()
        },
        "fit": {
            "source_vocabulary": len(parts.source),
            "target_vocabulary": len(parts.target),
            "lexicon": len(parts.columns),
            **parts.report,
        },
    }
    text = json.dumps(header, indent=1, sort_keys=True, allow_nan=False) + "\n"
    return {HEADER: text.encode(), **files}


def digest_of(parts: Parts) -> str:
    """Return the hex SHA-256 of the header, which holds that of every file."""
    return hashlib.sha256(pack(parts)[HEADER]).hexdigest()


def unpack(files: Mapping[str, bytes]) -> Parts:
    """Read a model from its files.

    Raises:
        ConfigError: Says which file is missing, damaged or not of this version.
    """
    if HEADER not in files:
        raise ConfigError(f"not a fitted aligner: {HEADER} is missing")
    try:
        header = json.loads(files[HEADER])
        version = (header["aligner"], header["version"])
        config, listed, report = header["config"], header["files"], dict(header["fit"])
        if version == ("hmm", VERSION):
            checks = {name: str(entry["sha256"]) for name, entry in listed.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{HEADER} is damaged: {error!r}; fit the model again") from error
    if version != ("hmm", VERSION):
        raise ConfigError(
            f"{HEADER}: expected aligner hmm, version {VERSION}, "
            f"found {version[0]}, version {version[1]}; fit the model again"
        )
    tables = {}
    for name, schema in _TABLES.items():
        if name not in files or name not in checks:
            raise ConfigError(f"not a whole fitted aligner: {name} is missing")
        found = hashlib.sha256(files[name]).hexdigest()
        if found != checks[name]:
            raise ConfigError(
                f"{name} is damaged: its SHA-256 is {found}, {HEADER} says {checks[name]}"
            )
        tables[name] = _read(name, files[name], schema)
    try:
        settings = HmmConfig(**config)
    except TypeError as error:
        raise ConfigError(f"{HEADER}: config: {error}") from error
    source, null_source = _vocabulary(tables["source_words.arrow"])
    target, null_target = _vocabulary(tables["target_words.arrow"])
    lexicon = tables["lexicon.arrow"]
    rows = _numbers(lexicon, "source")
    columns = _numbers(lexicon, "target")
    _check_lexicon(rows, columns, len(source), len(target))
    jumps = np.stack([_numbers(tables["jumps.arrow"], name) for name in ("forward", "reverse")])
    for name in ("source_vocabulary", "target_vocabulary", "lexicon"):
        report.pop(name, None)
    return Parts(
        settings,
        source,
        target,
        np.searchsorted(rows, np.arange(len(source) + 1)).astype(np.int64),
        columns,
        np.stack([_numbers(lexicon, "forward"), _numbers(lexicon, "reverse")], axis=1),
        null_target,
        null_source,
        jumps,
        report,
    )


def _write(schema: pa.Schema, columns: list[Any]) -> bytes:
    """Encode one table as an Arrow IPC file."""
    sink = pa.BufferOutputStream()
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return sink.getvalue().to_pybytes()


def _read(name: str, data: bytes, schema: pa.Schema) -> pa.Table:
    """Decode one table and check its columns."""
    try:
        table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        raise ConfigError(f"{name} is damaged: {error}") from error
    if not table.schema.equals(schema):
        raise ConfigError(f"{name}: expected columns {schema}, found {table.schema}")
    if any(column.null_count for column in table.columns):
        raise ConfigError(f"{name} has empty cells")
    return table.combine_chunks()


def _numbers(table: pa.Table, name: str) -> np.ndarray:
    """Return a column as an array of its own."""
    return table[name].to_numpy().copy()


def _vocabulary(table: pa.Table) -> tuple[Vocabulary, np.ndarray]:
    """Return a vocabulary and its probabilities given nothing."""
    words = table["word"].combine_chunks()
    words = words.chunk(0) if isinstance(words, pa.ChunkedArray) else words
    return build_vocabulary(words, _numbers(table, "count")), _numbers(table, "null")


def _check_lexicon(rows: np.ndarray, columns: np.ndarray, sources: int, targets: int) -> None:
    """Refuse entries that are out of order or name no word."""
    keys = rows.astype(np.int64) * max(targets, 1) + columns
    fine = bool(np.all(np.diff(keys) > 0))
    for words, limit in ((rows, sources), (columns, targets)):
        fine &= len(words) == 0 or (int(words.min()) >= 0 and int(words.max()) < limit)
    if not fine:
        raise ConfigError("lexicon.arrow: entries are not sorted or name no word")
