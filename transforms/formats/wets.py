"""Suggestions in the format of WeTS: sources, masked translations and suggestions, one per line."""

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.export.export_formats import IN_LINE, RowExport, joined_lines
from pairweave.transforms.symbols.mask import NOTHING

TEXTS = ("source", "masked", "suggestion")
NO_NOTHING = ("suggestion", f"^{NOTHING}$")
"""A suggestion that would be read as an empty one."""


def suggested(rows: pa.RecordBatch) -> pa.Array:
    """Return the suggestions, `NOTHING` for an empty one."""
    texts = rows.column("suggestion")
    return pc.if_else(pc.equal(texts, ""), NOTHING, texts)


def _write(rows: pa.RecordBatch) -> list[bytes]:
    columns = (rows.column("source"), rows.column("masked"), suggested(rows))
    return [joined_lines(column) for column in columns]


EXPORT = RowExport(
    "wets", ("suggest",), (".src", ".mask", ".tgt"), TEXTS, IN_LINE, _write, reserved=(NO_NOTHING,)
)
