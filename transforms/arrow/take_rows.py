"""Rows of a table in another order, however much text they contain.

Arrow's text columns count bytes with 32 bits. Joining the chunks of a column, as taking rows from
several of them does, fails where their text passes 2 GiB.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_lists import MAX_ITEMS

_WIDE = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}


def gather(rows: pa.Table, order: np.ndarray, most_bytes: int = MAX_ITEMS) -> pa.Table:
    """Return rows of a table in an order.

    Args:
        rows: The rows; their dictionaries are unified.
        order: The wanted rows, int64 ``[row]``.
        most_bytes: Most bytes in a chunk of a text column.

    Returns:
        The rows: every column in one chunk, or if its text does not fit, in as few as possible.
    """
    if len(order) < rows.num_rows:
        chosen = np.zeros(rows.num_rows, dtype=np.bool_)
        chosen[order] = True
        rows = rows.filter(pa.array(chosen))  # chunk by chunk
        order = (np.cumsum(chosen) - 1)[order]
    if rows.nbytes <= most_bytes:
        return rows.combine_chunks().take(pa.array(order))
    wide = rows.cast(_with_types(rows.schema)).combine_chunks()
    slices = [
        wide.take(pa.array(order[start:stop])).combine_chunks().cast(rows.schema)
        for start, stop in _cuts(_text_ends(wide, order), most_bytes)
    ]
    if not slices:
        return rows.schema.empty_table()
    return slices[0] if len(slices) == 1 else pa.concat_tables(slices)


def longest_column(rows: pa.Table) -> tuple[str, int]:
    """Return the text column with the most bytes, and their number."""
    sizes = {
        field.name: int(_lengths(rows.column(field.name)).sum())
        for field in rows.schema
        if field.type in _WIDE
    }
    name = max(sizes, key=lambda name: sizes[name])
    return name, sizes[name]


def _with_types(schema: pa.Schema) -> pa.Schema:
    """Return a schema whose text columns have 64-bit offsets."""
    fields = [field.with_type(_WIDE.get(field.type, field.type)) for field in schema]
    return pa.schema(fields, schema.metadata)


def _lengths(column: pa.ChunkedArray) -> np.ndarray:
    sizes = pc.binary_length(column).cast(pa.int64())
    return pc.fill_null(sizes, 0).to_numpy()


def _text_ends(wide: pa.Table, order: np.ndarray) -> list[np.ndarray]:
    """Return, for each column of text, the bytes up to each wanted row's end."""
    return [
        np.cumsum(_lengths(wide.column(field.name))[order])
        for field in wide.schema
        if field.type in _WIDE.values()
    ]


def _cuts(ends: list[np.ndarray], most_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows in which no column has more bytes, or ranges of one row."""
    start, count = 0, len(ends[0]) if ends else 0
    while start < count:
        done = [int(column[start - 1]) if start else 0 for column in ends]
        stops = [
            int(np.searchsorted(column, before + most_bytes, "right"))
            for column, before in zip(ends, done, strict=True)
        ]
        stop = max(start + 1, min(stops))
        yield start, stop
        start = stop
