"""A folder for Hugging Face `datasets`: Parquet files and a card with a configuration for each."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.export_formats import RowExport, RowWriter
from pairweave.transforms.output.card_facts import configuration, languages_and_licence

ROW_GROUP_ROWS = 65_536
"""Number of rows that are read together."""


@contextlib.contextmanager
def _rows_writer(opened: Sequence[BinaryIO]) -> Iterator[RowWriter]:
    """Yield a function that writes batches to the only file.

    Raises:
        ConfigError: There was no row; `datasets` does not load a file without rows.
    """
    writer: pq.ParquetWriter | None = None
    waiting: list[pa.RecordBatch] = []

    def flush() -> None:
        nonlocal writer
        if not waiting:
            return
        table = pa.Table.from_batches(waiting)
        writer = writer or pq.ParquetWriter(opened[0], table.schema, compression="zstd")
        writer.write_table(table, ROW_GROUP_ROWS)
        waiting.clear()

    def write(batch: pa.RecordBatch) -> None:
        if batch.num_rows:
            waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= ROW_GROUP_ROWS:
            flush()

    yield write
    flush()
    if writer is None:
        raise ConfigError("no row to export: datasets loads no file without rows")
    writer.close()


def _card(manifest: Mapping[str, Any], digests: Mapping[str, str]) -> str:
    """Return a card with languages, licence and a configuration for each file."""
    configs = [
        configuration(name.removesuffix(".parquet"), name, [digest])
        for name, digest in digests.items()
    ]
    header = {
        **languages_and_licence(manifest),
        "configs": [{**configs[0], "default": True}, *configs[1:]],
    }
    about = f"{str(manifest['job']).capitalize()} data made by pairweave {manifest['version']}"
    return f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=True)}---\n# {about}\n"


EXPORT = RowExport(
    "hf",
    ("suggest", "augment", "filter"),
    (".parquet",),
    (),
    "",
    lambda _: [],
    rows_writer=_rows_writer,
    card=_card,
)
