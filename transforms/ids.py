"""Ids of pairs, and the numbers made from them: shards, and keys of random draws."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

ID_CHARS = 32
"""A pair id is 128 bits in lower-case hexadecimal."""

_DIGITS = np.zeros(256, dtype=np.uint64)
_DIGITS[ord("0") : ord("9") + 1] = np.arange(10)
_DIGITS[ord("a") : ord("f") + 1] = np.arange(10, 16)


def _characters(ids: pa.Array) -> np.ndarray:
    """Return ids without nulls as bytes ``[pair, 32]``."""
    length = len(ids)
    _, offsets_buffer, data_buffer = ids.buffers()
    if not length:
        return np.zeros((0, ID_CHARS), dtype=np.uint8)
    offsets = np.frombuffer(offsets_buffer, dtype=np.int32)[ids.offset : ids.offset + length + 1]
    data = np.frombuffer(data_buffer, dtype=np.uint8)[offsets[0] : offsets[-1]]
    return data.reshape(length, ID_CHARS)


def _words(characters: np.ndarray) -> np.ndarray:
    """Read 16 hexadecimal digits per row as uint64 ``[pair]``."""
    value = np.zeros(len(characters), dtype=np.uint64)
    for column in range(16):
        value = (value << np.uint64(4)) | _DIGITS[characters[:, column]]
    return value


def halves(ids: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the high and the low 64 bits of pair ids, uint64 ``[pair]`` each."""
    if isinstance(ids, pa.ChunkedArray):  # together, 67 million ids would be too long for Arrow
        parts = [halves(chunk) for chunk in ids.chunks] or [halves(pa.array([], pa.string()))]
        return np.concatenate([high for high, _ in parts]), np.concatenate([lo for _, lo in parts])
    characters = _characters(ids)
    return _words(characters[:, :16]), _words(characters[:, 16:])


def pair_keys(ids: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return the keys of the pairs' random draws: the low 64 bits of their ids ``[pair]``.

    >>> pair_keys(pa.array(["0" * 30 + "1f"]))
    array([31], dtype=uint64)
    """
    return halves(ids)[1]


def shard_numbers(batch: pa.RecordBatch, shards: int) -> np.ndarray:
    """Return the shard of each row, int64 ``[row]``.

    A pair's shard is the place of its id in the range of all ids, so the shards in order are
    sorted by id. A row without an id is placed by a hash of its place in the input.
    """
    ids = batch.column("id")
    high = np.zeros(len(ids), dtype=np.uint64)
    if ids.null_count == 0:
        high = halves(ids)[0]
    else:
        valid = ids.is_valid().to_numpy(zero_copy_only=False)
        high[valid] = halves(ids.drop_null())[0]
        for row in np.flatnonzero(~valid).tolist():
            place = "\x1f".join(
                str(batch.column(c)[row].as_py()) for c in ("corpus", "file", "line")
            )
            high[row] = xxhash.xxh3_64_intdigest(place.encode())
    return (((high >> np.uint64(32)) * np.uint64(shards)) >> np.uint64(32)).astype(np.int64)


SEPARATOR = "\x1f"
"""Joins the hashed texts (U+001F); no text that a reader accepts contains it."""


def pair_ids(
    source_lang: str,
    target_lang: str,
    source: pa.StringArray,
    target: pa.StringArray,
    translation: pa.StringArray,
) -> pa.StringArray:
    """Return the id of each pair: xxh3-128 of languages and texts, 32 hex.

    It is null where source or target is.

    Args:
        source_lang: BCP 47.
        target_lang: BCP 47.
        source: Source texts ``[pair]``.
        target: Target texts ``[pair]``.
        translation: Translations ``[pair]``, null where there is none.
    """
    languages = pa.scalar(f"{source_lang}{SEPARATOR}{target_lang}")
    joined = pc.binary_join_element_wise(languages, source, target, SEPARATOR)
    if translation.null_count < len(translation):
        longer = pc.binary_join_element_wise(joined, translation, SEPARATOR)
        joined = pc.if_else(translation.is_valid(), longer, joined)
    if not joined.null_count:
        return _digests(joined)
    valid = joined.is_valid().to_numpy(zero_copy_only=False)
    place = pa.array(np.cumsum(valid) - 1, mask=~valid)
    return _digests(joined.drop_null()).take(place)


def _digests(joined: pa.StringArray) -> pa.StringArray:
    count = len(joined)
    _, offsets, data = joined.buffers()
    ends = np.frombuffer(offsets, np.int32)[joined.offset : joined.offset + count + 1].tolist()
    view = memoryview(data) if data is not None else memoryview(b"")
    digest = xxhash.xxh3_128_digest
    characters = b"".join(
        [digest(view[start:end]) for start, end in itertools.pairwise(ends)]
    ).hex()
    positions = np.arange(count + 1, dtype=np.int32) * ID_CHARS
    return pa.StringArray.from_buffers(
        count, pa.py_buffer(positions), pa.py_buffer(characters.encode())
    )
