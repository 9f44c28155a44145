"""The id of a pair, which depends only on its texts and languages."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

SEPARATOR = "\x1f"
"""U+001F joins what is hashed; no text that a reader accepts holds it."""

_ID_CHARS = 32


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
    positions = np.arange(count + 1, dtype=np.int32) * _ID_CHARS
    return pa.StringArray.from_buffers(
        count, pa.py_buffer(positions), pa.py_buffer(characters.encode())
    )
