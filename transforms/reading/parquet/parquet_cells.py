"""Cells of a Parquet column, measured before they are decoded.

A dictionary-encoded column stores repeated texts once. Copied to every row, they can be millions of
times as large, more than 32-bit offsets allow. So only a bounded part is decoded at a time, and a
text over the limit is never decoded.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.reading.rows import RAW_BYTES, Problem, too_long
from pairweave.transforms.units import ReadLimits


def byte_lengths(column: pa.Array) -> np.ndarray:
    """Return the bytes of each text, 0 for null, int64 ``[row]``; dictionaries stay as they are."""
    if pa.types.is_dictionary(column.type):
        entries = byte_lengths(column.dictionary)
        places = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
        valid = column.indices.is_valid().to_numpy(zero_copy_only=False)
        return np.where(valid, entries[places], 0) if len(entries) else np.zeros(len(column), int)
    sizes = pc.binary_length(column).cast(pa.int64())
    return sizes.fill_null(0).to_numpy(zero_copy_only=False)


class Cells:
    """Decoded cells of a column; cells over the limit have a problem instead.

    Attributes:
        side: Content of the column.
        texts: The texts ``[row]``, not checked; null for a cell over the limit.
        null: Whether each cell is null, bool ``[row]``.
        long: Problems of cells over the limit, by row.
    """

    def __init__(
        self, column: pa.Array, lengths: np.ndarray, side: str, limits: ReadLimits
    ) -> None:
        """Decode cells.

        Args:
            column: Strings, or a dictionary of strings ``[row]``.
            lengths: Their bytes, int64 ``[row]``.
            side: Content of the column, for messages.
            limits: Limits on what is read.
        """
        over = lengths > limits.max_line_bytes
        self.side = side
        self.long: dict[int, Problem] = {}
        for row in np.flatnonzero(over).tolist():
            head = _start_of(column, row)
            self.long[row] = too_long(side, int(lengths[row]), limits.max_line_bytes, head)
        if self.long:
            column = _without(column, over)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        self.texts: pa.StringArray = column.cast(pa.string())
        self.null: np.ndarray = self.texts.is_null().to_numpy(zero_copy_only=False) & ~over


def _start_of(column: pa.Array, row: int) -> bytes:
    """Return the first bytes of a cell, which need not be UTF-8."""
    if pa.types.is_dictionary(column.type):
        column, row = column.dictionary, column.indices[row].as_py()
    kind = pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary()
    return pc.binary_slice(column[row : row + 1].cast(kind), 0, RAW_BYTES)[0].as_py()


def _without(column: pa.Array, rows: np.ndarray) -> pa.Array:
    """Return a column with null in some rows."""
    mask = pa.array(rows)
    if pa.types.is_dictionary(column.type):
        places = column.indices
        places = pc.if_else(mask, pa.scalar(None, places.type), places)
        return pa.DictionaryArray.from_arrays(places, column.dictionary, safe=False)
    return column.filter(pc.invert(mask)).take(_places(rows))


def _places(left_out: np.ndarray) -> pa.Array:
    """Return the index of each row after removing some rows; null for those removed."""
    return pa.array(np.cumsum(~left_out) - 1, mask=left_out)
