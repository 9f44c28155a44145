"""Columns of tables and batches replaced by others of the same field."""

from typing import TypeVar

import pyarrow as pa

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)


def replaced(rows: Rows, name: str, column: pa.Array | pa.ChunkedArray) -> Rows:
    """Return rows with one column replaced by another, with the same name and nullability."""
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, rows.schema.field(place), column)
