"""The table of input files: the ledger of a night, for readers."""

from collections.abc import Sequence

import pyarrow as pa

from pairweave.pipelines.refresh.chain import tables
from pairweave.pipelines.refresh.chain.record_parts import LedgerEntry
from pairweave.pipelines.refresh.chain.table_names import FILES, Entry
from pairweave.pipelines.refresh.forgetting.withdrawal import Change

_TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))

FILE_ROWS = pa.schema(
    [
        pa.field("content", pa.string(), nullable=False),
        pa.field("corpus", pa.string(), nullable=False),
        pa.field("licence", pa.string()),
        pa.field("source_lang", pa.string(), nullable=False),
        pa.field("target_lang", pa.string(), nullable=False),
        pa.field("names", _TEXTS),
        pa.field("sha256", _TEXTS),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
    ]
)


def change_of(table: str, entries: Sequence[LedgerEntry], old: list[Entry]) -> Change:
    """Write the ledger as the only file of its table; return the change, if there is one.

    Args:
        table: Directory of all tables.
        entries: Tonight's ledger.
        old: The current file of the table.
    """
    rows = [
        {
            "content": entry.key,
            "corpus": entry.corpus,
            "licence": entry.licence,
            "source_lang": entry.source_lang,
            "target_lang": entry.target_lang,
            "names": list(entry.names),
            "sha256": [file.sha256 for file in entry.files],
            "bytes": sum(file.bytes for file in entry.files),
            "rows": entry.rows,
        }
        for entry in entries
    ]
    new = tables.write_file(table, FILES, pa.Table.from_pylist(rows, schema=FILE_ROWS), {})
    if [entry["path"] for entry in old] == [new["path"]]:
        return Change()
    return Change([new], old)
