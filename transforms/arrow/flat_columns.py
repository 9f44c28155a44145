"""Columns of strings and lists as flat NumPy arrays, and back, without copying the values."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.links.links import WeightedLinks, first_bad_pair
from pairweave.transforms.kernels.text.utf8 import FlatTexts

MAX_ITEMS = 2**31 - 1
"""Maximum of 32-bit Arrow offsets."""


def chunk_of(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array; copies only if it has several chunks."""
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def offsets_of(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return where each row's items start, int64 ``[row + 1]``.

    They count from the start of the values, which in a slice need not be 0.

    Raises:
        WorkerError: A list is null.
    """
    lists = chunk_of(column)
    if lists.null_count:
        raise WorkerError(f"{lists.null_count} of {len(lists)} lists are null")
    return lists.offsets.to_numpy().astype(np.int64)


def lengths_of(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return how many items each row has, int64 ``[row]``."""
    return np.diff(offsets_of(column))


def fields_of(
    column: pa.ChunkedArray | pa.Array, *names: str
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return a column of lists of structs: the offsets, and all or some fields as flat views.

    Raises:
        WorkerError: A list is null.
    """
    lists = chunk_of(column)
    items = lists.values
    names = names or tuple(field.name for field in lists.type.value_type)
    return offsets_of(lists), {name: items.field(name).to_numpy() for name in names}


def links_of(table: pa.Table, name: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return a checked column of links as offsets and its fields as flat views.

    Raises:
        WorkerError: The links of a pair are outside its tokens, not sorted, or given twice; names
            the pair.
    """
    columns = {name: fields_of(table.column(name))}
    _check_links(table, columns)
    return columns[name]


def weighted_links_of(table: pa.Table, name: str) -> WeightedLinks:
    """Return a checked column of links in the form for kernels; raises as `links_of` does."""
    offsets, fields = links_of(table, name)
    return WeightedLinks(offsets, fields["source"], fields["target"], fields["probability"])


def directed_links_of(table: pa.Table) -> tuple[WeightedLinks, WeightedLinks]:
    """Return the checked links of both directions, as `weighted_links_of` returns one column."""
    columns = {name: fields_of(table.column(name)) for name in ("forward", "reverse")}
    forward, reverse = [
        WeightedLinks(offsets, fields["source"], fields["target"], fields["probability"])
        for offsets, fields in columns.values()
    ]
    _check_links(table, columns)
    return forward, reverse


def _check_links(
    table: pa.Table, columns: Mapping[str, tuple[np.ndarray, dict[str, np.ndarray]]]
) -> None:
    lengths = [lengths_of(table.column(f"{side}_tokens")) for side in ("source", "target")]
    for name, (offsets, fields) in columns.items():
        bad = first_bad_pair(offsets, fields["source"], fields["target"], *lengths)
        if bad >= 0:
            raise WorkerError(
                f"pair {table.column('id')[bad]}: the links in column {name} are outside its "
                "tokens, or not in ascending order of (source, target)"
            )


def list_column(
    offsets: np.ndarray, fields: Mapping[str, np.ndarray], list_type: pa.DataType
) -> pa.ListArray:
    """Return lists of structs made from flat arrays, which are not copied.

    Args:
        offsets: Start of each row's items, int64 ``[row + 1]``, from 0.
        fields: One array for each field of the struct ``[item]``.
        list_type: The type of the column.

    Raises:
        WorkerError: There are more items than a column can hold.
    """
    if offsets[-1] > MAX_ITEMS:
        raise WorkerError(
            f"{offsets[-1]} items in one shard of {len(offsets) - 1} pairs, a column holds "
            f"{MAX_ITEMS}; lower shard_pairs or max_words"
        )
    struct = list_type.value_type
    items = pa.StructArray.from_arrays(
        [pa.array(fields[field.name], type=field.type) for field in struct], fields=list(struct)
    )
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), items, type=list_type)


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
        data.flags.writeable = False  # the same type for Numba, whichever object owns the buffer
    return FlatTexts(data, offsets.astype(np.int64))


def text_column(data: np.ndarray, offsets: np.ndarray) -> pa.StringArray:
    """Return strings made of UTF-8 and offsets; the UTF-8 is not copied.

    Args:
        data: uint8 ``[byte]``.
        offsets: Start of each text, int64 ``[text + 1]``, from 0.

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
