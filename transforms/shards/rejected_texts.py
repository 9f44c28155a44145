"""The texts that a rejected row keeps: ordinary texts in full, the beginning of overlong texts.

Rejected rows pass through the shuffle like any other rows, and nobody reads a megabyte of text to
find out why a pair was rejected. The long text is in the input, at the row's file and line.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.problems import RAW_BYTES

REJECTED_TEXT_BYTES = 16 << 10
"""Maximum length of a text that a rejected row keeps, in bytes."""

_SIDES = ("source", "target", "translation")


def leave_out_long_texts(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Leave out the long texts of rejected rows, as readers leave out a line over their limit.

    Such a text becomes null, ``detail`` says how long it was, and ``raw`` holds the first
    `RAW_BYTES` of the row's first such text. If the inline tags of a row are too long to be kept,
    its source and target are left out, too.

    Args:
        rows: Rows (`schemas.ROWS`); those without a reason stay as they are.

    Returns:
        The same rows in the same order.
    """
    lengths = {side: _lengths(rows.column(side)) for side in (*_SIDES, "markup")}
    if not any(len(sizes) and sizes.max() > REJECTED_TEXT_BYTES for sizes in lengths.values()):
        return rows
    rejected = rows.column("reason").is_valid().to_numpy(zero_copy_only=False)
    too_long = {side: rejected & (sizes > REJECTED_TEXT_BYTES) for side, sizes in lengths.items()}
    for side in ("source", "target"):
        has_text = rows.column(side).is_valid().to_numpy(zero_copy_only=False)
        too_long[side] |= too_long["markup"] & has_text
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    marked = np.flatnonzero(np.logical_or.reduce(list(too_long.values())))
    news = {row: _notes(rows, row, too_long, lengths) for row in marked.tolist()}
    if not news:
        return rows
    for name, mask in too_long.items():
        columns[name] = pc.if_else(pa.array(mask), pa.scalar(None, pa.string()), columns[name])
    for place, name in enumerate(("detail", "raw")):
        values = pa.array([note[place] for note in news.values()], columns[name].type)
        mask = np.zeros(rows.num_rows, dtype=np.bool_)
        mask[marked] = True
        columns[name] = pc.replace_with_mask(columns[name], pa.array(mask), values)
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=rows.schema)


def leave_out_of_table(rows: pa.Table) -> pa.Table:
    """Leave out the long texts of a table's rejected rows, chunk by chunk."""
    batches = [leave_out_long_texts(batch) for batch in rows.to_batches()]
    return pa.Table.from_batches(batches, rows.schema)


def _lengths(texts: pa.Array) -> np.ndarray:
    return pc.binary_length(texts).fill_null(0).to_numpy(zero_copy_only=False)


def _notes(
    rows: pa.RecordBatch, row: int, too_long: dict[str, np.ndarray], lengths: dict[str, np.ndarray]
) -> tuple[str, bytes]:
    """Return ``detail`` and ``raw`` of a row after its long texts are removed."""
    sides = [side for side in _SIDES if too_long[side][row]]
    notes = [f"{side}: {lengths[side][row]} bytes, left out" for side in sides]
    raw = rows.column("raw")[row].as_py()
    if sides and raw is None:
        start = rows.column(sides[0])[row : row + 1].cast(pa.binary())
        raw = pc.binary_slice(start, 0, RAW_BYTES)[0].as_py()
        notes.append(f"raw contains the start of the {sides[0]}")
    detail = rows.column("detail")[row].as_py()
    return "; ".join([*([detail] if detail else []), *notes]), raw
