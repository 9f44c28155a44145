"""Writing shards and rejects, each shard with a receipt."""

import dataclasses
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pairweave.transforms import schemas
from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.counts.counters import check_declared
from pairweave.transforms.counts.histograms import Bars
from pairweave.transforms.markup.pair_markup import PairMarkup
from pairweave.transforms.output.column_meanings import described
from pairweave.transforms.output.origin_columns import with_origin
from pairweave.transforms.output.receipts import write_shard_receipt
from pairweave.transforms.output.run_files import WriteConfig, data_name, file_entry, rejects_name
from pairweave.transforms.output.shard_histograms import count_histograms
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.storage import files

ROW_GROUP_ROWS = 65_536
ZSTD_LEVEL = 1


def encode_parquet(table: pa.Table, signature: str, model: str | None = None) -> bytes:
    """Encode a table with a fixed writer configuration, so that the same rows give the same bytes.

    Args:
        table: The rows.
        signature: Signature of the run, for the footer.
        model: Digest of the model that aligned them, for the footer; None if the shard has none.
    """
    metadata = {"pairweave.signature": signature, "pairweave.schema": str(schemas.VERSION)}
    if model is not None:
        metadata["pairweave.model"] = model
    rows = table.combine_chunks()
    schema = described(rows.schema).with_metadata(metadata)
    rows = pa.Table.from_arrays(rows.columns, schema=schema)
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
    """Return rejected rows as `schemas.REJECTS`, with inline tags restored in their texts."""
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
        rows = replaced(rows, side, pa.array(texts, rows.column(side).type))
    return rows


@dataclasses.dataclass(frozen=True)
class ShardOutput:
    """The output of a job for a shard.

    Attributes:
        shard: The shard, including the rows that the job rejected.
        data: The rows made from the kept ones; None if the job writes none.
        counts: Counts of the job, for the manifest.
        masks: Words of the suggestion in each row of the data, -1 for a whole sentence.
        histograms: Bars of the job's own histograms, besides those by corpus.
        tag_shapes: Shapes of the drawn tags by class, where they are drawn from a profile.
    """

    shard: Shard
    data: pa.Table | None
    counts: Mapping[str, int]
    masks: np.ndarray | None = None
    histograms: Bars = dataclasses.field(default_factory=dict)
    tag_shapes: Mapping[str, int] = dataclasses.field(default_factory=dict)


def write_shard(output: ShardOutput, config: WriteConfig) -> str:
    """Write one shard's data, its rejects and its receipt.

    Args:
        output: The job's output for the shard.
        config: The run's location and metadata.

    Returns:
        The receipt's name.

    Raises:
        OSError: A file could not be written.
        ValueError: A counter is not declared.
    """
    shard = output.shard
    counts = {**output.counts, **shard.notes.counts}
    number = shard.number
    if shard.notes.agreement is not None:
        counts |= shard.notes.agreement.counts()
    check_declared(counts)
    written = []
    data_path, rejects_path = data_name(number, config.shards), rejects_name(number, config.shards)
    tables = {rejects_path: rejects_of(shard.rejected)}
    data = output.data
    if data is not None:
        data = with_origin(data, shard.kept) if config.origin else data
        tables = {data_path: data, **tables}
    for path, table in tables.items():
        encoded = encode_parquet(table, config.signature, shard.notes.model)
        files.write_bytes(files.join(config.output, path), encoded)
        written.append(file_entry(path, encoded, table.num_rows))
    histograms = count_histograms(shard.kept, shard.table, output.data, output.masks)
    histograms |= output.histograms
    return write_shard_receipt(config, shard, counts, written, histograms, output.tag_shapes)
