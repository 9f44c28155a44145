"""Duplicates after masking: pairs that are equal except for addresses and numbers.

The shuffle is keyed by the masked pair, so all copies are in one shard. Once the pairs are scored,
the best copy is kept.
"""

import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import xxhash

from pairweave.transforms import ids
from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.kernels.filtering.marks import find_marks, mask_texts
from pairweave.transforms.text import codepoints

_SEPARATOR = b"\x1f"


def masked_keys(pairs: pa.Table | pa.RecordBatch) -> np.ndarray:
    """Return a key for each pair that does not depend on addresses and numbers.

    Args:
        pairs: Rows with the texts and languages of `transforms.schemas.PAIRS`; no text is null.

    Returns:
        xxh3-64 of languages and masked texts, joined by U+001F, uint64 ``[pair]``.
    """
    forms = masked_forms(pairs, masked=True)
    return np.fromiter(map(xxhash.xxh3_64_intdigest, forms), np.uint64, len(pairs.column("source")))


def masked_forms(pairs: pa.Table | pa.RecordBatch, *, masked: bool) -> Iterator[bytes]:
    """Yield the languages and texts of each pair, joined by U+001F.

    Args:
        pairs: As for `masked_keys`.
        masked: Whether addresses and numbers are replaced; if not, texts stay as read.
    """
    cut = _masked if masked else _plain
    sides = [cut(pairs.column(side)) for side in ("source", "target")]
    tags = [pairs.column(f"{side}_lang").cast(pa.string()).to_pylist() for side in _LANGUAGES]
    heads: dict[tuple[str, str], bytes] = {}
    for source, target, *languages in zip(*sides, *tags, strict=True):
        pair = (languages[0], languages[1])
        head = heads.get(pair)
        if head is None:
            head = heads[pair] = _SEPARATOR.join([*(tag.encode() for tag in pair), b""])
        yield b"%b%b\x1f%b" % (head, source, target)


_LANGUAGES = ("source", "target")


def _masked(column: pa.ChunkedArray | pa.Array) -> list[bytes]:
    texts = texts_of(column)
    data, offsets = mask_texts(*texts, find_marks(*texts, codepoints.all_properties()))
    whole, bounds = data.tobytes(), offsets.tolist()
    return [whole[start:end] for start, end in itertools.pairwise(bounds)]


def _plain(column: pa.ChunkedArray | pa.Array) -> list[bytes]:
    return column.cast(pa.binary()).to_pylist()


def rows_with_both_texts(batch: pa.RecordBatch) -> np.ndarray:
    """Return the indices of rows (`schemas.ROWS`) that have both texts, int64."""
    whole = pa.compute.and_(batch.column("source").is_valid(), batch.column("target").is_valid())
    return np.flatnonzero(whole.to_numpy(zero_copy_only=False))


def masked_shard_numbers(batch: pa.RecordBatch, shards: int) -> np.ndarray:
    """Return the shard of each row by its masked pair, int64 ``[row]``.

    A row that lacks a text goes to its usual shard (`transforms.ids.shard_numbers`).
    """
    numbers = ids.shard_numbers(batch, shards)
    rows = rows_with_both_texts(batch)
    if len(rows):
        keys = masked_keys(batch if len(rows) == len(numbers) else batch.take(pa.array(rows)))
        numbers[rows] = ((keys >> np.uint64(32)) * np.uint64(shards)) >> np.uint64(32)
    return numbers


def worse_copies(pairs: pa.Table, scores: np.ndarray) -> np.ndarray:
    """Find for each pair the copy that is kept in its place.

    Args:
        pairs: Pairs (with the columns of `transforms.schemas.PAIRS`).
        scores: float32 ``[pair]``.

    Returns:
        The row of the copy that is kept, int64 ``[pair]``; -1 if the pair itself is kept. The
        copy with the highest score is kept; of equal scores the first by corpus name, file name,
        line and id, regardless of the order of the input.
    """
    stays = np.full(pairs.num_rows, -1, np.int64)
    if not pairs.num_rows:
        return stays
    order = pa.table(
        {
            "key": masked_keys(pairs),
            "score": -scores.astype(np.float64),
            **{name: pairs.column(name) for name in ("corpus", "file", "line", "id")},
        }
    )
    places = pa.compute.sort_indices(
        order, sort_keys=[(name, "ascending") for name in order.column_names]
    ).to_numpy()
    keys = order.column("key").to_numpy()[places]
    begins = np.ones(len(keys), np.bool_)
    begins[1:] = keys[1:] != keys[:-1]
    first = places[np.flatnonzero(begins)][np.cumsum(begins) - 1]
    stays[places[~begins]] = first[~begins]
    return stays
