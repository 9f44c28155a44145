"""String columns as UTF-8 bytes and offsets, and back, without a copy of the text."""

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_lists import MAX_ITEMS, chunk_of
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.text.utf8 import FlatTexts

_NO_BYTES = np.zeros(0, np.uint8)
_NO_BYTES.flags.writeable = False


def texts_of(column: pa.ChunkedArray | pa.Array) -> FlatTexts:
    """Return a column of strings as UTF-8 and the offsets of its texts.

    Returns:
        The texts; their UTF-8 is read-only. The first offset of a slice need not be 0.

    Raises:
        WorkerError: A text is null.
    """
    strings = chunk_of(column)
    if strings.null_count:
        raise WorkerError(f"{strings.null_count} of {len(strings)} texts are null")
    _, offsets_buffer, data_buffer = strings.buffers()
    if not len(strings):
        return FlatTexts(_NO_BYTES, np.zeros(1, np.int64))
    width = np.int64 if pa.types.is_large_string(strings.type) else np.int32
    offsets = np.frombuffer(offsets_buffer, width)[strings.offset :][: len(strings) + 1]
    data = _NO_BYTES
    if data_buffer is not None and data_buffer.size:
        data = np.frombuffer(data_buffer, np.uint8)
        data.flags.writeable = False  # one type for Numba, whoever owns the buffer
    return FlatTexts(data, offsets.astype(np.int64))


def text_column(data: np.ndarray, offsets: np.ndarray) -> pa.StringArray:
    """Return strings made of UTF-8 and offsets; the UTF-8 is not copied.

    Args:
        data: uint8 ``[byte]``.
        offsets: Where each text begins, int64 ``[text + 1]``, from 0.

    Raises:
        WorkerError: There is more text than a column can hold.
    """
    if offsets[-1] > MAX_ITEMS:
        raise WorkerError(
            f"{offsets[-1]} bytes of text in one column, it holds {MAX_ITEMS}; lower shard_pairs"
        )
    return pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)
    )
