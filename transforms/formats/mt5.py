"""Suggestions for mT5: lines of source, `SEPARATOR`, masked translation, tab, suggestion."""

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.export.export_formats import IN_FIELD, RowExport, joined_lines
from pairweave.transforms.formats.wets import NO_NOTHING, TEXTS, suggested

SEPARATOR = " <sep> "
"""Separates source and masked translation (Zhu et al., equation 1)."""

_NO_SEPARATOR = tuple((side, "<sep>") for side in ("source", "masked"))


def _write(rows: pa.RecordBatch) -> list[bytes]:
    given = pc.binary_join_element_wise(rows.column("source"), rows.column("masked"), SEPARATOR)
    return [joined_lines(given, suggested(rows), separator="\t")]


EXPORT = RowExport(
    "mt5",
    ("suggest",),
    (".mt5.tsv",),
    TEXTS,
    IN_FIELD,
    _write,
    reserved=(NO_NOTHING, *_NO_SEPARATOR),
)
