"""Shards and rejects, written once, each with a receipt."""

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Mapping

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from pairweave.transforms import schemas
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.markup.pair_markup import PairMarkup
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.storage import files

RECEIPTS = "_receipts"
DATA = "data"
REJECTS = "rejects"
ROW_GROUP_ROWS = 65_536
ZSTD_LEVEL = 1


def shard_name(shard: int, shards: int) -> str:
    """Name one shard; the same pairs land under the same name on every attempt.

    >>> shard_name(7, 16)
    'part-00007-of-00016.parquet'
    """
    return f"part-{shard:05d}-of-{shards:05d}.parquet"


def data_name(shard: int, shards: int) -> str:
    """Name the file of one shard's rows; the directory holds nothing else.

    >>> data_name(7, 16)
    'data/part-00007-of-00016.parquet'
    """
    return f"{DATA}/{shard_name(shard, shards)}"


def rejects_name(shard: int, shards: int) -> str:
    """Name the file of one shard's rejects."""
    return f"{REJECTS}/{shard_name(shard, shards)}"


def shard_receipt_name(shard: int, shards: int) -> str:
    """Name the receipt of one shard."""
    return f"{RECEIPTS}/shard-{shard:05d}-of-{shards:05d}.json"


def unit_receipt_name(unit: int) -> str:
    """Name the receipt of one input unit."""
    return f"{RECEIPTS}/unit-{unit:05d}.json"


@dataclasses.dataclass(frozen=True)
class WriteConfig:
    """Where a run's files go and what their footers say.

    Attributes:
        output: The run's directory or URI.
        shards: Number of shards.
        plan: Digest of the run's plan, kept in each receipt.
        signature: The signature line, kept in each Parquet footer.
        translator: Digest of the model that translates sources, kept in each receipt; None for
            none.
    """

    output: str
    shards: int
    plan: str
    signature: str
    translator: str | None = None


def encode_parquet(table: pa.Table, signature: str, model: str | None = None) -> bytes:
    """Encode a table with a fixed writer configuration: the same rows give the same bytes.

    Args:
        table: The rows.
        signature: What the footer says of the run.
        model: What it says of the model that aligned them, where that is the shard's own.
    """
    metadata = {"pairweave.signature": signature, "pairweave.schema": str(schemas.VERSION)}
    if model is not None:
        metadata["pairweave.model"] = model
    rows = table.combine_chunks().replace_schema_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        rows.schema,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=ZSTD_LEVEL,
        use_compliant_nested_type=True,
        write_statistics=True,
        write_page_index=True,
        store_schema=True,
    ) as writer:
        # Hugging Face `datasets` fails on a row group without rows, so an empty file has none.
        if rows.num_rows:
            writer.write_table(rows, row_group_size=ROW_GROUP_ROWS)
    return sink.getvalue().to_pybytes()


def rejects_of(rows: pa.Table) -> pa.Table:
    """Return rejected rows as `schemas.REJECTS`; inline tags stand in their texts again."""
    rows = _with_tags(rows)
    return rows.select(schemas.REJECTS.names).cast(schemas.REJECTS)


def _with_tags(rows: pa.Table) -> pa.Table:
    markup = rows.column("markup")
    if markup.null_count == len(markup):
        return rows
    for side in ("source", "target"):
        texts = [
            PairMarkup.from_json(line).original(side, text)
            if line is not None and text is not None
            else text
            for line, text in zip(markup.to_pylist(), rows.column(side).to_pylist(), strict=True)
        ]
        field = rows.schema.field(side)
        place = rows.schema.get_field_index(side)
        rows = rows.set_column(place, field, pa.array(texts, field.type))
    return rows


@dataclasses.dataclass(frozen=True)
class ShardOutput:
    """What a job makes of a shard.

    Attributes:
        shard: The shard, with all that the job rejected among its rejected rows.
        data: The rows made of the kept ones; None if the job writes none.
        counts: What the job counted, for the manifest.
    """

    shard: Shard
    data: pa.Table | None
    counts: Mapping[str, int]


def write_shard(output: ShardOutput, config: WriteConfig) -> str:
    """Write one shard's data, its rejects and its receipt.

    Args:
        output: What the job made of the shard.
        config: Where to.

    Returns:
        The receipt's name.

    Raises:
        OSError: A file could not be written.
    """
    shard, counts = output.shard, dict(output.counts)
    number, kept, rejected = shard.number, shard.kept, shard.rejected
    model, agreement = shard.notes.model, shard.notes.agreement
    if agreement is not None:
        counts |= agreement.counts()
    written = []
    tables = {rejects_name(number, config.shards): rejects_of(rejected)}
    if output.data is not None:
        tables = {data_name(number, config.shards): output.data, **tables}
    for path, table in tables.items():
        encoded = encode_parquet(table, config.signature, model)
        files.write_bytes(files.join(config.output, path), encoded)
        written.append(file_entry(path, encoded, table.num_rows))
    receipt = {
        "plan": config.plan,
        "shard": number,
        "rows": kept.num_rows + rejected.num_rows,
        "kept": kept.num_rows,
        "kept_by_corpus": _count(kept, "corpus"),
        "rejected": _count_reasons(rejected),
        "units": _count_units(kept, rejected),
        "unit_reasons": _count_unit_reasons(rejected),
        "counts": counts,
        "files": written,
    }
    if model is not None:
        receipt["model"] = model
    if config.translator is not None:
        receipt["translator"] = config.translator
    receipt_name = shard_receipt_name(number, config.shards)
    files.write_bytes(files.join(config.output, receipt_name), to_json(receipt))
    return receipt_name


def file_entry(name: str, data: bytes, rows: int | None = None) -> dict[str, object]:
    """Describe a written file: its name, bytes, hash and, where it has rows, their number."""
    entry: dict[str, object] = {
        "name": name,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    return entry if rows is None else {**entry, "rows": rows}


def check_file(output: str, entry: Mapping[str, object]) -> None:
    """Check that a described file is there, whole and unchanged.

    Raises:
        WorkerError: Says what is wrong with which file.
    """
    name = str(entry["name"])
    path = files.join(output, name)
    try:
        data = files.read_bytes(path)
    except OSError as error:
        raise WorkerError(f"{name}: written before, now unreadable: {error}") from error
    found = hashlib.sha256(data).hexdigest()
    if len(data) != entry["bytes"] or found != entry["sha256"]:
        raise WorkerError(
            f"{name}: {entry['bytes']} bytes with sha256 {entry['sha256']} were written, "
            f"found {len(data)} bytes with {found}"
        )


def to_json(value: object) -> bytes:
    """Encode deterministic JSON: sorted keys, two spaces, one newline at the end."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(value, option=options | orjson.OPT_NON_STR_KEYS)


def _count(rows: pa.Table, name: str) -> dict[str, int]:
    pairs = rows.column(name).cast(pa.string()).value_counts().to_pylist()
    return {item["values"]: item["counts"] for item in pairs}


def _count_reasons(rejected: pa.Table) -> list[dict[str, object]]:
    """Count rejected rows by corpus, stage and reason."""
    names = ["corpus", "stage", "reason"]
    columns = [rejected.column(name).cast(pa.string()).to_pylist() for name in names]
    counter = Counter(zip(*columns, strict=True))
    return [{**dict(zip(names, key, strict=True)), "rows": counter[key]} for key in sorted(counter)]


def _count_unit_reasons(rejected: pa.Table) -> list[list[object]]:
    """Count, for each unit and reason: [unit, reason, rejected]."""
    reasons = rejected.column("reason").cast(pa.string()).to_pylist()
    counter = Counter(zip(rejected.column("unit").to_pylist(), reasons, strict=True))
    return [[*key, counter[key]] for key in sorted(counter)]


def _count_units(kept: pa.Table, rejected: pa.Table) -> list[list[int]]:
    """Count, for each unit: [unit, kept, rejected]."""
    kept_units = Counter(kept.column("unit").to_pylist())
    rejected_units = Counter(rejected.column("unit").to_pylist())
    return [
        [unit, kept_units[unit], rejected_units[unit]]
        for unit in sorted({*kept_units, *rejected_units})
    ]
