"""Tagged pairs for OpusTrainer: source, target and links, separated by tabs, without a header."""

import pyarrow as pa

from pairweave.transforms.export.export_formats import IN_FIELD, LinkedRows, RowExport, joined_lines

_ENDINGS = (".opustrainer.tsv",)
_TEXTS = ("source", "target")


def _write(rows: pa.RecordBatch) -> list[bytes]:
    return [joined_lines(*map(rows.column, _TEXTS), separator="\t")]


def _write_linked(rows: pa.RecordBatch) -> list[bytes]:
    return [joined_lines(*map(rows.column, (*_TEXTS, "links")), separator="\t")]


EXPORT = RowExport(
    "opustrainer",
    ("augment",),
    _ENDINGS,
    _TEXTS,
    IN_FIELD,
    _write,
    linked=LinkedRows("whitespace", _ENDINGS, _write_linked),
)
