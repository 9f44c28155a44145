"""A finished run's pairs with their inline markup as one TMX or XLIFF file."""

import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines import finished
from transforms import files
from transforms.choices import require_choice
from transforms.errors import ConfigError
from transforms.markup_rows import MarkupRow, markup_rows
from transforms.write import check_file, shard_name
from transforms.write_tmx import write_tmx
from transforms.write_xliff import write_xliff

SUFFIXES = {"tmx": "tmx", "xliff": "xlf", "xliff2": "xlf"}
FORMATS = tuple(SUFFIXES)
ROWS = ("tagged", "plain", "all")
BATCH_ROWS = 8_192


def export_markup(directory: str, form: str, output: str, rows: str | None = None) -> int:
    """Write a finished run's rows, in the order of its shards, shard by shard.

    Args:
        directory: The run's, of ``augment`` with indexed tags, or of ``align``.
        form: ``tmx`` (1.4b), ``xliff`` (1.2) or ``xliff2`` (2.1).
        output: A file that is not there yet; on a disk.
        rows: ``tagged``, ``plain`` or ``all``; by default those with tags, of ``align`` all.

    Returns:
        How many rows were written.

    Raises:
        ConfigError: The run has no such rows, the file is there, or the format cannot carry a row.
        WorkerError: A shard is missing or not what the manifest says.
    """
    require_choice("format", form, FORMATS)
    found = finished.open_manifest(directory)
    rows = rows or ("tagged" if found["job"] == "augment" else "all")
    require_choice("rows", rows, ROWS)
    configuration = found["configuration"]
    representation = configuration.get("representation", "indexed")
    if representation != "indexed":
        raise ConfigError(
            f"{directory}: the tags are written as {representation}; only those of a run with "
            "--representation indexed can be exported"
        )
    if files.exists(output):
        raise ConfigError(f"{output}: is there already; give another --output, or delete it")
    shifted = bool(configuration.get("whitespace_shift"))
    read = markup_rows(_batches(directory, found), rows, shifted=shifted)
    counted = _Counter(read)
    sources = sorted({corpus["source_lang"] for corpus in found["corpora"].values()})
    chunks = (
        write_tmx(counted, sources[0] if len(sources) == 1 else "*all*")
        if form == "tmx"
        else write_xliff(counted, "1.2" if form == "xliff" else "2.1")
    )
    _write(output, chunks)
    return counted.rows


class _Counter:
    """Rows on their way, and how many have passed."""

    def __init__(self, rows: Iterator[MarkupRow]) -> None:
        self._rows = rows
        self.rows = 0

    def __iter__(self) -> Iterator[MarkupRow]:
        for row in self._rows:
            self.rows += 1
            yield row


def _batches(directory: str, manifest: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    entries = {entry["name"]: entry for entry in manifest["files"]}
    for shard in range(manifest["shards"]):
        name = shard_name(shard, manifest["shards"])
        check_file(directory, entries[name])
        data = io.BytesIO(files.read_bytes(files.join(directory, name)))
        yield from pq.ParquetFile(data).iter_batches(batch_size=BATCH_ROWS)


def _write(output: str, chunks: Iterator[bytes]) -> None:
    """Write a file in pieces; it gets its name when it is whole."""
    with files.open_write(output) as file:
        for chunk in chunks:
            file.write(chunk)
