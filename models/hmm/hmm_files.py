"""The files of a fitted aligner: Arrow tables and a JSON header, no pickle."""

import dataclasses
import hashlib
import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
from pydantic import Field

from pairweave.models.hmm.hmm_config import HmmConfig
from pairweave.models.hmm.hmm_parts import Parts, know_words
from pairweave.models.hmm.hmm_vocabulary import Vocabulary, build_vocabulary
from pairweave.models.hmm.respelling import Respelling
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.hmm.hmm import BUCKETS, JUMPS
from pairweave.transforms.kernels.hmm.lexicon import NO_FREQUENT, Lexicon
from pairweave.transforms.kernels.hmm.sides import Words
from pairweave.transforms.storage.json_files import JsonFile, check

VERSION = 5
"""Increased when the meaning of a file changes."""

OLDER_VERSIONS = (2, 3, 4)
"""Versions without ``last_share``: for one script, for two, and with syllables spelled out."""

_OLDER_WITH_SYLLABLES = 4

HEADER = "model.json"

_WORDS = pa.schema(
    [("word", pa.string()), ("count", pa.int64()), ("mass", pa.float32()), ("null", pa.float32())]
)
_STEMS = pa.schema([("mass", pa.float32())])
_LEXICON = pa.schema(
    [
        ("source", pa.int32()),
        ("target", pa.int32()),
        ("forward", pa.float32()),
        ("reverse", pa.float32()),
    ]
)
_STEM_LEXICON = pa.schema([("source", pa.int32()), ("target", pa.int32()), ("count", pa.float32())])
_JUMPS = pa.schema([("forward", pa.float32()), ("reverse", pa.float32())])
_FACTORS = pa.schema([(f"bucket_{bucket}", pa.float32()) for bucket in range(BUCKETS)])

# The last row of a table of words is an unseen word. The last two rows of a table of factors are an
# unseen word and the beginning of the side.
_TABLES = {
    "jumps.arrow": _JUMPS,
    "lexicon.arrow": _LEXICON,
    "source_factors.arrow": _FACTORS,
    "source_stems.arrow": _STEMS,
    "source_words.arrow": _WORDS,
    "stem_lexicon.arrow": _STEM_LEXICON,
    "target_factors.arrow": _FACTORS,
    "target_stems.arrow": _STEMS,
    "target_words.arrow": _WORDS,
}

RESPELLING = "respelling.arrow"
"""The file of a model of two scripts."""

_RESPELLING = pa.schema([("letter", pa.int32()), ("other", pa.int32())])


def pack(parts: Parts) -> dict[str, bytes]:
    """Return the files of a model; the same model gives the same bytes."""
    lexicon = parts.lexicon
    columns: dict[str, list[Any]] = {
        "jumps.arrow": [*parts.jumps],
        "source_factors.arrow": [*np.ascontiguousarray(parts.source_factors.T)],
        "target_factors.arrow": [*np.ascontiguousarray(parts.target_factors.T)],
        "lexicon.arrow": [
            _rows(lexicon.row_offsets),
            lexicon.columns,
            *np.ascontiguousarray(lexicon.probabilities.T),
        ],
        "stem_lexicon.arrow": [
            _rows(lexicon.stem_offsets),
            lexicon.stem_columns,
            lexicon.stem_counts,
        ],
    }
    for side, vocabulary, words in (
        ("source", parts.source, parts.source_words),
        ("target", parts.target, parts.target_words),
    ):
        columns[f"{side}_stems.arrow"] = [words.stem_mass[:-1]]
        columns[f"{side}_words.arrow"] = [
            pa.concat_arrays([vocabulary.words, pa.array([""], pa.string())]),
            np.append(vocabulary.counts, 0),
            words.mass,
            words.null,
        ]
    files = {name: _write(_TABLES[name], columns[name]) for name in sorted(columns)}
    if parts.respelling is not None:
        letters = [parts.respelling.letters, parts.respelling.others]
        files[RESPELLING] = _write(_RESPELLING, letters)
    header = {
        "aligner": "hmm",
        "version": VERSION,
        "config": dataclasses.asdict(parts.config),
        "last_share": parts.last_share,
        "syllables": parts.syllables,
        "files": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in files.items()
        },
        "fit": {
            **parts.report,
            "source_vocabulary": len(parts.source),
            "target_vocabulary": len(parts.target),
            "lexicon": len(lexicon.columns),
        },
    }
    text = json.dumps(header, indent=1, sort_keys=True, allow_nan=False) + "\n"
    return {HEADER: text.encode(), **files}


def digest_of(header: bytes) -> str:
    """Return the hex SHA-256 of a header, which contains the SHA-256 of every file."""
    return hashlib.sha256(header).hexdigest()


def unpack(files: Mapping[str, bytes]) -> Parts:
    """Read a model from its files.

    Raises:
        ConfigError: A file is missing, damaged or has another version; names it.
    """
    header = _read_header(files)
    newest = header["version"] == VERSION
    tables = {
        name: _read(name, files, header["files"].get(name), schema)
        for name, schema in _TABLES.items()
    }
    try:
        config = HmmConfig(**header["config"])
    except TypeError as error:
        raise ConfigError(f"{HEADER}: config: {error}; fit the model again") from error
    source, source_words = _read_words(tables, "source", config)
    target, target_words = _read_words(tables, "target", config)
    row_offsets, columns = _read_matrix(tables, "lexicon.arrow", len(source), len(target))
    stem_offsets, stem_columns = _read_matrix(
        tables, "stem_lexicon.arrow", source.stem_count, target.stem_count
    )
    jumps = np.stack([_numbers(tables, "jumps.arrow", name) for name in _JUMPS.names])
    if jumps.shape[1] != 2 * JUMPS + 1:
        raise ConfigError(f"jumps.arrow: expected {2 * JUMPS + 1} rows, found {jumps.shape[1]}")
    if not np.all(jumps > 0):
        raise ConfigError("jumps.arrow is damaged: a jump's weight is not above 0; fit it again")
    return Parts(
        config,
        source,
        target,
        source_words,
        target_words,
        Lexicon(
            row_offsets,
            columns,
            np.stack(
                [_numbers(tables, "lexicon.arrow", name) for name in ("forward", "reverse")], axis=1
            ),
            NO_FREQUENT,
            stem_offsets,
            stem_columns,
            _numbers(tables, "stem_lexicon.arrow", "count"),
            NO_FREQUENT,
        ),
        jumps,
        _read_factors(tables, "source", len(source)),
        _read_factors(tables, "target", len(target)),
        float(header["last_share"]) if newest else 0.0,
        dict(header["fit"]),
        _read_respelling(files, header["files"].get(RESPELLING)),
        header["syllables"] if newest else header["version"] == _OLDER_WITH_SYLLABLES,
    )


def _read_respelling(files: Mapping[str, bytes], entry: object) -> Respelling | None:
    """Return how letters are respelled; None for a model of one script."""
    if entry is None:
        return None
    tables = {RESPELLING: _read(RESPELLING, files, entry, _RESPELLING)}
    letters, others = (_numbers(tables, RESPELLING, name) for name in _RESPELLING.names)
    if not len(letters) or not np.all(np.diff(letters) > 0):
        raise ConfigError(f"{RESPELLING} is damaged: its letters are not sorted; fit it again")
    if max(letters.max(), others.max()) > sys.maxunicode:
        raise ConfigError(f"{RESPELLING} is damaged: it has no letters; fit it again")
    return Respelling(letters, others)


def _read_factors(tables: Mapping[str, pa.Table], side: str, words: int) -> np.ndarray:
    """Return the factors of jumps after each word of a side."""
    name = f"{side}_factors.arrow"
    table = tables[name]
    if table.num_rows != words + 2:
        raise ConfigError(f"{name}: expected {words + 2} rows, found {table.num_rows}")
    factors = np.stack([_numbers(tables, name, column) for column in table.column_names], axis=1)
    if not np.all(factors > 0):
        raise ConfigError(f"{name} is damaged: a factor is not above 0; fit it again")
    return np.ascontiguousarray(factors)


def _rows(offsets: np.ndarray) -> np.ndarray:
    """Return the row of each entry of a matrix stored in compressed rows, int32."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))


def _write(schema: pa.Schema, columns: list[Any]) -> bytes:
    """Encode one table as an Arrow IPC file."""
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return sink.getvalue().to_pybytes()


class _HashedFile(JsonFile):
    sha256: str


class _Config(JsonFile):
    model1_iterations: int
    hmm_iterations: int
    decode: str
    threshold: float
    null_probability: float
    word_prior: float
    max_vocabulary: int
    max_translations: int


class _OlderHeader(JsonFile):
    """The content of `HEADER` in models of older versions."""

    ADVICE: ClassVar[str] = "fit the model again"

    aligner: str
    version: int
    config: _Config
    files: dict[str, _HashedFile]
    fit: dict[str, Any]


class _Header(_OlderHeader):
    """The content of `HEADER`."""

    last_share: Annotated[float, Field(ge=0, lt=1)]
    syllables: bool


def _read_header(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the header after checking its kind and version."""
    if HEADER not in files:
        raise ConfigError(f"not a fitted aligner: {HEADER} is missing")
    try:
        header = json.loads(files[HEADER])
    except ValueError as error:
        raise ConfigError(f"{HEADER} is damaged: {error}; fit the model again") from error
    if not isinstance(header, dict) or header.get("aligner") != "hmm":
        raise ConfigError(f"{HEADER}: not the header of an aligner of kind hmm")
    version = header.get("version")
    if version not in (*OLDER_VERSIONS, VERSION):
        raise ConfigError(
            f"{HEADER}: expected version {VERSION}, found {version!r}; fit the model again"
        )
    check(header, HEADER, _Header if version == VERSION else _OlderHeader)
    return header


def _read(name: str, files: Mapping[str, bytes], entry: object, schema: pa.Schema) -> pa.Table:
    """Decode one table and check its digest and columns."""
    if name not in files or not isinstance(entry, dict):
        raise ConfigError(f"not a whole fitted aligner: {name} is missing")
    digest = hashlib.sha256(files[name]).hexdigest()
    if digest != entry.get("sha256"):
        raise ConfigError(
            f"{name} is damaged: its SHA-256 is {digest}, {HEADER} says {entry.get('sha256')}"
        )
    try:
        table = pa.ipc.open_file(pa.BufferReader(files[name])).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise ConfigError(f"{name} is damaged: {error}") from error
    if not table.schema.equals(schema):
        raise ConfigError(f"{name}: expected columns {schema.names}, found {table.schema}")
    if any(column.null_count for column in table.columns):
        raise ConfigError(f"{name} has empty cells")
    return table


def _numbers(tables: Mapping[str, pa.Table], name: str, column: str) -> np.ndarray:
    """Return a copy of a table's column; refuse numbers that are below 0 or not finite."""
    numbers = tables[name][column].to_numpy().copy()
    if not np.all(np.isfinite(numbers)) or (len(numbers) and numbers.min() < 0):
        raise ConfigError(
            f"{name} is damaged: column {column} has numbers that are below 0 or not finite; "
            "fit it again"
        )
    return numbers


def _read_words(
    tables: Mapping[str, pa.Table], side: str, config: HmmConfig
) -> tuple[Vocabulary, Words]:
    """Return the words of one side and their statistics."""
    name = f"{side}_words.arrow"
    table = tables[name]
    if table.num_rows < 1:
        raise ConfigError(f"{name} has no row for unseen words")
    words = pa.concat_arrays(table["word"].chunks)[:-1]
    vocabulary = build_vocabulary(words, _numbers(tables, name, "count")[:-1])
    stem_mass = _numbers(tables, f"{side}_stems.arrow", "mass")
    if len(stem_mass) != vocabulary.stem_count:
        raise ConfigError(
            f"{side}_stems.arrow: expected {vocabulary.stem_count} stems, found {len(stem_mass)}"
        )
    return vocabulary, know_words(
        vocabulary,
        _numbers(tables, name, "mass")[:-1],
        _numbers(tables, name, "null"),
        config.word_prior,
        stem_mass,
    )


def _read_matrix(
    tables: Mapping[str, pa.Table], name: str, sources: int, targets: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return row offsets and columns; refuse entries that are unsorted or name no known word."""
    rows, columns = (_numbers(tables, name, column) for column in ("source", "target"))
    keys = rows.astype(np.int64) * max(targets, 1) + columns
    fine = bool(np.all(np.diff(keys) > 0))
    for numbers, limit in ((rows, sources), (columns, targets)):
        fine &= len(numbers) == 0 or int(numbers.max()) < limit
    if not fine:
        raise ConfigError(f"{name}: entries are not sorted, or name no word")
    return np.searchsorted(rows, np.arange(sources + 1)).astype(np.int64), columns
